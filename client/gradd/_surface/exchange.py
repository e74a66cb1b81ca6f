"""Arrays of other libraries, in and out: DLPack, and NumPy's protocols.

https://pytorch.org/docs/stable/dlpack.html, https://dmlc.github.io/dlpack/latest/python_spec.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import numpy as np
from gradd_engine.data import Device, dtypes
from gradd_engine.schema import type_name
from gradd_engine.transforms import made_here

from .._session import current
from .._tensor import Tensor

#: DLPack's number of the host's memory
_HOST = 1


class _Capsule:
    """A capsule of PyTorch's older interface, as an exporter of what it holds."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **how: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST, 0


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor with the values of an array of another library that lies in the host's memory, or of a DLPack
    capsule; a tensor of gradd's itself, or a copy (torch.from_dlpack, but without shared memory).

    ValueError where `copy` is False and the array is not in the session already. BufferError or RuntimeError
    of the library for what it cannot export.
    """
    if device is not None:
        Device(str(device))
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach().clone() if copy else ext_tensor.detach()
    if copy is False:
        raise ValueError("from_dlpack(): the array has to be copied into the session")
    found = np.from_dlpack(ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor))
    return made_here(current().backend.leaf(found, dtypes.from_numpy(found.dtype)))  # type: ignore[return-value]


def dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule with a copy of the values in the host's memory (torch.Tensor.__dlpack__). BufferError
    for what NumPy has no dtype for, for tensors that require grad, and where `copy` is False.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if copy is False:
        raise BufferError("the values are in the session: what is exported is a copy")
    if dl_device is not None and int(dl_device[0]) != _HOST:
        raise BufferError("values are exported to the host's memory only")
    if self.dtype is dtypes.bfloat16:
        raise BufferError("NumPy has no bfloat16 to export: convert the tensor to float32")
    return np.array(self._values()).__dlpack__(max_version=max_version)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """Where the exported values lie: in the host's memory (torch.Tensor.__dlpack_device__)."""
    return _HOST, 0


def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """Itself, since a session has one device (the array API standard's method)."""
    Device(str(device))
    return self


def array_wrap(
    self: Tensor, array: np.ndarray[Any, Any], context: Any = None, return_scalar: bool = False
) -> Tensor:
    """What a NumPy function made of tensors, as a tensor in the session of this one: ``np.sin(t)``
    (torch.Tensor.__array_wrap__). Truths are uint8, as in PyTorch.
    """
    if array.dtype == bool:
        array = array.astype(np.uint8)
    made = self.backend.leaf(np.asarray(array), dtypes.from_numpy(array.dtype))  # type: ignore[attr-defined]
    return made_here(made)  # type: ignore[return-value]


def _written(name: str, self: Any, tensors: Sequence[Any], function: Callable[..., Any]) -> Any:
    """Write what the function makes of each element of the tensors."""
    if any(t.requires_grad for t in (self, *tensors)):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )
    for t in tensors:
        if t.dtype is not self.dtype:
            raise TypeError(
                f"{name}: expected {self.dtype.tensor_type} for 'other' (got {t.dtype.tensor_type})"
            )
    if not callable(function):
        raise TypeError(f"'{type_name(function)}' object is not callable")
    parts = [t.expand(self.shape).reshape(-1).tolist() for t in (self, *tensors)]
    made = [function(*values) for values in zip(*parts, strict=True)]
    odd = next((x for x in made if not isinstance(x, Number)), None)
    if odd is not None:
        raise TypeError(f"must be real number, not {type_name(odd)}")
    found = np.array(made).reshape(tuple(self.shape))
    return self.copy_(current().backend.from_array(found.astype(self.dtype.np)))


def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
    """Write what a Python function makes of each element (torch.Tensor.apply_). Waits for the values.
    RuntimeError for a tensor that requires a gradient, TypeError where no number comes.
    """
    return _written("apply_", self, [], callable)


def map_(self: Any, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
    """As `apply_`, of each element and another tensor's, which is broadcast (torch.Tensor.map_)."""
    return _written("map_", self, [tensor], callable)


def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
    """As `apply_`, of each element and those of two more tensors (torch.Tensor.map2_)."""
    return _written("map2_", self, [x, y], callable)


#: methods by which other libraries and Python's functions take tensors
EXCHANGE: dict[str, Any] = {
    "apply_": apply_,
    "map_": map_,
    "map2_": map2_,
    "__array_wrap__": array_wrap,
    "__dlpack__": dlpack,
    "__dlpack_device__": dlpack_device,
    "to_device": to_device,
}
