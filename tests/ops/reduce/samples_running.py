"""Samples of running extremes and running logarithms of sums."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")

SAMPLES = {
    **{
        name: [
            S(T(2, 5), 1),
            S(T(2, 3, 2), 0),
            S(T(), 0).dtypes("float32 int64"),
            S(T(0, 3), 0).dtypes("float32"),
            S(V([1.0, NAN, 3.0, NAN, 2.0]), 0).kink().dtypes("float32"),
            S(V([2.0, 1.0, 1.0, 2.0, 2.0]), 0).kink().dtypes("float32 int64"),
            S(V([True, False], "bool", False), 0),
            S(T(2, 3), 2).fails(),
        ]
        for name in ("cummax", "cummin")
    },
    "logcumsumexp": [
        S(T(2, 4), 1).complex_too(),
        S(T(3, 2), 0),
        S(T(), 0),
        S(V([1000.0, -1000.0, 1001.0]), 0).no_grad(),
        S(V([-INF, 0.0, INF], grad=False), 0).dtypes("float32"),
        S(I([1, 2]), 0).fails(),
    ],
}
