"""Tensors made from nothing but sizes, numbers and literals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, format_strides, preserved_strides
from ...declare import default_backend, elementwise, kernel
from .common import np_dtype
from .literal import literal
from .number import fits, stored

if TYPE_CHECKING:
    from ...data import DType
    from ...tensor import Tensor


def checked(size: Any) -> tuple[int, ...]:
    """A shape; RuntimeError in PyTorch's words for negative sizes."""
    shape = tuple(int(s) for s in size)
    bad = next((s for s in shape if s < 0), None)
    if bad is not None:
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {list(shape)}")
    return shape


def sized(size: Any, dtype: DType | None = None, **_: Any) -> Meta:
    """Geometry of a new tensor, of the default dtype unless one is given."""
    return Meta(checked(size), dtype or dtypes.default_dtype())


def _empty_infer(shape: tuple[int, ...], dtype: DType | None, memory_format: str) -> Meta:
    return Meta(shape, dtype or dtypes.default_dtype(), format_strides(shape, memory_format))


def _zeros_infer(size: Any, dtype: DType | None) -> Meta:
    if any(s < 0 for s in size):
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    return sized(size, dtype)


def _full_infer(size: Any, fill_value: Any, dtype: DType | None) -> Meta:
    found = dtype or dtypes.of_number(fill_value)
    fits(fill_value, found)
    return Meta(checked(size), found)


def _filled(xp: Any, value: Any, meta: Meta) -> Any:
    dtype = np_dtype(meta.dtype)
    return xp.full(meta.shape, stored(value, dtype), dtype)


def like(input: Tensor, dtype: DType | None = None, memory_format: str | None = None, **_: Any) -> Meta:
    """Geometry of a new tensor in the input's shape, and its layout unless another is given."""
    return Meta(tuple(input.shape), dtype or input.dtype, preserved_strides(input, memory_format))


def _full_like(input: Tensor, value: Any, dtype: DType | None, memory_format: str | None) -> Meta:
    meta = like(input, dtype, memory_format)
    fits(value, meta.dtype)
    return meta


full = kernel(
    "full(int[] size, value Number fill_value, *, dtype? dtype=None) -> Tensor",
    infer=_full_infer,
    impl=lambda xp, size, fill_value, dtype, meta: _filled(xp, fill_value, meta),
    doc="A tensor of `size` filled with one number (torch.full).",
    raises=False,
)
zeros = kernel(
    "zeros(int[] size, *, dtype? dtype=None) -> Tensor",
    infer=_zeros_infer,
    impl=lambda xp, size, dtype, meta: xp.zeros(meta.shape, meta.dtype.np),
    doc="Zeros (torch.zeros).",
    raises=False,
)
ones = kernel(
    "ones(int[] size, *, dtype? dtype=None) -> Tensor",
    infer=sized,
    impl=lambda xp, size, dtype, meta: xp.ones(meta.shape, meta.dtype.np),
    doc="Ones (torch.ones).",
    raises=False,
)
empty = kernel(
    "empty(int[] size, *, dtype? dtype=None, str memory_format='contiguous_format') -> Tensor",
    infer=lambda size, dtype, memory_format: _empty_infer(checked(size), dtype, memory_format),
    impl=lambda xp, size, dtype, memory_format, meta: xp.zeros(meta.shape, meta.dtype.np),
    doc="Zeros: nothing is ever uninitialised (torch.empty).",
    raises=False,
)
empty_like = elementwise(
    "empty_like(Tensor input, *, dtype? dtype=None, str? memory_format=None) -> Tensor",
    infer=like,
    impl=lambda xp, a, dtype, memory_format, meta: xp.zeros(meta.shape, meta.dtype.np),
    jvp=lambda: None,
    doc="Zeros of the input's shape: nothing is ever uninitialised (torch.empty_like).",
    raises=False,
)
zeros_like = elementwise(
    "zeros_like(Tensor input, *, dtype? dtype=None, str? memory_format=None) -> Tensor",
    infer=like,
    impl=lambda xp, a, dtype, memory_format, meta: xp.zeros(meta.shape, meta.dtype.np),
    jvp=lambda: None,
    doc="Zeros of the input's shape (torch.zeros_like).",
    raises=False,
)
ones_like = elementwise(
    "ones_like(Tensor input, *, dtype? dtype=None, str? memory_format=None) -> Tensor",
    infer=like,
    impl=lambda xp, a, dtype, memory_format, meta: xp.ones(meta.shape, meta.dtype.np),
    jvp=lambda: None,
    doc="Ones of the input's shape (torch.ones_like).",
    raises=False,
)
full_like = elementwise(
    "full_like(Tensor input, value Number fill_value, *, dtype? dtype=None, str? memory_format=None)"
    " -> Tensor",
    infer=lambda input, fill_value, dtype, memory_format: _full_like(input, fill_value, dtype, memory_format),
    impl=lambda xp, a, fill_value, dtype, memory_format, meta: _filled(xp, fill_value, meta),
    jvp=lambda: None,
    doc="One number in the input's shape (torch.full_like).",
    raises=False,
)


def tensor(values: Any, *, dtype: DType | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf of these values on the thread's backend; see torch.tensor for the rules of `dtype`."""
    a = literal(values, dtype)
    found = dtypes.from_numpy(a.dtype)
    if requires_grad and not found.differentiable:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    out = default_backend().from_array(a, found)
    out._requires_grad = requires_grad
    return out
