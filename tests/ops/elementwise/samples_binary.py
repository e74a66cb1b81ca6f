"""Samples of powers, bounds, extremes, selection and interpolation."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V

NAN, INF = float("nan"), float("inf")
_TIED = (V([1.0, 2.0, 3.0]), V([1.0, 3.0, 2.0]))


def _extreme(name: str) -> list[Sample]:
    return [S(T(2, 3), T(3)), S(T(3), I([0, 1, 2])), S(*_TIED).kink(), S(V([NAN, 1.0]), V([1.0, NAN])).kink()]


SAMPLES = {
    **{name: _extreme(name) for name in ("maximum", "minimum", "fmax", "fmin")},
    "where": [
        S(I([[True, False, True]], dtype="bool"), T(2, 3), T(3)).complex_too(),
        S(I([True, False], dtype="bool"), T(2), 1.5),
        S(I([True, False], dtype="bool"), 2, T(2)),
        S(I([True, False], dtype="bool"), T(2), I([1, 2])),
        S(T(2), T(2), T(2)).fails(),
    ],
    "pow": [
        S(T(2, 3), 2).complex_too(),
        S(T(2, 3, low=0.3), 0.5).complex_too(),
        S(T(2, 3), 3),
        S(T(2, 3), 0),
        S(T(2, 3), 1),
        S(T(2, 3, low=0.3), -1.5),
        S(I([1, 2, 3]), 2),
        S(I([1, 2, 3]), -1).fails(),
        S(I([1, 2, 3]), 0.5),
        S(I([2, 3, -1]), I([3, 0, 2])),
        S(T(2, 3, low=0.3), T(3)).complex_too(),
        S(2.5, T(2, 3)).complex_too(),
        S(2, I([3, 0, 2])),
        S(V([0.0, 0.0, 0.0]), V([0.0, 2.0, -1.0])).kink().dtypes("float32 bfloat16"),
        S(0.0, V([0.0, 2.0])).kink().dtypes("float32 bfloat16"),
        S(V([True, False], "bool", False), True).dtypes(""),
        S(V([True, False], "bool", False), False).dtypes(""),
    ],
    "float_power": [S(T(2, 3, low=0.3), 2), S(T(3, low=0.3), T(3)), S(2.5, T(3)), S(I([1, 2]), 2)],
    "clamp": [
        S(T(2, 3), -0.5, 0.5),
        S(T(2, 3), min=0.1),
        S(T(2, 3), max=0.1),
        S(T(2, 3), T(3, low=-0.9, high=-0.1), T(3, low=0.1, high=0.9)),
        S(T(2, 3), max=T(2, 3)),
        S(T(2, 3), T(2, 3)),
        S(V([-0.5, 0.5, NAN, 0.1, 2.0]), -0.5, 0.5).kink(),
        S(V([0.5, 2.0]), 1.0, 0.0).kink(),
        S(I([1, 5, 9]), 2, 6),
        S(I([1, 5, 9]), 2.5),
        S(T(2)).fails(),
    ],
    "clamp_min": [S(T(2, 3), 0.1), S(T(2, 3), T(3)), S(*_TIED).kink(), S(I([1, 5]), 2)],
    "clamp_max": [S(T(2, 3), 0.1), S(T(2, 3), T(3)), S(*_TIED).kink(), S(I([1, 5]), 2)],
}
