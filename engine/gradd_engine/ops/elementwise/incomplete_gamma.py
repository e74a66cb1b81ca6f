"""The regularized incomplete gamma functions, always computed in double precision.

Below a + 1 by the power series, above by the continued fraction, and for large arguments near each other by
the leading terms of Temme's uniform expansion. Source: https://dlmf.nist.gov/8.11, 8.9, 8.12.
"""

from __future__ import annotations

import math
from typing import Any

from ...data import Meta
from ...declare import elementwise, public
from ...kernels import gauss
from ...schema import Op
from ...tensor import Tensor
from ..shared import broadcast, refuse
from .gamma import lgamma, lgamma_array
from .unary import exp, log

#: terms of series and fractions; from `_LARGE` on, the uniform expansion
_TERMS, _LARGE = 400, 2000.0


def _front(xp: Any, a: Any, x: Any) -> Any:
    """x**a exp(-x) / gamma(a + 1)."""
    return xp.exp(a * xp.log(x) - x - lgamma_array(xp, a + 1.0))


def _series(xp: Any, a: Any, x: Any) -> Any:
    term = total = xp.ones_like(x)
    for k in range(1, _TERMS):
        term = term * x / (a + k)
        total = total + term
        if not bool(xp.any(term > 1e-17 * total)):
            break
    return total * _front(xp, a, x)


def _fraction(xp: Any, a: Any, x: Any) -> Any:
    """The upper function, by Lentz's method."""
    b = x + 1.0 - a
    c = xp.full_like(x, 1e300)
    d = 1.0 / b
    h = d
    for k in range(1, _TERMS):
        n = k * (a - k)
        b = b + 2.0
        d = 1.0 / _away(xp, n * d + b)
        c = _away(xp, b + n / c)
        h = h * d * c
        if not bool(xp.any(xp.abs(d * c - 1.0) > 1e-16)):
            break
    return h * _front(xp, a, x) * a


def _away(xp: Any, x: Any) -> Any:
    return xp.where(xp.abs(x) < 1e-300, 1e-300, x)


def _uniform(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """The lower and the upper function for a large `a`."""
    m = (x - a) / a
    half = xp.maximum(m - xp.log1p(m), 0.0)
    eta = xp.copysign(xp.sqrt(2.0 * half), m)
    near = xp.abs(eta) < 1e-2
    safe = xp.where(near, 1.0, eta)
    # 1/m - 1/eta, which cancels near 0
    first = xp.where(
        near, -1.0 / 3.0 + eta / 12.0 - 2.0 * eta**2 / 135.0, 1.0 / xp.where(near, 1.0, m) - 1.0 / safe
    )
    second = xp.where(
        near,
        -1.0 / 540.0 - eta / 288.0,
        1.0 / safe**3
        - 1.0 / xp.where(near, 1.0, m) ** 3
        - 1.0 / xp.where(near, 1.0, m) ** 2
        - 1.0 / (12.0 * xp.where(near, 1.0, m)),
    )
    rest = xp.exp(-a * half) / xp.sqrt(2.0 * math.pi * a) * (first + second / a)
    z = eta * xp.sqrt(a / 2.0)
    return 0.5 * gauss.erfc(xp, -z) - rest, 0.5 * gauss.erfc(xp, z) + rest


def _both(xp: Any, first: Any, second: Any) -> tuple[Any, Any]:
    a, x = xp.broadcast_arrays(first.astype(xp.float64), second.astype(xp.float64))
    shape = a.shape
    a, x = a.reshape(-1), x.reshape(-1)
    good = (a > 0) & (x > 0) & xp.isfinite(a) & xp.isfinite(x)
    a1, x1 = xp.where(good, a, 1.0), xp.where(good, x, 1.0)
    large = (a1 > _LARGE) & (xp.abs(x1 - a1) < 0.5 * a1)
    low = x1 < a1 + 1.0
    lower = _series(xp, xp.where(low & ~large, a1, 1.0), xp.where(low & ~large, x1, 0.5))
    upper = _fraction(xp, xp.where(low | large, 1.0, a1), xp.where(low | large, 3.0, x1))
    p, q = xp.where(low, lower, 1.0 - upper), xp.where(low, 1.0 - lower, upper)
    far = _uniform(xp, xp.where(large, a1, 1e4), xp.where(large, x1, 1e4))
    p, q = xp.where(large, far[0], p), xp.where(large, far[1], q)
    edge = xp.where((x == 0) & (a > 0), 0.0, math.nan)
    edge = xp.where((a == 0) & (x > 0), 1.0, edge)
    edge = xp.where(xp.isinf(x) & (x > 0) & (a >= 0) & xp.isfinite(a), 1.0, edge)
    edge = xp.where(xp.isinf(a) & (a > 0) & (x >= 0) & xp.isfinite(x), 0.0, edge)
    p, q = xp.where(good, p, edge), xp.where(good, q, 1.0 - edge)
    return p.reshape(shape), q.reshape(shape)


def _infer(kernel: str) -> Any:
    def infer(input: Tensor, other: Tensor) -> Meta:
        meta = broadcast(input, other)
        refuse(meta.dtype, kernel, complex=True, integer=True)
        return meta

    return infer


def _density(input: Any, other: Any) -> Any:
    return exp((input - 1) * log(other) - other - lgamma(input))


def _not_there(name: str) -> Any:
    raise NotImplementedError(f"the derivative for '{name}: input' is not implemented.")


igamma: Op = elementwise(
    "igamma(Tensor input, Tensor other) -> Tensor",
    infer=_infer("igamma_cpu"),
    impl=lambda xp, a, x: _both(xp, a, x)[0],
    vjp=(lambda g: _not_there("igamma"), lambda g, input, other: g * _density(input, other)),
    method=True,
    inplace=True,
    doc="The regularized lower incomplete gamma function (torch.igamma).",
    raises=False,
    waits=True,
)
igammac: Op = elementwise(
    "igammac(Tensor input, Tensor other) -> Tensor",
    infer=_infer("igammac_cpu"),
    impl=lambda xp, a, x: _both(xp, a, x)[1],
    vjp=(lambda g: _not_there("igammac"), lambda g, input, other: -(g * _density(input, other))),
    method=True,
    inplace=True,
    doc="The regularized upper incomplete gamma function (torch.igammac).",
    raises=False,
    waits=True,
)
public("special", name="gammainc")(igamma.call)
public("special", name="gammaincc")(igammac.call)
