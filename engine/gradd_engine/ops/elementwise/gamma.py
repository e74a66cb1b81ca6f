"""The logarithm of the gamma function and its derivatives, always computed in double precision.

Each kernel shifts its argument to where an asymptotic series holds, and reflects arguments below 1/2. Source:
Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.1.17, 6.1.40, 6.3.7, 6.3.18, 6.4.12; the
Hurwitz zeta function by Euler-Maclaurin summation (25.11 in the NIST handbook, https://dlmf.nist.gov/25.11).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...data import Meta, dtypes
from ...declare import attach, elementwise, public
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast_float, refuse

#: Bernoulli numbers B2, B4, ... B16
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SHIFT = 10


def _above(xp: Any, a: Any) -> tuple[Any, Any]:
    """The argument in double precision, as it is and reflected to at least 1/2."""
    x = a.astype(xp.float64)
    return x, xp.where(x < 0.5, 1 - x, x)


def lgamma_array(xp: Any, a: Any) -> Any:
    """log|gamma| of an array, in double precision."""
    x, y = _above(xp, a)
    product = xp.ones_like(y)
    far = y
    for _ in range(_SHIFT):
        near = far < _SHIFT
        product = xp.where(near, product * far, product)
        far = xp.where(near, far + 1, far)
    total = (far - 0.5) * xp.log(far) - far + 0.5 * math.log(2 * math.pi) - xp.log(product)
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b / (2 * k * (2 * k - 1) * far ** (2 * k - 1))
    total = xp.where(xp.isinf(y), math.inf, total)
    total = xp.where((x == 1) | (x == 2), 0.0, total)
    whole = (x <= 0) & (x == xp.floor(x))
    # the sine of the distance to the nearest integer: exact near poles
    mirrored = math.log(math.pi) - xp.log(xp.abs(xp.sin(math.pi * (x - xp.rint(x))))) - total
    return xp.where(whole, math.inf, xp.where(x < 0.5, mirrored, total))


def _digamma(xp: Any, a: Any) -> Any:
    x, y = _above(xp, a)
    total = xp.zeros_like(y)
    for _ in range(_SHIFT):
        near = y < _SHIFT
        total = xp.where(near, total - 1 / y, total)
        y = xp.where(near, y + 1, y)
    total = total + xp.log(y) - 0.5 / y
    for k, b in enumerate(_BERNOULLI, 1):
        total = total - b / (2 * k * y ** (2 * k))
    mirrored = total - math.pi / xp.tan(math.pi * (x - xp.rint(x)))
    found = xp.where(x < 0.5, mirrored, total)
    found = xp.where((x < 0) & (x == xp.floor(x)), math.nan, found)
    return xp.where(x == 0, xp.copysign(math.inf, -x), found)


def _zeta(xp: Any, s: Any, x: Any) -> Any:
    """The Hurwitz zeta function for s > 1, a number or an array, and x > 0."""
    s = s * 1.0
    total = xp.zeros_like(x)
    for k in range(_SHIFT):
        total = total + (x + k) ** -s
    far = x + _SHIFT
    total = total + far ** (1.0 - s) / (s - 1) + 0.5 * far**-s
    rising = s
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b / math.factorial(2 * k) * rising * far ** (1.0 - s - 2 * k)
        rising = rising * (s + 2 * k - 1) * (s + 2 * k)
    return total


def _polygamma(xp: Any, a: Any, n: int) -> Any:
    if n == 0:
        return _digamma(xp, a)
    x = a.astype(xp.float64)
    if n == 1:
        _, y = _above(xp, a)
        found = _zeta(xp, 2, y)
        mirrored = (math.pi / xp.sin(math.pi * (x - xp.rint(x)))) ** 2 - found
        return xp.where(x < 0.5, mirrored, found)
    # Above 170! a double overflows, and the product for a large n would take forever.
    factorial = float(math.factorial(n)) if n <= 170 else math.inf
    return (-1.0) ** (n + 1) * factorial * _zeta_everywhere(xp, n + 1, x)


def _zeta_everywhere(xp: Any, s: Any, x: Any) -> Any:
    """`_zeta`, for an integer s also for x < 0, where two more series over the distances to the integers give
    its terms. Infinite at integers <= 0 and at -inf.
    """
    above = xp.where(x > 0, x, x - xp.floor(x))
    found = _zeta(xp, s, xp.where(above > 0, above, 1.0))
    below = x < 0
    if xp is not np or xp.any(below):
        rest = xp.where(below & (above > 0), 1 - above, 1.0)
        terms = _zeta(xp, s, rest) - _zeta(xp, s, xp.where(below, 1 - x, 1.0))
        found = xp.where(below, found + (-1.0) ** s * terms, found)
    return xp.where((x <= 0) & (x == xp.floor(x)), math.inf, xp.where(xp.isnan(x), x, found))


def _infer(name: str) -> Any:
    def infer(input: Tensor, **_: Any) -> Meta:
        refuse(input.dtype, name, complex=True)
        return broadcast_float(input)

    return infer


lgamma: Op = elementwise(
    "lgamma(Tensor input) -> Tensor",
    infer=_infer("lgamma_vml_cpu"),
    impl=lgamma_array,
    vjp=lambda g, input: g * digamma(input),
    method=True,
    inplace=True,
    doc="The logarithm of the gamma function's absolute value (torch.lgamma).",
    raises=False,
)
digamma: Op = elementwise(
    "digamma(Tensor input) -> Tensor",
    infer=_infer("digamma"),
    impl=_digamma,
    vjp=lambda g, input: g * _polygamma_op(input, 1),
    method=True,
    inplace=True,
    namespace="|special",
    doc="The derivative of lgamma (torch.digamma).",
    raises=False,
)
_polygamma_op: Op = elementwise(
    "polygamma(Tensor input, int n) -> Tensor",
    infer=_infer("polygamma"),
    impl=_polygamma,
    vjp=lambda g, input, n: g * _polygamma_op(input, n + 1),
    inplace=True,
    namespace="|special",
    doc="The n-th derivative of digamma (torch.polygamma).",
)


@public("", "special", out=True)
def polygamma(n: int, input: Tensor) -> Any:
    """See torch.polygamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _polygamma_op(input, n)


def _method(self: Tensor, n: int) -> Any:
    return polygamma(n, self)


attach("polygamma", _method, "(n: int)")


def _zeta_of(xp: Any, a: Any, b: Any) -> Any:
    s, q = xp.broadcast_arrays(a.astype(xp.float64), b.astype(xp.float64))
    found = _zeta_everywhere(xp, xp.where(s > 1, s, 2.0), q)
    found = xp.where((q < 0) & (q != xp.floor(q)) & (s != xp.floor(s)), math.nan, found)
    return xp.where(s > 1, found, xp.where(s == 1, math.inf, math.nan))


def _zeta_infer(input: Any, other: Any) -> Meta:
    meta = broadcast_float(input, other)
    refuse(meta.dtype, "zeta_cpu", dtypes.float16, dtypes.bfloat16, complex=True)
    return meta


def _not_there(what: str) -> Any:
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


zeta: Op = elementwise(
    "zeta(Tensor|Number input, Tensor|Number other) -> Tensor",
    infer=_zeta_infer,
    impl=_zeta_of,
    vjp=(lambda g: _not_there("zeta"), lambda g, input, other: g * -input * zeta(input + 1.0, other)),
    node="SpecialZetaBackward0",
    number_nodes={"input": "SpecialZetaBackward1", "other": "SpecialZetaBackward2"},
    namespace="special",
    doc="The Hurwitz zeta function of `input` at `other` (torch.special.zeta).",
    raises=False,
)
public("special", name="gammaln")(lgamma.call)
public("special", name="psi")(digamma.call)
