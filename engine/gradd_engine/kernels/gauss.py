"""The error function and the normal distribution, by one approximation for both NumPy and CuPy.

P(X > y) = exp(-y*y/2) w(y) for y >= 0, where w is a polynomial in u = (y - k) / (y + k), smooth over the
whole half line. We computed the coefficients by Chebyshev interpolation of w(y) = erfcx(y / sqrt(2)) / 2 and
of erf(t) / t in 60 digits. The relative errors are 2e-8 and 1e-11 for float32, 1e-17 and 3e-20 for float64,
below rounding. Coefficients start with the highest power.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Coefficients(NamedTuple):
    """Constants for one precision."""

    #: u = (y - k) / (y + k)
    k: float
    #: w in u, for y in [0, far]
    tail: tuple[float, ...]
    #: above it P(X > y) is 0 except for subnormals
    far: float
    #: erf(t) / t in t*t, for |t| <= `NEAR`
    near: tuple[float, ...]


SINGLE = Coefficients(
    3.0,
    (
        5.40938600722865404e-5, 1.16207929241586659e-4, -3.39556463507436168e-4, -9.8427638331778903e-4,
        2.90442838974404136e-3, 6.13219250965200776e-3, -4.62132474668527439e-2, 1.23225021748862136e-1,
        -2.06402622070732595e-1, 1.21513947742325694e-1,
    ),
    13.0,
    (
        -7.69453427914230718e-4, 5.20041372433549267e-3, -2.68631430322493867e-2, 1.12837740131795381e-1,
        -3.7612638525650692e-1, 1.12837916708240948,
    ),
)  # fmt: skip
DOUBLE = Coefficients(
    5.0,
    (
        -2.32680238858283768e-10, -5.71149353021902937e-10, 1.82756401794652064e-9, 5.69304849415747454e-9,
        -1.09960253089622625e-8, -3.91718338898170037e-8, 7.71067086734422732e-8, 2.43348400480409556e-7,
        -6.75077565371341937e-7, -1.27007590938227019e-6, 6.64442065958085039e-6, 9.61305968607503882e-7,
        -6.0427482631307459e-5, 1.34276843393246534e-4, 2.19550737596144771e-4, -2.37884435668834706e-3,
        8.99137055059229452e-3, -2.34139004876924815e-2, 4.7855352284169919e-2, -8.08838772641274064e-2,
        1.16068811886003296e-1, -1.43457555264011972e-1, 7.69193049750062959e-2,
    ),
    37.5,
    (
        -1.46209134094517487e-7, 1.63712344257700007e-6, -1.49230033681520988e-5, 1.20552862020057133e-4,
        -8.5483265107247964e-4, 5.22397762201693636e-3, -2.68661706449997198e-2, 1.12837916709548691e-1,
        -3.76126389031837505e-1, 1.12837916709551257,
    ),
)  # fmt: skip
#: up to here erf uses its own polynomial, as 1 - erfc would lose digits
NEAR = 0.5
ROOT_TWO = math.sqrt(2.0)
#: the normal density at 0
DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


def _table(a: Any) -> Coefficients:
    return SINGLE if a.dtype.itemsize == 4 else DOUBLE


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    number = x.dtype.type
    out = x * number(coefficients[0])
    for c in coefficients[1:-1]:
        out += number(c)
        out *= x
    out += number(coefficients[-1])
    return out


def scaled_tail(xp: Any, y: Any) -> Any:
    """w(y) for y >= 0."""
    table, number = _table(y), y.dtype.type
    u = xp.minimum(y, number(table.far)) + number(table.k)
    u = xp.divide(number(-2 * table.k), u, out=u)
    u += number(1)
    return _polynomial(u, table.tail)


def erfc_positive(xp: Any, t: Any) -> Any:
    """erfc of t >= 0. The square is split in two, to keep its rounding error out of the exponential."""
    number = t.dtype.type
    whole = xp.trunc(xp.minimum(t, number(64)) * number(16)) * number(1 / 16)
    scale = xp.exp(-whole * whole) * xp.exp((whole - t) * (whole + t))
    return number(2) * scale * scaled_tail(xp, t * number(ROOT_TWO))


def _near(xp: Any, t: Any) -> tuple[Any, Any]:
    """erf(min(t, NEAR)) for t >= 0, and 1 where t <= NEAR, else 0: blending is cheaper than selecting."""
    least = xp.minimum(t, t.dtype.type(NEAR))
    near = _polynomial(least * least, _table(t).near)
    near *= least
    return near, (t <= t.dtype.type(NEAR)).astype(t.dtype)


def erf(xp: Any, x: Any) -> Any:
    """The error function of an array of float32 or float64."""
    one, t = x.dtype.type(1), xp.abs(x)
    near, share = _near(xp, t)
    near *= share
    near += (one - erfc_positive(xp, t)) * (one - share)
    return xp.copysign(near, x)


def erfc(xp: Any, x: Any) -> Any:
    """1 - erf(x), accurate where small."""
    number, t = x.dtype.type, xp.abs(x)
    one = number(1)
    near, share = _near(xp, t)
    sign = xp.copysign(one, x)
    # erfc(-t) = 2 - erfc(t)
    tail = erfc_positive(xp, t) * sign
    tail += one - sign
    tail *= one - share
    tail += (one - near * sign) * share
    return tail


def normal(xp: Any, x: Any) -> tuple[Any, Any]:
    """P(X <= x) and exp(-x*x/2) for a standard normal X."""
    if not x.ndim:
        # NumPy turns 0-d results into scalars, which cannot be written to.
        below, bell = normal(xp, x.reshape(1))
        return below.reshape(()), bell.reshape(())
    number = x.dtype.type
    bell = x * x
    bell *= number(-0.5)
    bell = xp.exp(bell, out=bell)
    y = xp.abs(x)
    above = scaled_tail(xp, y)
    above *= bell
    above = xp.copysign(number(0.5) - above, x)
    above += number(0.5)
    return above, bell
