"""Samples of how draws change with their parameters."""

from __future__ import annotations

from tests.ops.table import S, T, V

_DRAWN = V([0.1, 0.9, 2.5, 30.0, 1e-3], grad=False)
_BETWEEN = V([0.1, 0.9, 0.5, 0.999, 1e-3], grad=False)

SAMPLES = {
    "_standard_gamma_grad": [
        S(V([0.3, 2.0, 2.5, 20.0, 0.2], grad=False), _DRAWN)
        .dtypes()
        .tol(1e-3)
        .torch(lambda torch, a, x: torch._standard_gamma_grad(a, x)),
        S(T(2, 1, low=0.5, grad=False), T(3, low=0.5, grad=False))
        .dtypes()
        .tol(1e-3)
        .torch(lambda torch, a, x: torch._standard_gamma_grad(a.expand(2, 3), x.expand(2, 3))),
    ],
    "_dirichlet_grad": [
        S(_BETWEEN, V([0.3, 2.0, 2.5, 20.0, 0.2], grad=False), V([1.0, 2.5, 20.0, 21.0, 0.6], grad=False))
        .dtypes()
        .tol(3e-3)
        .torch(lambda torch, x, a, total: torch._dirichlet_grad(x, a, total)),
    ],
}
