"""Conversions between dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, format_name, preserved_strides
from ...declare import LINEAR, attach_as_is, elementwise
from ...graph import cast_gradient
from ...tensor import Tensor
from .copies import contiguous

if TYPE_CHECKING:
    from ...data import DType


def _impl(xp: Any, a: Any, dtype: DType, memory_format: str | None = None) -> Any:
    if dtype is dtypes.bool_:
        return a != 0
    if dtype.category < dtypes.COMPLEX and a.dtype.kind == "c":
        a = a.real
    return a.astype(dtype.np)


to_copy = elementwise(
    "to_copy(Tensor input, dtype dtype, *, str? memory_format=None) -> Tensor",
    infer=lambda input, dtype, memory_format: Meta(
        tuple(input.shape), dtype, preserved_strides(input, memory_format)
    ),
    impl=_impl,
    vjp=lambda g, input_meta: cast_gradient(g, input_meta.dtype),
    jvp=LINEAR,
    node="ToCopyBackward0",
    namespace="-",
    outside=True,
    doc="A copy in another dtype; gradients are converted back to the input's (torch.Tensor.to).",
    raises=False,
)


def to_dtype(t: Tensor, dtype: DType) -> Tensor:
    """`t` itself if it has this dtype, otherwise a converted copy."""
    return t if t.dtype is dtype else to_copy(t, dtype)


def type_as(t: Tensor, other: Tensor) -> Tensor:
    """`t` in the dtype of `other`."""
    return to_dtype(t, other.dtype)


def _method(name: str, dtype: DType) -> Any:
    def cast(self: Tensor, memory_format: Any = None) -> Tensor:
        found = to_dtype(self, dtype)
        form = None if memory_format is None else format_name(name, memory_format)
        return found if form is None else contiguous(found, memory_format)

    cast.__qualname__ = name
    cast.__doc__ = f"`self` as {dtype!r}."
    return cast


for _name, _dtype in {
    "bool": dtypes.bool_, "byte": dtypes.uint8, "char": dtypes.int8, "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "float": dtypes.float32,
    "double": dtypes.float64, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():  # fmt: skip
    attach_as_is(_name, _method(_name, _dtype))


def chalf(self: Tensor, memory_format: Any = None) -> Tensor:
    """Raises NotImplementedError: there is no complex32 here (torch.Tensor.chalf)."""
    raise NotImplementedError("chalf(): complex32 is not supported; cfloat() gives complex64")


attach_as_is("chalf", chalf)
attach_as_is("type_as", type_as)
