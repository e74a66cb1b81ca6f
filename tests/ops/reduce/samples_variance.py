"""Samples of variance and standard deviation."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V


def _spread() -> list[Sample]:
    return [
        S(T(2, 3)).complex_too(),
        S(T(2, 3, 4), 1).complex_too(),
        S(T(2, 3, 4), (0, 2), keepdim=True),
        S(T(2, 3), correction=0),
        S(T(2, 3), False),
        S(T(2, 3), 1, True, True),
        S(T(4), dim=0, unbiased=False),
        S(V([2.0, 2.0])).kink(),
    ]


SAMPLES = {
    "var": [*_spread(), S(I((2, 3), 9)).fails()],
    "std": _spread(),
    "var_mean": [s.no_inplace() for s in _spread()],
    "std_mean": _spread(),
}
