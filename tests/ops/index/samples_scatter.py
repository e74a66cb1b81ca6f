"""Samples of elements along one dimension, each by an index of its own."""

from __future__ import annotations

from tests.ops.table import I, S, T

X = T(3, 4)
UP = I([[0, 1, 2, 0], [2, 2, 1, 1]])
F32 = "float32"
FLOATS = "float32 bfloat16 float16 int64"

SAMPLES = {
    "gather": [
        S(X, 0, UP).complex_too(),
        S(X, 1, UP),
        S(X, -1, I([[3], [0], [1]])),
        S(T(), 0, I(0)),
        S(T(3), 0, I([2, 2])),
    ],
    "scatter": [
        S(X, 0, I([[0, 1, 2, 0]]), T(1, 4)).complex_too(),
        S(X, 1, I([[3], [0], [1]]), T(3, 1)),
        S(X, 0, I([[0, 1], [2, 0]]), T(2, 2)),
        S(X, 0, UP, 2.5),
        S(T(), 0, I(0), T()),
        S(T(3, 4, grad=False), 0, UP, T(2, 4, grad=False), reduce="add").dtypes(FLOATS),
        S(T(3, 4, grad=False), 0, UP, 2.5, reduce="multiply").dtypes(FLOATS),
        S(T(3, 4, grad=False), 0, UP, value=2.5, reduce="add").dtypes(FLOATS),
    ],
    "scatter_add": [
        S(X, 0, UP, T(2, 4)).complex_too().dtypes(FLOATS),
        S(X, 1, I([[3, 3], [0, 1]]), T(2, 2)).dtypes(FLOATS),
        S(T(), 0, I(0), T()).dtypes(FLOATS),
    ],
    "take_along_dim": [S(X, UP, 0).complex_too(), S(X, I([0, 5])), S(X, I([[1]]), 1)],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "gather": [
        S(X, 0, I([0])),
        S(X, 1, I([[0.0]], dtype="float32")),
        S(X, 0, I([[0, 0, 0, 0, 0]])),
        S(X, 3, UP),
    ],
    "scatter": [
        S(X, 0, UP, T(2, 4, dtype=F32)),
        S(X, 0, I([0]), X),
        S(X, 0, I([[0, 1], [0, 0]]), T(1, 1)),
        S(X, 0, I([[0.0]], dtype=F32), X),
        S(T(3, 4, grad=False), 0, UP, 2.5, reduce="sum"),
    ],
    "scatter_add": [S(X, 0, UP, T(2, 4, dtype=F32)), S(X, 0, I([0]), X), S(X, 0, I([[0, 1, 0, 0, 0]]), X)],
    "take_along_dim": [S(X, I([0]), 0), S(X, I([[0]], dtype="int32"), 0)],
}

#: calls that raise only where there are values
VALUE_ERRORS = {
    "gather": [S(X, 0, I([[5]])), S(X, 0, I([[-1]]))],
    "scatter": [S(X, 0, I([[9]]), 1.0)],
    "scatter_add": [S(X, 0, I([[9]]), X)],
}
