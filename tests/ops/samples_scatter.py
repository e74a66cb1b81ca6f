"""Samples of elements and slices by index, of tables, and of order."""

from __future__ import annotations

from tests.ops.table import I, S, T, V

X = T(3, 4)
UP = I([[0, 1, 2, 0], [2, 2, 1, 1]])
F32 = "float32"
FLOATS = "float32 bfloat16 float16 int64"


MASK = I([True, False, True, True], dtype="bool")
INDICES = I([0, 2, 0])
SPREAD = V([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]])

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
    ],
    "scatter_add": [
        S(X, 0, UP, T(2, 4)).complex_too().dtypes(FLOATS),
        S(X, 1, I([[3, 3], [0, 1]]), T(2, 2)).dtypes(FLOATS),
        S(T(), 0, I(0), T()).dtypes(FLOATS),
    ],
    "take_along_dim": [S(X, UP, 0).complex_too(), S(X, I([0, 5])), S(X, I([[1]]), 1)],
    "index_select": [S(X, 0, INDICES).complex_too(), S(X, -1, I([3])), S(X, 0, I(1)), S(T(), 0, I([0]))],
    "index_add": [
        S(X, 0, INDICES, T(3, 4)).complex_too(),
        S(X, 1, I([0, 0]), T(3, 2), alpha=2),
        S(T(4), 0, I([1, 1]), T(2)),
    ],
    "index_copy": [S(X, 0, I([0, 2]), T(2, 4)).complex_too(), S(X, 1, I([3, 0]), T(3, 2))],
    "index_fill": [S(X, 0, I([0, 2]), 2.5).complex_too(), S(X, 1, I([3, 0]), T())],
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
    "topk": [
        S(SPREAD, 2).no_layouts().dtypes("float32"),
        S(T(3, 4), 2, 0).dtypes("float32"),
        S(T(4), 1, largest=False).dtypes("float32"),
        S(T(), 1),
    ],
    "sort": [
        S(T(3, 4)),
        S(T(3, 4), 0, True),
        S(T(4), stable=True),
        S(T()),
        S(V([1.0, float("nan"), -1.0], grad=False)).dtypes(F32),
    ],
    "argsort": [S(T(3, 4)).no_grad(), S(T(3, 4), 0, True).no_grad()],
    "msort": [S(T(3, 4))],
    "kthvalue": [S(T(3, 4), 2).dtypes("float32"), S(T(3, 4), 1, 0, True).dtypes("float32"), S(T(), 1)],
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
    ],
    "scatter_add": [S(X, 0, UP, T(2, 4, dtype=F32)), S(X, 0, I([0]), X), S(X, 0, I([[0, 1, 0, 0, 0]]), X)],
    "take_along_dim": [S(X, I([0]), 0), S(X, I([[0]], dtype="int32"), 0)],
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
    "masked_fill": [
        S(X, X, 1.0),
        S(X, MASK, T(1)),
        S(X, I([True, False], dtype="bool"), 1.0),
        S(T(4), MASK, 1j),
    ],
    "nn.functional.embedding": [S(I([0, 1]), T(3)), S(T(2, grad=False), X), S(I([0]), X, 7)],
    "nn.functional.one_hot": [S(I([0], dtype="int32"), 2), S(I([], dtype="int64"))],
    "topk": [S(T(4), 9), S(T(4), 1, 3), S(T(4), -1)],
    "sort": [S(T(4), 3)],
    "kthvalue": [S(T(4), 9)],
}

#: calls that raise only where there are values
VALUE_ERRORS = {
    "gather": [S(X, 0, I([[5]])), S(X, 0, I([[-1]]))],
    "scatter": [S(X, 0, I([[9]]), 1.0)],
    "scatter_add": [S(X, 0, I([[9]]), X)],
    "index_select": [S(X, 0, I([0, 5])), S(X, 0, I([-1]))],
    "index_add": [S(X, 0, I([0, 9]), T(2, 4))],
    "index_copy": [S(X, 0, I([0, 9]), T(2, 4))],
    "index_fill": [S(X, 0, I([0, 9]), 1.0)],
    "nn.functional.embedding": [S(I([0, 9]), X)],
    "nn.functional.one_hot": [S(I([0, 2]), 2), S(I([0, -2]), 2)],
}
