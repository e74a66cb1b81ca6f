"""`infer` functions and small helpers that op families share."""

from __future__ import annotations

import operator
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import (
    Meta,
    broadcast_shapes,
    contiguous_strides,
    dtypes,
    elementwise_strides,
    holds,
    is_contiguous,
)
from ...graph import conj as conj
from ...schema import type_name
from ...tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...data import DType

NUMBERS = (bool, int, float, complex)


def pointwise_meta(inputs: Sequence[Any], dtype: DType, compute: DType) -> Meta:
    """Geometry of an element-wise result of tensors and numbers."""
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    first = tensors[0] if tensors else None
    if first is None:
        return Meta((), dtype, compute=compute)
    shape = tuple(first.shape)
    numbers = len(tensors) < len(inputs)
    same = not numbers or first.strides == contiguous_strides(shape)
    for t in tensors[1:]:
        if t.shape != shape:
            same = False
            shape = broadcast_shapes(shape, tuple(t.shape))
    if same and all(is_contiguous(shape, t.strides) for t in tensors):
        return Meta(shape, dtype, contiguous_strides(shape), compute=compute)
    return Meta(shape, dtype, elementwise_strides(shape, tensors, numbers), compute=compute)


def broadcast(*inputs: Any, **_: Any) -> Meta:
    """Broadcast shapes, common dtype."""
    dtype = dtypes.result_type(inputs)
    return pointwise_meta(inputs, dtype, dtype)


def broadcast_float(*inputs: Any, **_: Any) -> Meta:
    """As `broadcast`; integers give the default float type (true division, unary maths)."""
    dtype = dtypes.result_type(inputs)
    if dtype.category < dtypes.FLOAT:
        dtype = dtypes.default_dtype()
    return pointwise_meta(inputs, dtype, dtype)


def broadcast_bool(*inputs: Any, **_: Any) -> Meta:
    """As `broadcast`; compares in the common dtype and gives bool."""
    return pointwise_meta(inputs, dtypes.bool_, dtypes.result_type(inputs))


def same(input: Tensor, *_: Any, **__: Any) -> Meta:
    """The shape and dtype of the first input; other inputs do not count."""
    shape = tuple(input.shape)
    return Meta(shape, input.dtype, elementwise_strides(shape, [input]))


def contiguous_like(input: Tensor, *_: Any, **__: Any) -> Meta:
    """The shape and dtype of the first input, laid out row-major."""
    return Meta(tuple(input.shape), input.dtype)


def floating(name: str) -> Callable[..., Meta]:
    """`same`, but NotImplementedError for integer types as kernels of PyTorch raise it."""

    def infer(input: Tensor, *_: Any, **__: Any) -> Meta:
        if input.dtype.category < dtypes.FLOAT:
            raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.title}'")
        return same(input)

    return infer


def refuse(dtype: DType, kernel: str, *refused: DType, complex: bool = False, integer: bool = False) -> None:
    """NotImplementedError in PyTorch's words where a kernel is not written for a dtype or a category."""
    category = dtype.category
    if dtype in refused or (complex and category == dtypes.COMPLEX) or (integer and category < dtypes.FLOAT):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title}'")


def nonzero_divisor(xp: Any, b: Any) -> None:
    """RuntimeError in PyTorch's words where integers are divided by zero."""
    if b.dtype.kind in "iu" and (xp is not np or not b.all()):
        holds(b == 0, RuntimeError, "ZeroDivisionError", "integer division")


def as_list(value: Any, name: str, what: str) -> list[int]:
    """Sizes given as one int, a sequence, or a sequence in a sequence; TypeError in PyTorch's words for what
    is none of these, as the argument `what` of the function `name`.
    """
    if isinstance(value, int) or not hasattr(value, "__len__"):
        value = [value]
    elif len(value) == 1 and isinstance(value[0], (list, tuple)):
        value = value[0]
    try:
        return list(map(operator.index, value))
    except TypeError:
        bad = next(v for v in value if not hasattr(v, "__index__"))
        raise TypeError(
            f"{name}(): argument '{what}' (position 1) must be tuple of ints, not {type_name(bad)}"
        ) from None


def np_dtype(dtype: DType) -> Any:
    """The NumPy dtype kernels compute in: float32 for 16-bit floats."""
    return dtypes.float32.np if dtype.is_half else dtype.np


#: the named tuples that functions return, by name
RETURN_TYPES: dict[str, type[Any]] = {}


def return_type(name: str, fields: str) -> type[Any]:
    """A named tuple that prints as ``torch.return_types.<name>`` does."""

    def show(self: Any) -> str:
        inside = ",\n".join(f"{f}={v!r}" for f, v in zip(self._fields, self, strict=True))
        return f"torch.return_types.{name}(\n{inside})"

    doc = f"What `{name}` returns: {', '.join(fields.split())}."
    made = type(name, (namedtuple(name, fields),), {"__repr__": show, "__doc__": doc, "__slots__": ()})
    RETURN_TYPES[name] = made
    return made


def storable(src: Any, out: Any) -> Any:
    """An array that is written into another: the real part of complex numbers where that is real, as copy_
    has it.
    """
    return src.real if src.dtype.kind == "c" and out.dtype.kind in "fiu" else src
