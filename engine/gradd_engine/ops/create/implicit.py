"""How draws from gamma and Dirichlet distributions change with their parameters.

A draw x whose distribution function F(x; a) is held fixed moves by dx/da = -(dF/da) / F'(x): Figurnov et al.,
"Implicit reparameterization gradients" (2018). dF/da is the integral, up to x, of the density times the
derivative of its logarithm, or with the other sign the integral from x on. That side is taken on which the
integrand falls from x on; its scale may be anything. The substitution z = exp(pi/2 sinh u) makes all scales
alike (Takahasi and Mori, "Double exponential formulas for numerical integration", 1974).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import rng
from ...declare import elementwise
from ..elementwise import digamma
from ..shared import broadcast_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...schema import Op

_NODES = 96
_U = np.linspace(-3.4, 3.4, _NODES)
#: places and weights of an integral from 0 to infinity; relative errors stay below 1e-4
_Z = np.exp(math.pi / 2 * np.sinh(_U))
_W = (_U[1] - _U[0]) * _Z * math.pi / 2 * np.cosh(_U)
#: elements at once: each takes `_NODES` numbers
_BLOCK = 2048


def _in_blocks(xp: Any, fn: Callable[..., Any], *arrays: Any) -> Any:
    """``fn(z, w, *columns)`` of double precision, for a block of elements at a time."""
    wide = xp.broadcast_arrays(*(xp.asarray(a).astype(xp.float64) for a in arrays))
    flat = [a.reshape(-1, 1) for a in wide]
    step = _BLOCK if xp is np else rng.ON_GPU // _NODES
    z, w, found = xp.asarray(_Z), xp.asarray(_W), xp.empty(flat[0].shape[0], xp.float64)
    for first in range(0, found.size, step):
        found[first : first + step] = fn(z, w, *(a[first : first + step] for a in flat))
    return found.reshape(wide[0].shape)


def _gamma(xp: Any, a: Any, x: Any) -> Any:
    def slope(z: Any, w: Any, a: Any, x: Any) -> Any:
        middle = digamma.impl(xp, a)
        # below x at t = x exp(-z / a), above it at t = x + z
        below = -x / a * xp.exp(-z - x * xp.expm1(-z / a)) * (xp.log(x) - z / a - middle)
        above = xp.exp((a - 1) * xp.log1p(z / x) - z) * (xp.log(x + z) - middle)
        return xp.where(x <= a, below, above) @ w

    return _in_blocks(xp, slope, a, x)


def _dirichlet(xp: Any, x: Any, a: Any, total: Any) -> Any:
    def slope(z: Any, w: Any, x: Any, a: Any, total: Any) -> Any:
        b = total - a
        left = x <= a / total
        # the side: where it ends, the exponents there and on the other side
        end, near, far = xp.where(left, x, 1 - x), xp.where(left, a, b), xp.where(left, b, a)
        t = end * xp.exp(-z / near)
        density = xp.exp(-z + (far - 1) * (xp.log1p(-t) - xp.log1p(-end)))
        logarithm = xp.where(left, xp.log(end) - z / near, xp.log1p(-t))
        found = (density * (logarithm - (digamma.impl(xp, a) - digamma.impl(xp, total)))) @ w
        return xp.where(left, -x / (a * (1 - x)), 1 / b)[:, 0] * found

    return _in_blocks(xp, slope, x, a, total)


def _refusal(name: str) -> Callable[[dict[str, Any]], Exception]:
    return lambda attrs: NotImplementedError(f"the derivative for '{name}' is not implemented.")


standard_gamma_grad: Op = elementwise(
    "_standard_gamma_grad(Tensor input, Tensor output) -> Tensor",
    infer=broadcast_float,
    impl=_gamma,
    refuses=_refusal("_standard_gamma_grad"),
    namespace="-",
    outside=True,
    doc="How a draw `output` from the gamma distribution of concentration `input` changes with it.",
    raises=False,
)
dirichlet_grad: Op = elementwise(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    infer=broadcast_float,
    impl=_dirichlet,
    refuses=_refusal("_dirichlet_grad"),
    namespace="-",
    outside=True,
    doc="How a draw `x` from the beta distribution of `alpha` and `total` - `alpha` changes with `alpha`, "
    "divided by 1 - x.",
    raises=False,
)
