"""Samples of inverses and linear equations."""

from __future__ import annotations

from tests.ops.makers import M, well
from tests.ops.table import S, T

F = "float32 float16 int64 bool complex64"
A3, B3 = T(2, 3, 3), T(2, 3, 2)
LOW = "float32 complex64"

SAMPLES = {
    "linalg.inv": [S(T(3, 3)).complex_too().dtypes(F), S(A3).dtypes(LOW), S(T(0, 0)).dtypes("")],
    "linalg.inv_ex": [S(T(3, 3)).dtypes(LOW), S(A3, check_errors=True).complex_too().dtypes("")],
    "inverse": [S(T(3, 3)).dtypes(F)],
    "linalg.solve": [
        S(T(3, 3), T(3, 2)).complex_too().dtypes(F),
        S(T(3, 3), T(3)).complex_too().dtypes(LOW),
        S(A3, T(2, 3)).dtypes(""),
        S(A3, B3).dtypes(LOW),
        S(T(3, 3), B3).dtypes(""),
        M(lambda L, T_, A, B: L("solve")(well(A), B, left=False), A3, T(2, 2, 3)).complex_too().dtypes(""),
    ],
    "linalg.solve_ex": [S(T(3, 3), T(3, 2)).dtypes(""), S(A3, B3, check_errors=True).dtypes("")],
    "linalg.solve_triangular": [
        S(T(3, 3, low=0.5), T(3, 2), upper=True).complex_too().dtypes("float32 complex64 int64"),
        S(T(2, 3, 3, low=0.5), T(3, 2), upper=False).dtypes(""),
        S(T(3, 3, low=0.5), T(2, 2, 3), upper=True, left=False).complex_too().dtypes(""),
        S(T(3, 3), T(2, 3), upper=False, left=False, unitriangular=True).complex_too().dtypes(""),
    ],
    "triangular_solve": [
        S(T(3, 2), T(3, 3, low=0.5)).no_graph().dtypes(""),
        S(T(3, 2), T(3, 3, low=0.5), upper=False, transpose=True).no_graph().dtypes(""),
    ],
    "linalg.tensorinv": [S(T(2, 3, 6)).no_graph().dtypes(""), S(T(4, 2, 2), ind=1).no_graph().dtypes("")],
    "linalg.tensorsolve": [
        S(T(2, 3, 6), T(2, 3)).no_graph().dtypes(""),
        S(T(2, 6, 3), T(2, 3), dims=[1]).no_graph().dtypes(""),
    ],
}
