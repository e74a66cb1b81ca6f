"""What scripts ask of the memory behind a tensor (torch.Tensor.untyped_storage, data_ptr, set_, ...).

The memory is the daemon's. What it is asked for to tell aliases apart is answered as if it were here: an
address is made up, one range for each storage. Nothing can be read or written at it.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.backward import autograd
from gradd_engine.data import warn
from gradd_engine.graph import no_grad
from gradd_engine.schema import type_name

from .._tensor import Tensor

if TYPE_CHECKING:
    from gradd_engine.data import Device

#: a range begins at a multiple of this, in bytes, as PyTorch's do
_ALIGNED = 64


class _Addresses:
    """The address of each storage that was asked for one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 1 << 32
        self._of: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def of(self, storage: Any) -> int:
        with self._lock:
            found = self._of.get(storage)
            if found is None:
                found = self._of[storage] = self._next
                self._next += max(-(-storage.nbytes // _ALIGNED), 1) * _ALIGNED
            return found


_addresses = _Addresses()


class UntypedStorage:
    """The memory that a tensor and its views share, as bytes (torch.UntypedStorage). It can be asked,
    compared and given to `Tensor.set_`; NotImplementedError where it would be made, resized or written to.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("storages of gradd are made by tensors: their memory is the daemon's")

    @classmethod
    def _of(cls, t: Any) -> UntypedStorage:
        made = cls.__new__(cls)
        made._tensor = t.detach()
        return made

    _tensor: Any

    @property
    def tensor(self) -> Tensor:
        """A tensor that has this memory."""
        found: Tensor = self._tensor
        return found

    def data_ptr(self) -> int:
        """Where its range of addresses begins; they are made up."""
        return _addresses.of(self._tensor._storage) if self.nbytes() else 0

    def nbytes(self) -> int:
        """Its size in bytes."""
        return int(self._tensor._storage.nbytes)

    def size(self) -> int:
        """Its size in bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def __sizeof__(self) -> int:
        """What it takes, as if its memory were here."""
        return object.__sizeof__(self) + self.nbytes()

    @property
    def device(self) -> Device:
        """The session's device."""
        found: Device = self._tensor.device
        return found

    @property
    def is_cuda(self) -> bool:
        """Whether the session computes on a GPU."""
        return self.device.type == "cuda"

    def is_shared(self) -> bool:
        """False: no other process can reach it but by the session."""
        return False

    def is_pinned(self, device: Any = "cuda") -> bool:
        """False."""
        return False

    def element_size(self) -> int:
        """1."""
        return 1

    def tolist(self) -> list[int]:
        """Its bytes as numbers. A round trip."""
        found: list[int] = self._values().view(np.uint8).tolist()
        return found

    def _values(self) -> Any:
        """All elements as the tensor's dtype."""
        return np.ascontiguousarray(whole(self._tensor).resolve_conj()._values())

    def resize_(self, size: int) -> None:
        """Raise NotImplementedError unless it has that size."""
        if size != self.nbytes():
            raise NotImplementedError("a storage of gradd keeps its size: resize_() the tensor")

    def copy_(self, source: Any, non_blocking: bool = False) -> None:
        """Raise NotImplementedError."""
        raise NotImplementedError("a storage of gradd cannot be written to: copy_() into the tensor")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._tensor._storage is self._tensor._storage

    def __hash__(self) -> int:
        return hash(self.data_ptr())

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


def whole(t: Any) -> Any:
    """All that the memory of `t` holds, in one dimension."""
    with no_grad():
        return t.detach().as_strided([t._storage.nbytes // t.dtype.itemsize], [1], 0)


def data_ptr(self: Any) -> int:
    """Where the first element is, 0 without elements (torch.Tensor.data_ptr). The address is made up: it
    tells which tensors share memory.
    """
    if not self.numel():
        return 0
    return int(_addresses.of(self._storage) + self.storage_offset() * self.dtype.itemsize)


def untyped_storage(self: Any) -> UntypedStorage:
    """The memory that it shares with its views (torch.Tensor.untyped_storage)."""
    return UntypedStorage._of(self)


def set_(self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Any:
    """Make it share the memory of a tensor or storage, or have none (torch.Tensor.set_).

    RuntimeError for another dtype, and for a leaf that requires grad, outside of no_grad.
    """
    if self.requires_grad and self.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if source is None:
        found = self.new_empty([0])
    elif isinstance(source, UntypedStorage) or hasattr(source, "untyped"):
        source = source if isinstance(source, UntypedStorage) else source.untyped()
        given = whole(source.tensor)
        found = given if given.dtype is self.dtype else given.view(self.dtype)
        size = [found.numel() - storage_offset] if size is None else size
    elif isinstance(source, Tensor):
        found = source.detach()
    else:
        raise TypeError(f"set_(): argument 'source' (position 1) must be Tensor, not {type_name(source)}")
    if found.dtype is not self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {_WORDS.get(found.dtype.name, found.dtype.name)} to a tensor of "
            f"type {_WORDS.get(self.dtype.name, self.dtype.name)}"
        )
    if size is not None:
        size = [size] if isinstance(size, int) else list(size)
        found = found.as_strided(size, _dense(size) if stride is None else list(stride), storage_offset)
    autograd.set_data(self, found)
    self._fetch = None
    self._storage.aliased = True
    return self


#: what PyTorch's messages call C's types
_WORDS = {
    "int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char", "float32": "float",
    "uint8": "unsigned char", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
}  # fmt: skip


def _dense(size: list[int]) -> list[int]:
    return list(itertools.accumulate(size[:0:-1], lambda a, b: a * b, initial=1))[::-1]


def is_set_to(self: Any, tensor: Any) -> bool:
    """Whether both have the same memory and geometry (torch.Tensor.is_set_to)."""
    return (
        self._storage is tensor._storage
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
        and self.storage_offset() == tensor.storage_offset()
    )


def is_shared(self: Any) -> bool:
    """Whether processes share its memory (torch.Tensor.is_shared): they do where the session's device is a
    GPU, as in PyTorch, and never else.
    """
    return bool(self.is_cuda)


def share_memory_(self: Any) -> Any:
    """Itself (torch.Tensor.share_memory_). Warns once: the memory is the daemon's, so a process that is
    started works on the session's own tensors after a fork, and on copies of what is pickled.
    """
    if not _told:
        _told.append(True)
        warn(
            "share_memory_() has no effect in gradd: a forked process reaches the same tensors through the "
            "session",
            UserWarning,
        )
    return self


_told: list[bool] = []


def is_pinned(self: Any, device: Any = None) -> bool:
    """False: its memory is the daemon's (torch.Tensor.is_pinned)."""
    return False


def pin_memory(self: Any, device: Any = None) -> Any:
    """Itself: its memory is the daemon's (torch.Tensor.pin_memory). PyTorch refuses it without a GPU."""
    return self


def record_stream(self: Any, stream: Any) -> None:
    """Has no effect: what is recorded runs in its order (torch.Tensor.record_stream)."""


#: the methods of a tensor
MEMORY: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        data_ptr, is_pinned, is_set_to, is_shared, pin_memory, record_stream, set_, share_memory_,
        untyped_storage,
    )
}  # fmt: skip
