"""Orthogonal polynomials of a real argument (torch.special), computed in double precision.

Chebyshev's by their trigonometric forms, the others by the recurrences of their degrees, which end at
`DEGREES`. Source: https://dlmf.nist.gov/18.5 and https://dlmf.nist.gov/18.9. They have no derivative, as in
PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...data import Meta, dtypes
from ...declare import elementwise
from ..shared import broadcast_float, refuse

#: the highest degree of what is computed degree by degree; beyond it the result is nan
DEGREES = 512


def _quotient(xp: Any, n: Any, angle: Any, wide: Any, factor: float, flat: Any) -> Any:
    """sin(n angle) / sin(factor angle), or of the hyperbolic sines; `flat` where the angle is 0."""
    safe = xp.where(angle == 0, 1.0, angle)
    ratio = xp.where(
        wide, xp.sinh(n * safe) / xp.sinh(factor * safe), xp.sin(n * safe) / xp.sin(factor * safe)
    )
    return xp.where(angle == 0, flat, ratio)


def _u(xp: Any, n: Any, angle: Any, sign: Any, wide: Any) -> Any:
    return sign**n * _quotient(xp, n + 1, angle, wide, 1.0, n + 1)


def _w(xp: Any, n: Any, angle: Any, wide: Any) -> Any:
    """The fourth kind for x >= 0."""
    return _quotient(xp, n + 0.5, angle, wide, 0.5, 2 * n + 1)


def _v(xp: Any, n: Any, angle: Any, wide: Any) -> Any:
    """The third kind for x >= 0."""
    return xp.where(
        wide,
        xp.cosh((n + 0.5) * angle) / xp.cosh(0.5 * angle),
        xp.cos((n + 0.5) * angle) / xp.cos(0.5 * angle),
    )


def _chebyshev(kind: str, x: Any, n: Any, xp: Any) -> Any:
    """Of |x|, whose angle is exact near 1; the sign of x makes V of W and W of V."""
    size, sign = xp.abs(x), xp.where(x < 0, -1.0, 1.0)
    wide = size > 1
    angle = xp.where(wide, xp.arccosh(xp.maximum(size, 1.0)), xp.arccos(xp.minimum(size, 1.0)))
    if kind == "t":
        return sign**n * xp.where(wide, xp.cosh(n * angle), xp.cos(n * angle))
    if kind == "u":
        return _u(xp, n, angle, sign, wide)
    first, second = (_v, _w) if kind == "v" else (_w, _v)
    return xp.where(x < 0, sign**n * second(xp, n, angle, wide), first(xp, n, angle, wide))


def _hermite_h(k: int, x: Any, last: Any, before: Any) -> Any:
    return 2.0 * x * last - 2.0 * k * before


def _hermite_he(k: int, x: Any, last: Any, before: Any) -> Any:
    return x * last - k * before


def _laguerre(k: int, x: Any, last: Any, before: Any) -> Any:
    return ((2 * k + 1 - x) * last - k * before) / (k + 1)


def _legendre(k: int, x: Any, last: Any, before: Any) -> Any:
    return ((2 * k + 1) * x * last - k * before) / (k + 1)


def _by_degrees(xp: Any, x: Any, n: Any, first: Any, step: Callable[..., Any]) -> Any:
    before, last = xp.ones_like(x), first
    found = xp.where(n == 0, before, last)
    top = int(min(n.max(), DEGREES)) if n.size else 0
    for k in range(1, top):
        before, last = last, step(k, x, last, before)
        found = xp.where(n == k + 1, last, found)
    return xp.where(n > DEGREES, math.nan, found)


def _infer(kernel: str) -> Any:
    def infer(input: Any, n: Any) -> Meta:
        meta = broadcast_float(input, n)
        refuse(meta.dtype, kernel, dtypes.float16, dtypes.bfloat16, complex=True)
        return meta

    return infer


def _declare(name: str, values: Callable[[Any, Any, Any], Any], doc: str) -> None:
    def impl(xp: Any, a: Any, b: Any) -> Any:
        x, n = xp.broadcast_arrays(a.astype(xp.float64), b.astype(xp.float64))
        degree = xp.trunc(xp.where(xp.isfinite(n), n, 0.0))
        found = xp.where(degree < 0, 0.0, values(xp, x, xp.maximum(degree, 0.0)))
        return xp.where(xp.isnan(x) | xp.isnan(n), math.nan, found)

    elementwise(
        f"{name}(Tensor|Number input, Tensor|Number n) -> Tensor",
        infer=_infer(f"{name}_cpu"),
        impl=impl,
        namespace="special",
        doc=f"{doc} (torch.special.{name}).",
        raises=False,
        waits=True,
    )


def _shifted(kind: str) -> Callable[[Any, Any, Any], Any]:
    return lambda xp, x, n: _chebyshev(kind, 2.0 * x - 1.0, n, xp)


def _plain(kind: str) -> Callable[[Any, Any, Any], Any]:
    return lambda xp, x, n: _chebyshev(kind, x, n, xp)


for _kind, _which in (("t", "first"), ("u", "second"), ("v", "third"), ("w", "fourth")):
    _declare(f"chebyshev_polynomial_{_kind}", _plain(_kind), f"Chebyshev's polynomial of the {_which} kind")
    _declare(
        f"shifted_chebyshev_polynomial_{_kind}",
        _shifted(_kind),
        f"Chebyshev's polynomial of the {_which} kind at 2 input - 1",
    )
_declare(
    "hermite_polynomial_h",
    lambda xp, x, n: _by_degrees(xp, x, n, 2.0 * x, _hermite_h),
    "The physicists' Hermite polynomial",
)
_declare(
    "hermite_polynomial_he",
    lambda xp, x, n: _by_degrees(xp, x, n, x, _hermite_he),
    "The probabilists' Hermite polynomial",
)
_declare(
    "laguerre_polynomial_l",
    lambda xp, x, n: _by_degrees(xp, x, n, 1.0 - x, _laguerre),
    "Laguerre's polynomial",
)
_declare(
    "legendre_polynomial_p", lambda xp, x, n: _by_degrees(xp, x, n, x, _legendre), "Legendre's polynomial"
)
