"""Samples of products of matrices and vectors."""

from __future__ import annotations

from tests.ops.table import S, T

SAMPLES = {
    "mm": [S(T(2, 3), T(3, 4)).complex_too(), S(T(0, 3), T(3, 2))],
    "bmm": [S(T(2, 2, 3), T(2, 3, 4)).complex_too()],
    "mv": [S(T(2, 3), T(3)).complex_too()],
    "dot": [S(T(3), T(3)).complex_too()],
    "vdot": [S(T(3), T(3)).complex_too()],
    "matmul": [
        S(T(2, 3), T(3, 4)).complex_too(),
        S(T(3), T(3)),
        S(T(2, 3), T(3)),
        S(T(3), T(3, 2)),
        S(T(2, 3, 4), T(4)),
        S(T(2, 3, 4), T(4, 2)).complex_too(),
        S(T(2, 3, 4), T(4, 2, grad=False)),
        S(T(3, 4, grad=False), T(2, 4, 2)),
        S(T(3, 4), T(2, 4, 2)),
        S(T(3, 4), T(2, 4, 2, grad=False)),
        S(T(4), T(2, 4, 2)),
        S(T(4, grad=False), T(2, 4, 2)),
        S(T(2, 3, 4), T(2, 4, 2)),
        S(T(1, 3, 4), T(2, 4, 2)),
        S(T(2, 3, 4), T(1, 4, 2)),
        S(T(1, 3, 4, grad=False), T(2, 4, 2)),
        S(T(3, 1, 2, 4), T(2, 4, 2)),
        S(T(2, 2, 3, 4), T(4)),
        S(T(2, 0, 3), T(3, 2)),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "mm": [S(T(2, 3), T(2, 3)), S(T(2), T(2, 3)), S(T(2, 3), T(3, 2, dtype="float32")), S(T(2, 3), T(3))],
    "bmm": [
        S(T(2, 3), T(2, 3, 4)),
        S(T(2, 3, 2), T(2, 3, 2)),
        S(T(2, 2, 3), T(2, 3, 4, dtype="float32")),
        S(T(2, 2, 3), T(3, 4)),
    ],
    "mv": [S(T(2, 3), T(2)), S(T(2), T(2)), S(T(2, 3), T(3, dtype="float32"))],
    "dot": [S(T(3), T(2)), S(T(3, 1), T(3)), S(T(3), T(3, dtype="float32"))],
    "vdot": [S(T(3), T(2))],
    "matmul": [
        S(T(2, 3), T(2, 3)),
        S(T(2, 3), T(2)),
        S(T(2), T(3)),
        S(T(), T(2)),
        S(T(2, 3, 4), T(2, 3, 4)),
        S(T(2, 3), T(3, 2, dtype="float32")),
        S(T(2, 3, 4), T(2, 4, 2, dtype="float32")),
        S(T(2, 3, 4), T(3, 4, 4)),
    ],
}
