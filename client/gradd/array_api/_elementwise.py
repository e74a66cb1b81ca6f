"""Functions of each element. Arrays promote by their dtypes alone, Python numbers follow the arrays.

https://data-apis.org/array-api/latest/API_specification/elementwise_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes

import gradd._top as ops

from .._tensor import Tensor
from ._creation import asarray
from ._kinds import promoted

if TYPE_CHECKING:
    from collections.abc import Callable

    Unary = Callable[[Tensor], Tensor]
    Binary = Callable[[Any, Any], Tensor]


def together(*given: Any) -> list[Tensor]:
    """Arrays and Python numbers as arrays of one dtype."""
    dtype = promoted(*given)
    return [x.to(dtype) if isinstance(x, Tensor) else asarray(x, dtype=dtype) for x in given]


def _unary(name: str, function: Callable[..., Any], integers: bool = True) -> Unary:
    """`function` of one array; `integers`: it changes integers too."""

    def call(x: Tensor, /) -> Tensor:
        if not integers and x.dtype.category <= dtypes.INT:
            return x.clone()
        found: Tensor = function(x)
        return found

    return _named(call, name)  # type: ignore[no-any-return]


def _binary(name: str, function: Callable[..., Any]) -> Binary:
    def call(x1: Any, x2: Any, /) -> Tensor:
        found: Tensor = function(*together(x1, x2))
        return found

    return _named(call, name)  # type: ignore[no-any-return]


def _named(call: Any, name: str) -> Any:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"See https://data-apis.org/array-api/latest/API_specification/generated/array_api.{name}"
    return call


abs = _unary("abs", ops.abs)
acos = _unary("acos", ops.acos)
acosh = _unary("acosh", ops.acosh)
add = _binary("add", ops.add)
asin = _unary("asin", ops.asin)
asinh = _unary("asinh", ops.asinh)
atan = _unary("atan", ops.atan)
atan2 = _binary("atan2", ops.atan2)
atanh = _unary("atanh", ops.atanh)
bitwise_and = _binary("bitwise_and", ops.bitwise_and)
bitwise_invert = _unary("bitwise_invert", ops.bitwise_not)
bitwise_left_shift = _binary("bitwise_left_shift", ops.bitwise_left_shift)
bitwise_or = _binary("bitwise_or", ops.bitwise_or)
bitwise_right_shift = _binary("bitwise_right_shift", ops.bitwise_right_shift)
bitwise_xor = _binary("bitwise_xor", ops.bitwise_xor)
ceil = _unary("ceil", ops.ceil, integers=False)
conj = _unary("conj", lambda x: x.conj().resolve_conj())
copysign = _binary("copysign", ops.copysign)
cos = _unary("cos", ops.cos)
cosh = _unary("cosh", ops.cosh)
divide = _binary("divide", ops.div)
equal = _binary("equal", ops.eq)
exp = _unary("exp", ops.exp)
expm1 = _unary("expm1", ops.expm1)
floor = _unary("floor", ops.floor, integers=False)
floor_divide = _binary("floor_divide", ops.floor_divide)
greater = _binary("greater", ops.gt)
greater_equal = _binary("greater_equal", ops.ge)
hypot = _binary("hypot", ops.hypot)
imag = _unary("imag", ops.imag)
isfinite = _unary("isfinite", ops.isfinite)
isinf = _unary("isinf", ops.isinf)
isnan = _unary("isnan", ops.isnan)
less = _binary("less", ops.lt)
less_equal = _binary("less_equal", ops.le)
log = _unary("log", ops.log)
log10 = _unary("log10", ops.log10)
log1p = _unary("log1p", ops.log1p)
log2 = _unary("log2", ops.log2)
logaddexp = _binary("logaddexp", ops.logaddexp)
logical_and = _binary("logical_and", ops.logical_and)
logical_not = _unary("logical_not", ops.logical_not)
logical_or = _binary("logical_or", ops.logical_or)
logical_xor = _binary("logical_xor", ops.logical_xor)
maximum = _binary("maximum", ops.maximum)
minimum = _binary("minimum", ops.minimum)
multiply = _binary("multiply", ops.mul)
negative = _unary("negative", ops.neg)
nextafter = _binary("nextafter", ops.nextafter)
not_equal = _binary("not_equal", ops.ne)
positive = _unary("positive", ops.positive)
pow = _binary("pow", ops.pow)
real = _unary("real", ops.real)
reciprocal = _unary("reciprocal", ops.reciprocal)
remainder = _binary("remainder", ops.remainder)
sign = _unary("sign", lambda x: ops.where(ops.isnan(x), x, ops.sgn(x)))
signbit = _unary("signbit", ops.signbit)
sin = _unary("sin", ops.sin)
sinh = _unary("sinh", ops.sinh)
sqrt = _unary("sqrt", ops.sqrt)
square = _unary("square", ops.square)
subtract = _binary("subtract", ops.sub)
tan = _unary("tan", ops.tan)
tanh = _unary("tanh", ops.tanh)
trunc = _unary("trunc", ops.trunc, integers=False)


def round(x: Tensor, /) -> Tensor:
    """The nearest integers, halves to even; of complex numbers, of both parts."""
    if x.dtype.is_complex:
        return ops.complex(ops.round(ops.real(x)), ops.round(ops.imag(x)))
    return x.clone() if x.dtype.category <= dtypes.INT else ops.round(x)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """`x` within bounds, which are numbers or arrays; of the dtype of `x`."""
    low, high = (
        None if bound is None else asarray(bound, dtype=x.dtype) if not isinstance(bound, Tensor) else bound
        for bound in (min, max)
    )
    if low is None and high is None:
        return x.clone()
    return ops.clamp(x, None if low is None else low.to(x.dtype), None if high is None else high.to(x.dtype))
