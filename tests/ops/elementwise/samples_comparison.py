"""Samples of comparisons, predicates, logic and bits."""

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


SAMPLES = {
    **{name: _compared(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{name: _logical(name) for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: _bits(name) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{
        name: [S(I([1, 3, 8]), I([3, 1, 70])), S(I([1, 3, 8], dtype="int32"), 2), S(T(2), T(2)).fails()]
        for name in ("bitwise_left_shift", "bitwise_right_shift")
    },
    "bitwise_not": [S(I([5, -3])), S(I([True, False], dtype="bool")), S(T(2)).fails()],
    "logical_not": [S(T(2, 3)), S(I([0, 1]))],
    **{
        name: [S(T(2, 3)), S(V([0.0, NAN, INF, -INF], grad=False)).dtypes("float32"), S(I([1, 2]))]
        for name in ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit")
    },
}
