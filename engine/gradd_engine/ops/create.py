"""Tensors made from nothing but sizes, numbers and literals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..dispatch import default_backend
from ..layout import Meta, format_strides, preserved_strides
from ..op import op
from .common import np_dtype

if TYPE_CHECKING:
    from ..dtypes import DType
    from ..tensor import Tensor


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
    return Meta(checked(size), dtype or dtypes.of_number(fill_value))


def like(input: Tensor, dtype: DType | None = None, memory_format: str | None = None, **_: Any) -> Meta:
    """Geometry of a new tensor in the input's shape, and its layout unless another is given."""
    return Meta(tuple(input.shape), dtype or input.dtype, preserved_strides(input, memory_format))


full = op(
    "full(int[] size, value Number fill_value, *, dtype? dtype=None)",
    infer=_full_infer,
    impl=lambda xp, size, fill_value, dtype, meta: xp.full(meta.shape, fill_value, np_dtype(meta.dtype)),
    needs_meta=True,
    doc="A tensor of `size` filled with one number (torch.full).",
)
zeros = op(
    "zeros(int[] size, *, dtype? dtype=None)",
    infer=_zeros_infer,
    impl=lambda xp, size, dtype, meta: xp.zeros(meta.shape, meta.dtype.np),
    needs_meta=True,
    doc="Zeros (torch.zeros).",
)
ones = op(
    "ones(int[] size, *, dtype? dtype=None)",
    infer=sized,
    impl=lambda xp, size, dtype, meta: xp.ones(meta.shape, meta.dtype.np),
    needs_meta=True,
    doc="Ones (torch.ones).",
)
empty = op(
    "empty(int[] size, *, dtype? dtype=None, str memory_format='contiguous_format')",
    infer=lambda size, dtype, memory_format: _empty_infer(checked(size), dtype, memory_format),
    impl=lambda xp, size, dtype, memory_format, meta: xp.zeros(meta.shape, meta.dtype.np),
    needs_meta=True,
    doc="Zeros: nothing is ever uninitialised (torch.empty).",
)
empty_like = op(
    "empty_like(Tensor input, *, dtype? dtype=None, str? memory_format=None)",
    infer=like,
    impl=lambda xp, a, dtype, memory_format, meta: xp.zeros(meta.shape, meta.dtype.np),
    needs_meta=True,
    jvp=lambda: None,
    doc="Zeros of the input's shape: nothing is ever uninitialised (torch.empty_like).",
)
zeros_like = op(
    "zeros_like(Tensor input, *, dtype? dtype=None, str? memory_format=None)",
    infer=like,
    impl=lambda xp, a, dtype, memory_format, meta: xp.zeros(meta.shape, meta.dtype.np),
    needs_meta=True,
    jvp=lambda: None,
    doc="Zeros of the input's shape (torch.zeros_like).",
)
ones_like = op(
    "ones_like(Tensor input, *, dtype? dtype=None, str? memory_format=None)",
    infer=like,
    impl=lambda xp, a, dtype, memory_format, meta: xp.ones(meta.shape, meta.dtype.np),
    needs_meta=True,
    jvp=lambda: None,
    doc="Ones of the input's shape (torch.ones_like).",
)
full_like = op(
    "full_like(Tensor input, value Number fill_value, *, dtype? dtype=None, str? memory_format=None)",
    infer=like,
    impl=lambda xp, a, fill_value, dtype, memory_format, meta: xp.full(meta.shape, fill_value, np_dtype(meta.dtype)),
    needs_meta=True,
    jvp=lambda: None,
    doc="One number in the input's shape (torch.full_like).",
)


def _sequence_shape(values: Any, dim: int = 0) -> tuple[int, ...]:
    if not isinstance(values, (list, tuple)):
        return tuple(getattr(values, "shape", ()))
    if not values:
        return (0,)
    first = _sequence_shape(values[0], dim + 1)
    for v in values[1:]:
        other = _sequence_shape(v, dim + 1)
        if len(other) != len(first) or other[:1] != first[:1]:
            want, got = first[0] if first else 0, other[0] if other else 0
            raise ValueError(f"expected sequence of length {want} at dim {dim + 1} (got {got})")
    return (len(values), *first)


def literal(values: Any, dtype: DType | None = None) -> Any:
    """The array of a literal: numbers, nested sequences or arrays; Python floats take the default dtype.

    Raises TypeError for strings, ValueError for ragged sequences and for integers beyond 64 bits.
    """
    if isinstance(values, np.ndarray):
        dtypes.from_numpy(values.dtype)
        return values.astype(dtype.np) if dtype is not None else values.copy()
    if isinstance(values, str):
        raise TypeError(f"new(): invalid data type '{type(values).__name__}'")
    _sequence_shape(values)
    a = np.array(values)
    if a.dtype.kind in "USO":
        if a.dtype.kind == "O" and all(isinstance(v, int) for v in a.flat):
            raise ValueError("Overflow when unpacking long long")
        bad = next((v for v in a.flat if not isinstance(v, (int, float, complex))), "")
        raise TypeError(f"new(): invalid data type '{type(bad).__name__}'")
    if dtype is None:
        if a.dtype.kind == "u" and a.dtype.itemsize == 8:
            raise ValueError("Overflow when unpacking long long")
        dtype = _literal_dtype(a)
    return a.astype(dtype.np)


def _literal_dtype(a: Any) -> DType:
    if isinstance(a, np.ndarray) and not a.size:
        return dtypes.default_dtype()
    return {"b": dtypes.bool_, "i": dtypes.int64, "f": dtypes.default_dtype()}.get(
        a.dtype.kind, dtypes.to_complex(dtypes.default_dtype())
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
