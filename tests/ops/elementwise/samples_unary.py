"""Samples of functions of one tensor, element by element."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V

_POSITIVE = {"low": 0.3, "high": 2.0}
_UNIT = {"low": -0.8, "high": 0.8}
_ANYWHERE = ["exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asinh", "sigmoid"]


def _usual(**bounds: float) -> list[Sample]:
    return [S(T(2, 3, **bounds)).complex_too(), S(T(**bounds)), S(I([1, 2, 0]))]  # type: ignore[arg-type]


NAN, INF = float("nan"), float("inf")

SAMPLES = {
    **{name: _usual() for name in _ANYWHERE},
    **{name: _usual(**_POSITIVE) for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")},
    **{name: _usual(**_UNIT) for name in ("asin", "acos", "atanh")},
    "acosh": _usual(low=1.3, high=3.0),
    "reciprocal": _usual(low=0.5, high=2.0),
    "square": [*_usual(), S(V([0.0, -0.0]))],
    "abs": [*_usual(), S(V([0.0, -0.0])).kink()],
    "sgn": [S(T(2, 3)).complex_too().no_graph(), S(I([1, -2, 0]))],
    "sign": [S(T(2, 3)), S(V([0.0, float("nan"), -3.0], grad=False))],
    "deg2rad": [S(T(2, 3)), S(I([1, 2]))],
    "rad2deg": [S(T(2, 3)), S(I([1, 2]))],
    "nan_to_num": [
        S(T(2, 3)),
        S(V([float("nan"), float("inf"), -float("inf")], grad=False)),
        S(V([float("nan"), float("inf"), -float("inf")], grad=False), 1.0, posinf=2.0, neginf=-3.0),
    ],
    "logit": [S(T(2, 3, low=0.1, high=0.9)), S(T(4, low=-0.5, high=1.5), 0.2)],
    "angle": [S(T(2, 3)).complex_too(), S(I([1, -2])), S(V([0.0, NAN], grad=False)).dtypes("float32")],
    "sinc": [S(T(2, 3, low=0.1)).complex_too(), S(I([1, 0])), S(V([0.0, 0.5])).kink()],
}
