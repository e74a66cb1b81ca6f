"""Copies, sums to a shape, and memory layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import (
    MemoryFormat,
    Meta,
    contiguous_format,
    dtypes,
    format_name,
    format_strides,
    is_dense,
    numel,
    preserve_format,
    preserved_strides,
)
from ...declare import LINEAR, attach_as_is, elementwise, kernel, public
from ...schema import named
from ...tensor import Tensor
from ..shared import as_list

if TYPE_CHECKING:
    from collections.abc import Sequence

clone = elementwise(
    "clone(Tensor input) -> Tensor",
    infer=lambda input: Meta(tuple(input.shape), input.dtype, preserved_strides(input)),
    impl=lambda xp, a: a.copy(order="K"),
    vjp=lambda g: g,
    jvp=LINEAR,
    doc="A copy with history, laid out like the input.",
    raises=False,
)


def _clone(input: Tensor, *, memory_format: Any = None) -> Any:
    """A copy with history, laid out like the input unless a format is given (torch.clone)."""
    name = format_name("clone", memory_format)
    return clone(input) if name is None else contiguous_copy(input, memory_format=name)


public(name="clone", method="clone")(_clone)

contiguous_copy = elementwise(
    "contiguous_copy(Tensor input, *, str memory_format='contiguous_format') -> Tensor",
    infer=lambda input, memory_format: Meta(
        tuple(input.shape), input.dtype, format_strides(input.shape, memory_format)
    ),
    impl=lambda xp, a, memory_format: a.copy(),
    vjp=lambda g: g,
    jvp=LINEAR,
    node="CloneBackward0",
    namespace="-",
    outside=True,
    doc="A copy in row-major or another memory format.",
    raises=False,
)


def _layout_infer(input: Tensor, strides: Sequence[int]) -> Meta:
    if len(strides) != input.ndim or not (input.numel() == 0 or is_dense(input.shape, strides)):
        raise RuntimeError(f"to_layout(): strides {list(strides)} are no dense layout of {list(input.shape)}")
    return Meta(tuple(input.shape), input.dtype, tuple(strides))


to_layout = kernel(
    "to_layout(Tensor input, int[] strides) -> Tensor",
    infer=_layout_infer,
    impl=lambda xp, a, strides: a.copy(order="K"),
    vjp=lambda g: g,
    jvp=LINEAR,
    node="torch::autograd::CopyBackwards",
    namespace="-",
    outside=True,
    doc="A copy with the given strides, in elements.",
    raises=False,
)


def _sum_to(xp: Any, a: Any, size: Any) -> Any:
    lead = a.ndim - len(size)
    axes = tuple(range(lead)) + tuple(
        lead + i for i, s in enumerate(size) if s == 1 and a.shape[lead + i] != 1
    )
    if not axes:
        return a.reshape(size).copy()
    if axes == tuple(range(len(axes))) and a.dtype.kind == "f" and a.flags.c_contiguous and a.size:
        # Leading dimensions: a product with ones takes a third of a sum's time.
        count = numel(a.shape[: len(axes)])
        return (xp.ones(count, a.dtype) @ a.reshape(count, -1)).reshape(size)
    return a.sum(axis=axes, dtype=None if a.dtype.kind in "bui" else a.dtype).reshape(size)


def _sum_to_infer(input: Tensor, size: Any) -> Meta:
    lead = len(input.shape) - len(size)
    if lead < 0 or any(s not in (1, n) for s, n in zip(size, input.shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(input.shape)}}}.")
    summed = not size or tuple(size) != tuple(input.shape)  # PyTorch sums a number, too
    return Meta(tuple(size), dtypes.int64 if summed and input.dtype.category < dtypes.FLOAT else input.dtype)


def _expand_to(g: Any, shape: Any) -> Any:
    return named.expand(g, list(shape))


def contiguous(self: Tensor, memory_format: MemoryFormat = contiguous_format) -> Tensor:
    """`self` if it already has the memory format, row-major by default, otherwise a copy in it
    (torch.Tensor.contiguous). RuntimeError if the format needs another number of dimensions.
    """
    if self.is_contiguous(memory_format):
        return self
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return contiguous_copy(self, memory_format=memory_format.name)  # type: ignore[no-any-return]


attach_as_is("contiguous", contiguous)

sum_to_size = kernel(
    "sum_to_size(Tensor input, int[] size) -> Tensor",
    infer=_sum_to_infer,
    impl=_sum_to,
    vjp=lambda g, input_meta: _expand_to(g, input_meta.shape),
    jvp=LINEAR,
    node="SumBackward1",
    doc="Sum over the dimensions along which `size` broadcasts to the input (torch.Tensor.sum_to_size).",
    raises=False,
)


def _sum_to_size(self: Tensor, *size: Any) -> Any:
    """See torch.Tensor.sum_to_size."""
    return sum_to_size(self, as_list(size, "sum_to_size", "size"))


public(name="sum_to_size", method=True)(_sum_to_size)
