"""Samples of masks that fill, rows of a table, and classes as vectors."""

from __future__ import annotations

from tests.ops.table import I, S, T

X = T(3, 4)
FLOATS = "float32 bfloat16 float16 int64"
MASK = I([True, False, True, True], dtype="bool")

SAMPLES = {
    "masked_fill": [
        S(X, MASK, 2.5).complex_too(),
        S(X, MASK, T()),
        S(T(4), I([[True, False, True, False]] * 3, dtype="bool"), 1.0),
    ],
    "nn.functional.embedding": [
        S(I([0, 2, 0]), X).dtypes(FLOATS),
        S(I([[0, 2], [2, 2]]), X, 1).dtypes(FLOATS),
        S(I([0, 1, 0]), X, -1).dtypes(FLOATS),
        S(I([0, 1]), X, scale_grad_by_freq=True).no_second(),
    ],
    "nn.functional.one_hot": [S(I([0, 2]), 3), S(I([[0], [1]]), 2), S(I(1), 3), S(I([0, 2])).dynamic()],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "masked_fill": [
        S(X, X, 1.0),
        S(X, MASK, T(1)),
        S(X, I([True, False], dtype="bool"), 1.0),
        S(T(4), MASK, 1j),
    ],
    "nn.functional.embedding": [S(I([0, 1]), T(3)), S(T(2, grad=False), X), S(I([0]), X, 7)],
    "nn.functional.one_hot": [S(I([0], dtype="int32"), 2), S(I([], dtype="int64"))],
}

#: calls that raise only where there are values
VALUE_ERRORS = {
    "nn.functional.embedding": [S(I([0, 9]), X)],
    "nn.functional.one_hot": [S(I([0, 2]), 2), S(I([0, -2]), 2)],
}
