"""Samples of modified Bessel functions."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")
_EDGES = V([0.0, -0.0, INF, -INF, NAN], grad=False)

SAMPLES = {
    **{
        name: [
            S(T(2, 3, low=-4.0, high=4.0)),
            S(V([-30.0, -11.0, 11.0, 24.9, 25.1, 60.0])).no_second(),
            S(_EDGES).dtypes("float32"),
            S(I([1, 0, -2])),
        ]
        for name in ("special.i0e", "special.i1e")
    },
    **{
        name: [
            S(T(2, 3, low=-4.0, high=4.0)),
            S(V([-20.0, 3.0, 24.0, 27.0])).no_grad().dtypes("float32"),
            S(_EDGES).dtypes("float32"),
            S(I([1, 0, -2])),
        ]
        for name in ("special.i0", "special.i1")
    },
}
