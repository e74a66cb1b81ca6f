"""Queries on tensors besides shape and dtype, as functions and methods.

Most have a constant answer, since a session's tensors are dense and on its device; scripts ask anyway.
https://pytorch.org/docs/stable/tensors.html, https://pytorch.org/docs/stable/tensor_attributes.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes
from gradd_engine.declare import of_tensor
from gradd_engine.schema import type_name as kind_of

from .._tensor import Tensor, type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradd_engine.data import DType


class layout:
    """The memory layout (torch.layout), by its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, layout) and other._name == self._name

    def __hash__(self) -> int:
        return hash(self._name)


strided = layout("strided")


def numel(input: Tensor) -> int:
    """Number of elements (torch.numel)."""
    return input.numel()


def is_inference(input: Tensor) -> bool:
    """Whether `input` was made in inference mode (torch.is_inference)."""
    return input.is_inference()


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a real floating type (torch.is_floating_point)."""
    return input.dtype.is_floating_point


def is_signed(input: Tensor) -> bool:
    """Whether the dtype is signed (torch.Tensor.is_signed)."""
    return input.dtype.is_signed


def is_nonzero(input: Tensor) -> bool:
    """The truth value of the only element; RuntimeError unless there is exactly one (torch.is_nonzero)."""
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape (torch.is_same_size)."""
    return input.shape == other.shape


def get_device(input: Tensor) -> int:
    """The number of the session's GPU, -1 for a CPU (torch.Tensor.get_device)."""
    index = input.device.index
    return -1 if index is None else int(index)


def _check_dtypes(name: str, **given: Any) -> None:
    """TypeError with PyTorch's message unless all are dtypes."""
    for at, (parameter, x) in enumerate(given.items(), 1):
        if not isinstance(x, dtypes.DType):
            raise TypeError(
                f"{name}(): argument '{parameter}' (position {at}) must be torch.dtype, not {kind_of(x)}"
            )


def promote_types(type1: DType, type2: DType) -> DType:
    """The smallest dtype that both promote to (torch.promote_types)."""
    _check_dtypes("promote_types", type1=type1, type2=type2)
    return dtypes.promote(type1, type2)


def can_cast(from_: DType, to: DType) -> bool:
    """Whether promotion allows the conversion (torch.can_cast)."""
    _check_dtypes("can_cast", from_=from_, to=to)
    return dtypes.can_cast(from_, to)


def typename(obj: Any) -> str:
    """What PyTorch's messages call the type of `obj` (torch.typename)."""
    return type_name(obj)


#: the functions of the top level
FACTS: dict[str, Callable[..., Any]] = {
    f.__name__: of_tensor(f, f.__name__)
    for f in (
        can_cast,
        get_device,
        is_inference,
        is_floating_point,
        is_nonzero,
        is_same_size,
        is_signed,
        numel,
        promote_types,
        typename,
    )
}


def _always(value: bool, name: str) -> property:
    return property(lambda self: value, doc=f"{value} of a session's tensors (torch.Tensor.{name}).")


def _layout(self: Tensor) -> layout:
    """The memory layout (torch.Tensor.layout)."""
    return strided


def _is_cpu(self: Tensor) -> bool:
    """Whether the session computes on a CPU (torch.Tensor.is_cpu)."""
    return not self.is_cuda


def _itemsize(self: Tensor) -> int:
    """Bytes per element (torch.Tensor.itemsize)."""
    return self.dtype.itemsize


#: the methods of a tensor
METHODS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (get_device, is_nonzero, is_same_size, is_signed)
}
#: its properties
PROPERTIES: dict[str, property] = {
    **{
        name: _always(False, name)
        for name in (
            "is_sparse",
            "is_sparse_csr",
            "is_quantized",
            "is_mkldnn",
            "is_nested",
            "is_meta",
            "is_xpu",
            "is_mps",
            "is_ipu",
            "is_maia",
            "is_mtia",
            "is_vulkan",
        )
    },
    "layout": property(_layout),
    "is_cpu": property(_is_cpu),
    "itemsize": property(_itemsize),
}
