"""Steps, neighbouring floats, powers of two and the multivariate gamma function, element-wise."""

from __future__ import annotations

import math
from typing import Any

from ...data import Meta, dtypes
from ...declare import elementwise, kernel, public
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast, broadcast_float, conj, refuse, return_type, same, zeros_like
from .gamma import digamma, lgamma
from .rounding import NO_DERIVATIVE, no_derivative
from .unary import LN2, exp2


def _heaviside_infer(input: Tensor, values: Tensor) -> Meta:
    if input.dtype.is_complex or values.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if input.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return broadcast(input, values)


heaviside: Op = kernel(
    "heaviside(Tensor input, Tensor values) -> Tensor",
    infer=_heaviside_infer,
    impl=lambda xp, a, values: xp.where(a == 0, values, (a > 0).astype(a.dtype)),
    refuses=no_derivative("heaviside"),
    node=NO_DERIVATIVE,
    method=True,
    inplace=True,
    doc="0 below zero, 1 above, and `values` at zero (torch.heaviside); it has no derivative.",
    raises=False,
)


def _nextafter_infer(input: Tensor, other: Tensor) -> Meta:
    meta = broadcast(input, other)
    refuse(meta.dtype, "nextafter_cpu", complex=True, integer=True)
    # neighbours are those of the dtype itself, also in 16 bits
    meta.compute = None if meta.dtype.is_half else meta.dtype
    return meta


def _half_neighbour(xp: Any, a: Any, b: Any, dtype: Any) -> Any:
    """The next 16-bit float: floats of one sign are ordered like their bits as integers."""
    a, b = xp.broadcast_arrays(a.astype(dtype), b.astype(dtype))
    bits = xp.ascontiguousarray(a).view(xp.int16).reshape(a.shape)
    away = xp.where((b > a) == (a > 0), 1, -1).astype(xp.int16)
    tiny = xp.where(xp.signbit(b), xp.int16(-32767), xp.int16(1))
    moved = xp.where(a == 0, tiny, bits + away).astype(xp.int16).view(dtype)
    return xp.where((a != a) | (b != b), (a + b).astype(dtype), xp.where(a == b, b, moved))


def _nextafter(xp: Any, a: Any, b: Any, meta: Meta) -> Any:
    if meta.dtype.is_half:
        return _half_neighbour(xp, a, b, meta.dtype.np)
    return xp.nextafter(a, b)


nextafter: Op = elementwise(
    "nextafter(Tensor input, Tensor other) -> Tensor",
    infer=_nextafter_infer,
    impl=_nextafter,
    vjp=(lambda g, input, other: g * (input != other), lambda g: zeros_like(g)),
    method=True,
    inplace=True,
    doc="The next floating-point number towards `other` (torch.nextafter).",
    raises=False,
)

ldexp: Op = elementwise(
    "ldexp(Tensor input, Tensor other) -> Tensor",
    infer=broadcast_float,
    impl=lambda xp, a, b: a * xp.exp2(b),
    vjp=(lambda g, other: g * conj(exp2(other)), lambda g, out: g * conj(out) * LN2),
    method=True,
    inplace=True,
    doc="input * 2**other (torch.ldexp).",
    raises=False,
)


def _frexp_infer(input: Tensor) -> list[Meta]:
    if not input.dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    meta = same(input)
    return [meta, Meta(meta.shape, dtypes.int32, meta.strides)]


_frexp: Op = kernel(
    "frexp(Tensor input) -> (Tensor mantissa, const Tensor exponent)",
    infer=_frexp_infer,
    impl=lambda xp, a: xp.frexp(a),
    vjp=lambda grads, out1: grads[0] / exp2(out1),
    jvp=lambda input_t, out1: [input_t / exp2(out1), None],
    node="FrexpBackward0",
    namespace="-",
    outside=True,
    doc="A fraction in [1/2, 1) and a power of two for each number (torch.frexp).",
    raises=False,
)
_FREXP = return_type("frexp", "mantissa exponent")


@public(method=True, out=True)
def frexp(input: Tensor) -> Any:
    """See torch.frexp: mantissa and exponent (int32)."""
    return _FREXP(*_frexp(input))


@public(method=True)
def positive(input: Tensor) -> Any:
    """The input itself (torch.positive); RuntimeError for bools."""
    if input.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


#: p is bounded because each step of it takes a kernel, and another in the derivative
_MVLGAMMA = 1 << 12


def _mvlgamma_infer(input: Tensor, p: int) -> Meta:
    refuse(input.dtype, "mvlgamma", complex=True)
    if input.dtype is dtypes.bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if p > _MVLGAMMA:
        raise RuntimeError(f"mvlgamma: p has to be at most {_MVLGAMMA}, but got {p}")
    return Meta(tuple(input.shape), broadcast_float(input).dtype)


def _mvlgamma(xp: Any, a: Any, p: int) -> Any:
    x = a.astype(xp.float64)
    total = xp.full(x.shape, p * (p - 1) / 4.0 * math.log(math.pi))
    for j in range(p):
        total = total + lgamma.impl(xp, x - j / 2.0)
    return total


def _mvlgamma_vjp(g: Any, input: Any, p: int) -> Any:
    slope = digamma(input)
    for j in range(1, p):
        slope = slope + digamma(input - j / 2.0)
    return g * slope


mvlgamma: Op = elementwise(
    "mvlgamma(Tensor input, int p) -> Tensor",
    infer=_mvlgamma_infer,
    impl=_mvlgamma,
    vjp=_mvlgamma_vjp,
    method=True,
    inplace=True,
    doc="The logarithm of the multivariate gamma function of dimension p (torch.mvlgamma).",
)


@public("special", out=True)
def multigammaln(input: Tensor, p: int) -> Any:
    """See torch.special.multigammaln: another name of `mvlgamma`."""
    return mvlgamma(input, p)
