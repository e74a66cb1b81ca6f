"""Samples of extremes, where they are, and truth over dimensions."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V

NAN, INF = float("nan"), float("inf")


def _ends() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T(2, 3, 4), 1),
        S(T(2, 3, 4), (0, 2), keepdim=True),
        S(T(), 0),
        S(V([1.0, 3.0, 3.0, 1.0, 1.0])).kink(),
        S(T(2, 0), 1).fails(),
    ]


def _chosen() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T()),
        S(T(2, 3, 4), 1),
        S(T(2, 3), -1, True),
        S(T(2, 3), dim=0, keepdim=True),
        S(T(), 0),
        S(V([1.0, 3.0, 3.0, 1.0, 1.0])).kink(),
        S(V([[1.0, 3.0, 3.0], [1.0, 1.0, 1.0]]), 1).kink().dtypes("float32"),
        S(V([1.0, NAN, NAN])).kink().dtypes("float32"),
        S(T(2, 3), T(3)),
        S(I((2, 3), 9), 1),
        S(T(2, 0)).fails(),
        S(T(2, 0), 1).fails(),
        S(T(2, 3), 3).fails(),
    ]


def _indexed() -> list[Sample]:
    return [
        S(T(2, 3)),
        S(T(2, 3), 1),
        S(T(2, 3, 4), dim=1, keepdim=True),
        S(I((2, 3), 9), 0),
        S(T()),
        S(T(0)).fails(),
    ]


def _true() -> list[Sample]:
    some = I([[True, False, True], [True, True, True]], dtype="bool")
    return [
        S(some),
        S(some, 1),
        S(some, 0, True),
        S(T(2, 3)),
        S(I((2, 3), 2, dtype="uint8"), 1),
        S(I((2, 0), 2), 1),
    ]


SAMPLES = {
    "amax": _ends(),
    "amin": _ends(),
    "max": _chosen(),
    "min": _chosen(),
    "aminmax": [
        S(T(2, 3)),
        S(T(2, 3, 4), dim=1),
        S(T(2, 3), dim=-1, keepdim=True),
        S(V([1.0, 1.0, 2.0])).kink(),
    ],
    "argmax": _indexed(),
    "argmin": _indexed(),
    "all": _true(),
    "any": _true(),
    "count_nonzero": [S(I((2, 3), 2)), S(T(2, 3), 1), S(I((2, 3), 2), (0, 1))],
}
