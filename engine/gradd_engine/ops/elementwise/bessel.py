"""Modified Bessel functions of the first kind, of orders 0 and 1, also scaled by exp(-|x|).

Near 0 by the power series, whose terms are all positive; further out by the asymptotic series. Source: NIST
handbook, https://dlmf.nist.gov/10.25.E2 and https://dlmf.nist.gov/10.40.E1.
"""

from __future__ import annotations

import math
from typing import Any

from ...declare import elementwise
from ...schema import Op
from .binary import where
from .special import real_input
from .unary import sgn

#: the power series is used up to here
_NEAR = 25.0
_TERMS, _FAR_TERMS = 64, 18


def _scaled(xp: Any, x: Any, order: int) -> Any:
    """exp(-|x|) times the function of this order, for |x| in double precision."""
    near = xp.minimum(x, _NEAR)
    square = near * near / 4.0
    term = near / 2.0 if order else xp.ones_like(near)
    total = term
    for k in range(1, _TERMS):
        term = term * square / (k * (k + order))
        total = total + term
    far = xp.maximum(x, _NEAR)
    part = xp.ones_like(far)
    tail = part
    for k in range(1, _FAR_TERMS):
        part = -part * (4.0 * order * order - (2 * k - 1) ** 2) / (8.0 * k * far)
        tail = tail + part
    return xp.where(x < _NEAR, total * xp.exp(-near), tail / xp.sqrt(2.0 * math.pi * far))


def _kernel(order: int, scaled: bool) -> Any:
    def impl(xp: Any, a: Any) -> Any:
        x = a.astype(xp.float64)
        size = xp.abs(x)
        found = _scaled(xp, size, order)
        if not scaled:
            # in two factors: exp(size) may overflow where the product does not
            half = xp.exp(size / 2.0)
            found = found * half * half
        found = xp.where(xp.isinf(size), 0.0 if scaled else math.nan, found)
        found = xp.where(xp.isnan(size), math.nan, found)
        return xp.copysign(found, x) if order else found

    return impl


def unscaled(xp: Any, a: Any, order: int) -> Any:
    """The function of this order of an array, in double precision."""
    return _kernel(order, False)(xp, a)


def _over(y: Any, input: Any) -> Any:
    """y / input, and at 0 the limit for order 1, 1/2."""
    return where(input == 0, 0.5, y / where(input == 0, 1.0, input))


i0: Op = elementwise(
    "i0(Tensor input) -> Tensor",
    infer=real_input("i0"),
    impl=_kernel(0, False),
    vjp=lambda g, input: g * i1(input),
    method=True,
    inplace=True,
    namespace="|special",
    doc="The modified Bessel function of order 0 (torch.special.i0).",
    raises=False,
)
i1: Op = elementwise(
    "i1(Tensor input) -> Tensor",
    infer=real_input("i1"),
    impl=_kernel(1, False),
    vjp=lambda g, input, out: g * (i0(input) - _over(out, input)),
    node="SpecialI1Backward0",
    namespace="special",
    doc="The modified Bessel function of order 1 (torch.special.i1).",
    raises=False,
)
i0e: Op = elementwise(
    "i0e(Tensor input) -> Tensor",
    infer=real_input("i0e"),
    impl=_kernel(0, True),
    vjp=lambda g, input, out: g * (i1e(input) - sgn(input) * out),
    node="SpecialI0EBackward0",
    namespace="special",
    doc="exp(-|input|) times `i0` (torch.special.i0e).",
    raises=False,
)
i1e: Op = elementwise(
    "i1e(Tensor input) -> Tensor",
    infer=real_input("i1e"),
    impl=_kernel(1, True),
    vjp=lambda g, input, out: g * (i0e(input) - sgn(input) * out - _over(out, input)),
    node="SpecialI1EBackward0",
    namespace="special",
    doc="exp(-|input|) times `i1` (torch.special.i1e).",
    raises=False,
)
