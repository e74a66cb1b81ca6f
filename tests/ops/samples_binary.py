"""Samples of functions of two or three tensors, and of results without derivatives."""

from __future__ import annotations

from tests.ops.table import I, S, Sample, T, V

NAN, INF = float("nan"), float("inf")
_PAIR = (V([1.0, NAN, 2.0, 0.5], grad=False), V([1.0, 1.0, NAN, 0.7], grad=False))


def _compared(name: str) -> list[Sample]:
    return [
        S(T(2, 3), T(3)),
        S(T(2, 3), 0.5),
        S(*_PAIR),
        S(I([1, 2, 3]), V([1.0, 2.5, 3.0], grad=False)),
        S(I([1, 2, 3], dtype="uint8"), 2),
    ]


def _logical(name: str) -> list[Sample]:
    return [
        S(T(2, 3), T(3)),
        S(I([0, 1, 2]), I([0, 0, 3])),
        S(V([0.0, 1.0], grad=False), I([1, 0], dtype="bool")),
    ]


def _bits(name: str) -> list[Sample]:
    return [
        S(I([5, 3, -8]), I([3, 1, 2])),
        S(I([5, 3, 8], dtype="uint8"), 2),
        S(I([True, False], dtype="bool"), I([True, True], dtype="bool")),
        S(T(2), T(2)).fails(),
    ]


_TIED = (V([1.0, 2.0, 3.0]), V([1.0, 3.0, 2.0]))


def _extreme(name: str) -> list[Sample]:
    return [S(T(2, 3), T(3)), S(T(3), I([0, 1, 2])), S(*_TIED).kink(), S(V([NAN, 1.0]), V([1.0, NAN])).kink()]


def _divided(name: str) -> list[Sample]:
    return [
        S(V([[7.1, -5.3, 4.4], [-2.6, 0.3, 5.9]]), V([1.1, 2.3, -0.9])),
        S(V([7.1, -5.3, 4.4]), 1.5),
        S(I([7, -7, 5]), I([2, 2, -3])),
        S(V([1.0, -1.0, 0.0], grad=False), V([0.0, 0.0, 0.0], grad=False)).dtypes("float32"),
    ]


SAMPLES = {
    **{name: _compared(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{name: _logical(name) for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: _bits(name) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{
        name: [S(I([1, 3, 8]), I([3, 1, 70])), S(I([1, 3, 8], dtype="int32"), 2), S(T(2), T(2)).fails()]
        for name in ("bitwise_left_shift", "bitwise_right_shift")
    },
    **{name: _extreme(name) for name in ("maximum", "minimum", "fmax", "fmin")},
    "bitwise_not": [S(I([5, -3])), S(I([True, False], dtype="bool")), S(T(2)).fails()],
    "logical_not": [S(T(2, 3)), S(I([0, 1]))],
    **{
        name: [S(T(2, 3)), S(V([0.0, NAN, INF, -INF], grad=False)).dtypes("float32"), S(I([1, 2]))]
        for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit")
    },
    "floor_divide": [s.no_grad() for s in _divided("floor_divide")],
    "remainder": [*_divided("remainder"), S(2.5, T(3, low=0.3)).own_gradient()],
    "fmod": _divided("fmod"),
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
    "atan2": [S(T(2, 3), T(3)), S(V([0.0, 0.0]), V([0.0, 1.0])).kink(), S(I([1, 2]), I([2, 3]))],
    "hypot": [S(T(2, 3, low=0.3), T(3, low=0.3)), S(V([0.0]), V([0.0])).kink()],
    "logaddexp": [
        S(T(2, 3), T(3)).dtypes("float32 bfloat16"),
        S(V([-INF]), V([-INF])).kink().dtypes("float32"),
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
}  # fmt: skip
