"""Samples of norms of differences, and of slices held to a bound."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")

SAMPLES = {
    "dist": [
        *(S(T(2, 3), T(3), p) for p in (2, 1, 3.0, INF, 1.5)),
        S(T(2, 3), T(3), 0).no_grad(),
        S(T(2, 3), T(2, 3)).complex_too(),
        S(V([0.0, 1.0]), V([0.0, 1.0])).kink().dtypes("float32"),
        S(I([1, 2]), I([1, 3])).fails(),
    ],
    "renorm": [
        *(S(T(3, 4), p, 0, 0.9).tol(1e-5) for p in (2, 1, 3.0)),
        S(T(3, 4), 2, -1, 1.5).complex_too(),
        S(T(2, 3, 2), 2, 1, 1.0),
        S(T(3, 4), 2, 0, -1.0).fails(),
        S(T(3), 2, 0, 1.0).fails(),
        S(T(3, 4), 0, 0, 1.0).fails(),
    ],
}
