"""Tensors without numbers: shapes, strides, dtypes and autograd state alone.

The client's mirror and the server's dry run stand on this backend; it runs the same engine and no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..data import Device, Meta, from_numpy
from ..graph import infer
from ..tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..schema import InferCache, Op
    from ..tensor import Listener


class MetaStorage(msgspec.Struct, eq=False, weakref=True):
    """Identity of a block of memory that holds nothing.

    For a recorder: ``recorder`` who recorded on it last, ``writes`` how often it was written by recorded ops,
    ``aliased`` whether a tensor with another version counter shares it, ``given`` a weak reference to an
    array that has its values.
    """

    nbytes: int
    recorder: Any = None
    writes: int = 0
    aliased: bool = False
    given: Any = None


class MetaBackend:
    """Allocates nothing. ``tensor_class`` lets a client give its tensors methods that fetch values."""

    is_meta = True
    eager = False
    level = 0

    def __init__(
        self, device: str = "cpu", tensor_class: type[Tensor] = Tensor, listener: Listener | None = None
    ) -> None:
        self.device = Device(device)
        self.tensor_class = tensor_class
        self.made: Callable[..., Tensor] = tensor_class._made
        self.listener = listener

    def empty(self, meta: Meta) -> Tensor:
        """A tensor of that geometry."""
        storage: Any = MetaStorage(meta.nbytes)
        return self.made(self, storage, meta.shape, meta.strides, 0, meta.dtype, None)

    infer = staticmethod(infer)

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """Outputs as `infer` says."""
        return [self.empty(m) for m in metas]

    def run_plain(self, op: Op, known: InferCache, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        """`run` for one output."""
        meta, storage = known.meta, MetaStorage(known.nbytes)
        return self.made(self, storage, meta.shape, meta.strides, 0, meta.dtype, None)

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """Nothing to store."""

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Nothing to copy."""

    def view(self, of: Tensor, meta: Meta) -> Tensor:
        """A tensor over the same storage."""
        return self.made(self, of._storage, meta.shape, meta.strides, meta.offset, meta.dtype, None, of._vc)

    def from_array(self, array: Any, dtype: Any = None) -> Tensor:
        """A tensor shaped like `array`; the numbers are not looked at."""
        return self.empty(Meta(tuple(array.shape), dtype or from_numpy(array.dtype)))

    def to_numpy(self, t: Tensor) -> Any:
        """RuntimeError: there are no values here."""
        raise RuntimeError("a meta tensor has no values")
