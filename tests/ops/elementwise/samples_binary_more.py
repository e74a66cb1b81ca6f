"""Samples of angles, logarithms and products of two or three tensors."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")

SAMPLES = {
    "atan2": [S(T(2, 3), T(3)), S(V([0.0, 0.0]), V([0.0, 1.0])).kink(), S(I([1, 2]), I([2, 3]))],
    "hypot": [S(T(2, 3, low=0.3), T(3, low=0.3)), S(V([0.0]), V([0.0])).kink()],
    "logaddexp": [
        S(T(2, 3), T(3)).dtypes("float32 bfloat16"),
        S(V([-INF]), V([-INF])).kink().dtypes("float32"),
        S(T(2, 3, dtype="complex128"), T(3, dtype="complex128")).dtypes(""),
    ],
    "logaddexp2": [S(T(2, 3), T(3)).dtypes("float32")],
    "xlogy": [
        S(T(2, 3), T(3, low=0.3)),
        S(T(3), 2.5),
        S(1.5, T(3, low=0.3)),
        S(V([0.0, 0.0]), V([0.0, NAN])).kink(),
    ],
    "copysign": [S(T(2, 3, low=0.3), T(3)), S(T(3, low=0.3), -1.0)],
    "lerp": [
        S(T(2, 3), T(2, 3), 0.3).complex_too(),
        S(T(2, 3), T(2, 3), 0.8),
        S(T(2, 3), T(3), T(2, 1, low=0.6)).complex_too(),
        S(T(2), T(2, dtype="float32"), 0.3).fails(),
    ],
    "addcmul": [
        S(T(2, 3), T(2, 3), T(3)).complex_too(),
        S(T(2), T(2), T(2), value=2),
        S(T(2, 1), T(3), T(3)),
    ],
    "addcdiv": [
        S(T(2, 3), T(2, 3), T(3, low=0.5)).complex_too(),
        S(T(2), T(2), T(2, low=0.5), value=2),
        S(T(2), I([1, 2]), I([1, 2])).fails(),
    ],
}
