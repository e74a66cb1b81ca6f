"""Samples of second names."""

from __future__ import annotations

from tests.ops.table import S, T

_ONE = ["absolute", "negative", "fix", "arcsinh", "arctan"]
_UNIT = ["arcsin", "arccos", "arctanh"]
_TWO = ["multiply", "subtract", "divide", "true_divide", "arctan2"]
_COMPARED = ["greater", "greater_equal", "less", "less_equal", "not_equal"]
_ELSEWHERE = ["nn.functional.sigmoid", "nn.functional.tanh", "special.exp2", "special.expit", "special.expm1"]

SAMPLES = {
    **{name: [S(T(2, 3))] for name in [*_ONE, *_ELSEWHERE]},
    **{name: [S(T(2, 3, low=-0.8, high=0.8))] for name in _UNIT},
    **{name: [S(T(2, 3), T(3, low=0.5))] for name in _TWO},
    **{name: [S(T(2, 3), T(3))] for name in _COMPARED},
    "arccosh": [S(T(2, 3, low=1.5, high=3.0))],
    "special.log1p": [S(T(2, 3, low=0.2))],
    "clip": [S(T(2, 3), -0.5, 0.5)],
}
