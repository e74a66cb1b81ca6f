"""Samples of medians."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V

NAN, INF = float("nan"), float("inf")


def _middle() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T(7)),
        S(T(2, 3, 4), 1),
        S(T(2, 4), -1, True),
        S(T(), 0),
        S(V([1.0, 2.0, 2.0, 3.0])).kink(),
        S(V([1.0, NAN, 3.0])).kink().dtypes("float32"),
        S(V([[1.0, NAN, 3.0], [2.0, 4.0, 1.0]]), 1).kink().dtypes("float32"),
        S(I((2, 5), 9), 1),
        S(T(2, 0), 1).fails(),
    ]


SAMPLES = {
    "median": _middle(),
    "nanmedian": _middle(),
}
