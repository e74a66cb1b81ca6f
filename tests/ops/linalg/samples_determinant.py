"""Samples of determinants."""

from __future__ import annotations

from tests.ops.makers import M, eye
from tests.ops.table import S, T

F = "float32 float16 int64 bool complex64"
A3, B3 = T(2, 3, 3), T(2, 3, 2)
LOW = "float32 complex64"

SAMPLES = {
    "linalg.det": [S(T(3, 3)).complex_too().dtypes(F), S(A3).dtypes(LOW), S(T(2, 0, 0)).dtypes("")],
    "det": [S(T(3, 3)).dtypes("")],
    "linalg.slogdet": [S(T(3, 3)).complex_too().dtypes(F), S(A3).dtypes(LOW)],
    "slogdet": [S(T(3, 3)).dtypes("")],
    "logdet": [
        M(lambda L, T_, A: T_("logdet")(eye(A)), A3).complex_too().dtypes(LOW),
        S(T(3, 3)).no_graph().kink().dtypes(""),
    ],
}
