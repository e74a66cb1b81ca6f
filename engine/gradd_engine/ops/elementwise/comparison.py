"""Comparisons, predicates, logical and bitwise ops, without derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, preserved_strides
from ...declare import elementwise
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast, broadcast_bool, pointwise_meta, refuse, same, zeros_like

if TYPE_CHECKING:
    from collections.abc import Callable


def _ordered(name: str) -> Callable[..., Meta]:
    def infer(input: Any, other: Any) -> Meta:
        meta = broadcast_bool(input, other)
        assert meta.compute is not None
        refuse(meta.compute, f"{name}_cpu", complex=True)
        return meta

    return infer


def _comparison(name: str, ufunc: str, words: str, infer: Callable[..., Meta] = broadcast_bool) -> Op:
    # differentiated only in place, where the result keeps the input's dtype: zeros
    return elementwise(
        f"{name}(Tensor input, Tensor|Number other) -> Tensor",
        infer=infer,
        impl=lambda xp, a, b: getattr(xp, ufunc)(a, b),
        vjp=(lambda g: zeros_like(g), lambda g: zeros_like(g)),
        jvp=lambda input_meta: zeros_like(input_meta),
        number_nodes={"other": f"{name.capitalize()}Backward0"},
        node=f"{name.capitalize()}Backward1",
        method=True,
        inplace=True,
        doc=f"Whether input {words} other (torch.{name}).",
        raises=False,
    )


eq = _comparison("eq", "equal", "==")
ne = _comparison("ne", "not_equal", "!=")
lt = _comparison("lt", "less", "<", _ordered("lt"))
le = _comparison("le", "less_equal", "<=", _ordered("le"))
gt = _comparison("gt", "greater", ">", _ordered("gt"))
ge = _comparison("ge", "greater_equal", ">=", _ordered("ge"))


def _bool_like(input: Tensor) -> Meta:
    return Meta(tuple(input.shape), dtypes.bool_, preserved_strides(input))


def _predicate(name: str, impl: Callable[..., Any], doc: str, infer: Callable[..., Meta] = _bool_like) -> Op:
    return elementwise(
        f"{name}(Tensor input) -> Tensor", infer=infer, impl=impl, method=True, doc=doc, raises=False
    )


def _real_only(name: str) -> Callable[..., Meta]:
    def infer(input: Tensor) -> Meta:
        if input.dtype.is_complex:
            if name == "signbit":
                raise NotImplementedError("signbit is not implemented for complex tensors.")
            raise RuntimeError(f"{name} does not support complex inputs.")
        return _bool_like(input)

    return infer


isnan = _predicate("isnan", lambda xp, a: xp.isnan(a), "Whether the input is nan (torch.isnan).")
isinf = _predicate("isinf", lambda xp, a: xp.isinf(a), "Whether the input is infinite (torch.isinf).")
isfinite = _predicate(
    "isfinite", lambda xp, a: xp.isfinite(a), "Whether the input is finite (torch.isfinite)."
)
isreal = _predicate("isreal", lambda xp, a: xp.isreal(a), "Whether the imaginary part is 0 (torch.isreal).")
isposinf = _predicate(
    "isposinf",
    lambda xp, a: a == xp.inf,
    "Whether the input is +inf (torch.isposinf).",
    _real_only("isposinf"),
)
isneginf = _predicate(
    "isneginf",
    lambda xp, a: a == -xp.inf,
    "Whether the input is -inf (torch.isneginf).",
    _real_only("isneginf"),
)
signbit = _predicate(
    "signbit",
    lambda xp, a: (
        xp.signbit(a) if a.dtype.kind == "f" else a < 0 if a.dtype.kind == "i" else xp.zeros(a.shape, bool)
    ),
    "Whether the sign bit is set (torch.signbit).",
    _real_only("signbit"),
)


def _logical(name: str, ufunc: str, words: str) -> Op:
    return elementwise(
        f"{name}(Tensor input, Tensor other) -> Tensor",
        infer=lambda input, other: pointwise_meta([input, other], dtypes.bool_, dtypes.bool_),
        impl=lambda xp, a, b: getattr(xp, ufunc)(a, b),
        method=True,
        inplace=True,
        doc=f"{words}; nonzero counts as true (torch.{name}).",
        raises=False,
    )


logical_and = _logical("logical_and", "logical_and", "Logical and")
logical_or = _logical("logical_or", "logical_or", "Logical or")
logical_xor = _logical("logical_xor", "logical_xor", "Logical exclusive or")
logical_not: Op = elementwise(
    "logical_not(Tensor input) -> Tensor",
    infer=lambda input: _bool_like(input),
    impl=lambda xp, a: xp.logical_not(a),
    method=True,
    inplace=True,
    doc="Whether the input is 0 (torch.logical_not).",
    raises=False,
)


def _refuse_floats(dtype: dtypes.DType, kernel: str, *refused: dtypes.DType) -> None:
    if dtype.category >= dtypes.FLOAT or dtype in refused:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title}'")


def _bits_infer(kernel: str, *refused: dtypes.DType) -> Callable[..., Meta]:
    def infer(input: Any, other: Any) -> Meta:
        meta = broadcast(input, other)
        _refuse_floats(meta.dtype, kernel, *refused)
        return meta

    return infer


def _bitwise(name: str, impl: Callable[..., Any], kernel: str, *refused: dtypes.DType) -> Op:
    return elementwise(
        f"{name}(Tensor|Number input, Tensor|Number other) -> Tensor",
        infer=_bits_infer(kernel, *refused),
        impl=impl,
        method=True,
        inplace=True,
        doc=f"Bitwise, on integers and bools (torch.{name}).",
        raises=False,
    )


def _bits(dtype: Any) -> int:
    return int(dtype.itemsize) * 8


def _left(xp: Any, a: Any, b: Any) -> Any:
    inside = (b >= 0) & (b < _bits(a.dtype))
    return xp.where(inside, xp.left_shift(a, xp.where(inside, b, 0)), a.dtype.type(0))


def _right(xp: Any, a: Any, b: Any) -> Any:
    last = a.dtype.type(_bits(a.dtype) - 1)
    inside = (b >= 0) & (b < _bits(a.dtype))
    shifted = xp.right_shift(a, xp.where(inside, b, last))
    return shifted if a.dtype.kind == "i" else xp.where(inside, shifted, a.dtype.type(0))


bitwise_and = _bitwise("bitwise_and", lambda xp, a, b: xp.bitwise_and(a, b), "bitwise_and_cpu")
bitwise_or = _bitwise("bitwise_or", lambda xp, a, b: xp.bitwise_or(a, b), "bitwise_or_cpu")
bitwise_xor = _bitwise("bitwise_xor", lambda xp, a, b: xp.bitwise_xor(a, b), "bitwise_xor_cpu")
bitwise_left_shift = _bitwise("bitwise_left_shift", _left, "lshift_cpu", dtypes.bool_)
bitwise_right_shift = _bitwise("bitwise_right_shift", _right, "rshift_cpu", dtypes.bool_)


def _not_infer(input: Tensor) -> Meta:
    _refuse_floats(input.dtype, "bitwise_not_cpu")
    return same(input)


bitwise_not: Op = elementwise(
    "bitwise_not(Tensor input) -> Tensor",
    infer=_not_infer,
    impl=lambda xp, a: xp.invert(a),
    method=True,
    inplace=True,
    doc="Bitwise not, logical not for bools (torch.bitwise_not).",
    raises=False,
)
