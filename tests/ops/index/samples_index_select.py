"""Samples of whole slices by a vector of indices."""

from __future__ import annotations

from tests.ops.table import I, S, T

X = T(3, 4)
F32 = "float32"
INDICES = I([0, 2, 0])

SAMPLES = {
    "index_select": [S(X, 0, INDICES).complex_too(), S(X, -1, I([3])), S(X, 0, I(1)), S(T(), 0, I([0]))],
    "index_add": [
        S(X, 0, INDICES, T(3, 4)).complex_too(),
        S(X, 1, I([0, 0]), T(3, 2), alpha=2),
        S(I((2, 3), 9, dtype="uint8"), 0, I([0, 1]), I((2, 3), 9, dtype="uint8"), alpha=-1),
        S(T(4), 0, I([1, 1]), T(2)),
    ],
    "index_copy": [S(X, 0, I([0, 2]), T(2, 4)).complex_too(), S(X, 1, I([3, 0]), T(3, 2))],
    "index_fill": [S(X, 0, I([0, 2]), 2.5).complex_too(), S(X, 1, I([3, 0]), T())],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "index_select": [S(X, 0, I([[0]])), S(X, 0, I([0], dtype="int16")), S(X, 2, I([0]))],
    "index_add": [
        S(X, 0, I([0]), T(2, 4)),
        S(X, 0, I([0, 1]), T(2, 3)),
        S(X, 0, I([0, 1]), T(2, 4, dtype=F32)),
        S(X, 0, I([[0, 1], [2, 0]]), T(2, 2)),
        S(X, 0, I([0, 1], dtype=F32), T(2, 4)),
    ],
    "index_copy": [
        S(X, 0, I([0, 1]), T(2, 4, dtype=F32)),
        S(X, 0, I([0]), T(2, 4)),
        S(X, 0, I([0], dtype=F32), T(1, 4)),
        S(X, 0, I([0]), T(1)),
        S(X, 0, I([0]), T(1, 3)),
        S(X, 0, I([[0]]), T(1, 4)),
    ],
    "index_fill": [S(X, 0, I([[0]]), 1.0), S(X, 0, I([0]), T(1)), S(X, 0, I([0], dtype=F32), 1.0)],
}

#: calls that raise only where there are values
VALUE_ERRORS = {
    "index_select": [S(X, 0, I([0, 5])), S(X, 0, I([-1]))],
    "index_add": [S(X, 0, I([0, 9]), T(2, 4))],
    "index_copy": [S(X, 0, I([0, 9]), T(2, 4))],
    "index_fill": [S(X, 0, I([0, 9]), 1.0)],
}
