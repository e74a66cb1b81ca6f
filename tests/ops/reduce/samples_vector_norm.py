"""Samples of vector norms."""

from __future__ import annotations

from gradd_engine.data import dtypes

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")
F64 = dtypes.float64
_ORDERS = (2, 1, 3, 0.5, 1.5, INF, -INF, -1, 0)

SAMPLES = {
    "linalg.vector_norm": [
        *[S(T(2, 3, low=0.2), p) for p in _ORDERS if p != 0],
        S(T(2, 3), 0).no_grad(),
        *[S(T(2, 3, 4), p, (0, 2), keepdim=True).complex_too() for p in (2, 1, 3, 1.5, INF)],
        *[S(V([0.0, 0.0]), p).kink().dtypes("float32") for p in (2, 1, 3, 0.5, INF)],
        S(V([0.0, 2.0, -2.0]), INF).kink(),
        S(T(2, 3, dtype="float32"), dtype=F64),
        S(I((2, 3), 9)).fails(),
        S(T(0), INF).fails(),
    ],
}
