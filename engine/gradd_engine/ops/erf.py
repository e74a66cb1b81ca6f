"""The error function and its complement, by rational approximations that NumPy and CuPy both run.

Source: W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969);
relative error below 6e-19 on each of three intervals, so what is left is the rounding of double precision.
"""

from __future__ import annotations

import math
from typing import Any

from ..layout import Meta
from ..op import ELEMENTWISE, Op, op
from ..tensor import Tensor
from .common import broadcast_float, refuse
from .elementwise import exp

_SMALL = 0.46875
_LARGE = 4.0
_NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3),
    (3.20937758913846947e3, 2.84423683343917062e3),
)
_MIDDLE = (
    (
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
    ),
    (
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
        1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
    ),
    (1.23033935479799725e3, 1.23033935480374942e3),
)  # fmt: skip
_FAR = (
    (
        1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
        1.60837851487422766e-2,
    ),
    (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2),
    (6.58749161529837803e-4, 2.33520497626869185e-3),
)  # fmt: skip
_ROOT = 1.0 / math.sqrt(math.pi)


def _rational(y: Any, table: Any) -> Any:
    """The quotient of two polynomials, highest coefficients first."""
    above, below, last = table
    number = y.dtype.type
    top, bottom = number(above[0]) * y, y
    for a, b in zip(above[1:], below[1:], strict=True):
        top = (top + number(a)) * y
        bottom = (bottom + number(b)) * y
    return (top + number(last[0])) / (bottom + number(last[1]))


def _tail(xp: Any, y: Any) -> Any:
    """erfc for y > _SMALL."""
    number = y.dtype.type
    near = _rational(xp.minimum(y, number(_LARGE)), _MIDDLE)
    far_y = xp.maximum(y, number(_LARGE))
    inverse = number(1) / (far_y * far_y)
    far = (number(_ROOT) - inverse * _rational(inverse, _FAR)) / far_y
    whole = xp.trunc(y * number(16)) / number(16)
    scale = xp.exp(-whole * whole) * xp.exp(-(y - whole) * (y + whole))
    return xp.where(xp.isinf(y), number(0), scale * xp.where(y <= number(_LARGE), near, far))


def erf_kernel(xp: Any, x: Any) -> Any:
    """erf of an array of float32 or float64."""
    number = x.dtype.type
    y = xp.abs(x)
    small = x * _rational(xp.minimum(y, number(_SMALL)) ** 2, _NEAR)
    return xp.where(y <= number(_SMALL), small, xp.copysign(number(1) - _tail(xp, y), x))


def erfc_kernel(xp: Any, x: Any) -> Any:
    """1 - erf(x), accurate where that is small."""
    number = x.dtype.type
    y = xp.abs(x)
    small = number(1) - x * _rational(xp.minimum(y, number(_SMALL)) ** 2, _NEAR)
    tail = _tail(xp, y)
    return xp.where(y <= number(_SMALL), small, xp.where(x < 0, number(2) - tail, tail))


def _infer(input: Tensor) -> Meta:
    refuse(input.dtype, "erf", complex=True)
    return broadcast_float(input)


_SLOPE = 2.0 / math.sqrt(math.pi)

erf: Op = op(
    "erf(Tensor input)",
    infer=_infer,
    impl=erf_kernel,
    vjp=lambda g, input: g * (_SLOPE * exp(-(input * input))),
    jvp=ELEMENTWISE,
    method=True,
    inplace=True,
    namespace="|special",
    doc="The error function (torch.erf).",
)
erfc: Op = op(
    "erfc(Tensor input)",
    infer=_infer,
    impl=erfc_kernel,
    vjp=lambda g, input: g * (-_SLOPE * exp(-(input * input))),
    jvp=ELEMENTWISE,
    method=True,
    inplace=True,
    namespace="|special",
    doc="1 - erf(input) (torch.erfc).",
)
