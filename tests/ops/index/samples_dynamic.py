"""Samples of ops whose result's shape depends on values."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

B = "bool"
M = I([True, False, True, True], dtype=B)

SAMPLES = {
    "nonzero_static": [
        S(I([[1, 0], [1, 1]]), size=2),
        S(I([[1, 0], [1, 1]]), size=5, fill_value=-7),
        S(I(1), size=2),
        S(T(2, 3, grad=False), size=0).no_grad(),
    ],
    "nonzero": [
        S(I([[0, 1], [2, 0]])).dynamic(),
        S(I([0, 0])).dynamic(),
        S(V([1.0, 0.0], grad=False)).dynamic().dtypes(""),
        S(I(1)).dynamic(),
        S(I([[0, 3], [1, 0]]), as_tuple=True).dynamic(),
    ],
    "argwhere": [S(I([[0, 1], [2, 0]])).dynamic()],
    "masked_select": [
        S(T(4, 3), I([True, False, True], dtype=B)).complex_too().dynamic(),
        S(T(4), M).dynamic(),
    ],
    "masked_scatter": [S(T(4, 3), I([True, False, True], dtype=B), T(12)).complex_too(), S(T(4), M, T(4))],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "masked_select": [S(T(3), T(3))],
    "masked_scatter": [S(T(4), M, T(4, dtype="float32"))],
}

#: calls that raise only where there are values
VALUE_ERRORS = {
    "masked_scatter": [S(T(4), M, T(1))],
}
