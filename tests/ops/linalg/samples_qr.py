"""Samples of QR factorisations and Householder reflections."""

from __future__ import annotations

from tests.ops.table import S, T

F = "float32 float16 int64 bool complex64"
LOW = "float32 complex64"

SAMPLES = {
    "linalg.qr": [
        S(T(4, 3)).complex_too().dtypes(F),
        S(T(2, 3, 4)).complex_too().dtypes(LOW),
        S(T(2, 3, 3), mode="complete").dtypes(""),
        S(T(4, 2), mode="complete").no_grad().dtypes(""),
        S(T(4, 2), mode="r").no_grad().dtypes(""),
    ],
    "qr": [S(T(4, 3)).dtypes(""), S(T(3, 4), some=False).dtypes("")],
    "linalg.householder_product": [
        S(T(4, 3), T(3)).no_graph().complex_too().dtypes("float32 complex64 int64").tol(1e-5),
        S(T(2, 4, 3), T(2, 2)).no_graph().dtypes(""),
    ],
}
