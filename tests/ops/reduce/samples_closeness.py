"""Samples of equality and nearness of whole tensors."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

NAN, INF = float("nan"), float("inf")
_SOME = (V([1.0, 2.0, NAN, INF], grad=False), V([1.0, 2.1, NAN, INF], grad=False))

SAMPLES = {
    "isclose": [
        S(T(2, 3, grad=False), T(3, grad=False)),
        S(*_SOME).dtypes("float32"),
        S(*_SOME, 0.1, 0.0, True).dtypes("float32"),
        S(I([1, 2]), I([1, 3])),
        S(T(2), T(2, dtype="float32")).fails(),
        S(T(2), T(2), -1.0).fails(),
    ],
    "allclose": [
        S(T(2, 3, grad=False), T(2, 3, grad=False)).no_meta(),
        S(*_SOME, 0.1, 0.0, True).dtypes("float32").no_meta(),
    ],
    "equal": [
        S(I([1, 2]), I([1, 2])).no_meta(),
        S(I([1, 2]), I([1, 3])).no_meta(),
        S(I([1, 2]), I([1, 2, 3])).no_meta(),
    ],
}
