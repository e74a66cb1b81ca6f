"""Samples of diagonals and triangles, and windows over a dimension."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "Tensor.unfold": [
        S(T(6, 2), 0, 3, 2).complex_too(),
        S(T(6, 2), 0, 2, 1),
        S(T(), 0, 1, 1),
    ],
    "diagonal": [
        S(T(3, 4)).complex_too(),
        S(T(3, 4), 1),
        S(T(3, 4), -2),
        S(T(2, 3, 4), 0, 0, 2),
        S(T(3, 4), 9),
    ],
    "linalg.diagonal": [S(T(2, 3, 4)), S(T(2, 3, 4), offset=1, dim1=0)],
    "tril": [S(T(3, 4)).complex_too(), S(T(3, 4), 1), S(T(2, 3, 3), -1)],
    "triu": [S(T(3, 4)).complex_too(), S(T(3, 4), 1), S(T(2, 3, 3), -1)],
    "diag_embed": [S(T(2, 3)).complex_too(), S(T(2, 3), 1), S(T(2, 3), -1, 0, 2)],
    "diagonal_copy": [S(T(3, 4)), S(T(2, 3, 4), 1, 0, 2)],
    "diag": [S(T(3)).complex_too(), S(T(3, 4)), S(T(3), 1), S(T(3, 4), -1)],
    "diagflat": [S(T(2, 2)).no_graph(), S(T(2), 1).no_graph()],
    "trace": [S(T(3, 4)).complex_too(), S(T(4, 2))],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "Tensor.unfold": [
        S(T(3), 0, 4, 1),
        S(T(3), 0, 2, 0),
        S(T(3), 1, 2, 0),
    ],
    "diagonal": [S(T(3, 4), 0, 1, 1)],
    "tril": [S(T(3))],
    "triu": [S(T(3))],
    "diag_embed": [S(T(2), 0, 0, 0)],
    "diag": [S(T(2, 3, 4))],
    "trace": [S(T(3))],
}
