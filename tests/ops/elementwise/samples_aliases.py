"""Samples of second names."""

from __future__ import annotations

from gradd_engine.ops.elementwise.aliases import IN_PLACE

from tests.ops.table import I, S, T

_ONE = ["absolute", "negative", "fix", "arcsinh", "arctan"]
_UNIT = ["arcsin", "arccos", "arctanh"]
_TWO = ["multiply", "subtract", "divide", "true_divide", "arctan2"]
_COMPARED = ["greater", "greater_equal", "less", "less_equal", "not_equal"]
_ELSEWHERE = ["nn.functional.sigmoid", "nn.functional.tanh", "special.exp2", "special.expit", "special.expm1"]

#: what they take besides
_MORE: dict[str, tuple[object, ...]] = {
    "clamp_": (0.3, 0.6),
    "clamp_max_": (0.5,),
    "clamp_min_": (0.5,),
    "clip_": (0.3,),
    "ldexp_": (T(2, 3, low=0.2, high=0.8, grad=False),),
    "xlogy_": (2.0,),
    "gcd_": (),
    "lcm_": (),
}
#: a number between 0 and 1, or above 1
_INSIDE, _ABOVE = T(2, 3, low=0.2, high=0.8, grad=False), T(2, 3, low=1.2, high=3.0, grad=False)


def _written(*args: object) -> list:
    return [S(*args).no_grad().dtypes("float32 bfloat16")]


_WHOLE = I((2, 3), 9, low=1)

SAMPLES = {
    **{name: _written(_ABOVE if "cosh" in name else _INSIDE) for name in IN_PLACE if name not in _MORE},
    **{name: _written(_INSIDE, *args) for name, args in _MORE.items() if args},
    "gcd_": [S(_WHOLE, I((2, 3), 9, low=1))],
    "lcm_": [S(_WHOLE, I((2, 3), 9, low=1))],
    **{name: [S(T(2, 3))] for name in [*_ONE, *_ELSEWHERE]},
    **{name: [S(T(2, 3, low=-0.8, high=0.8))] for name in _UNIT},
    **{name: [S(T(2, 3), T(3, low=0.5))] for name in _TWO},
    **{name: [S(T(2, 3), T(3))] for name in _COMPARED},
    "arccosh": [S(T(2, 3, low=1.5, high=3.0))],
    "special.log1p": [S(T(2, 3, low=0.2))],
    "clip": [S(T(2, 3), -0.5, 0.5)],
}
