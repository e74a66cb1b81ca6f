"""Samples of rounding, and of division with a whole quotient or a remainder."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V


def _divided(name: str) -> list[Sample]:
    return [
        S(V([[7.1, -5.3, 4.4], [-2.6, 0.3, 5.9]]), V([1.1, 2.3, -0.9])),
        S(V([7.1, -5.3, 4.4]), 1.5),
        S(I([7, -7, 5]), I([2, 2, -3])),
        S(V([1.0, -1.0, 0.0], grad=False), V([0.0, 0.0, 0.0], grad=False)).dtypes("float32"),
    ]


SAMPLES = {
    "floor_divide": [s.no_grad() for s in _divided("floor_divide")],
    "remainder": [*_divided("remainder"), S(2.5, T(3, low=0.3)).own_gradient()],
    "fmod": _divided("fmod"),
    "floor": [S(T(2, 3)), S(I([1, 2]))],
    "ceil": [S(T(2, 3)), S(I([1, 2]))],
    "trunc": [S(T(2, 3)), S(I([1, 2]))],
    "frac": [S(T(2, 3, low=-3.5, high=3.5)), S(I([1, 2])).fails()],
    "round": [
        S(T(2, 3)),
        S(V([0.5, 1.5, -0.5, 2.5], grad=False)),
        S(T(2, 3), decimals=1).dtypes("float32"),
        S(T(2, 3, low=-99.0, high=99.0), decimals=-1).dtypes("float32"),
    ],
}
