"""Samples of singular values, pseudo-inverses and ranks.

Singular vectors have no sign of their own: their absolute values are compared.
"""

from __future__ import annotations

from typing import Any

from tests.ops.makers import M, eye
from tests.ops.table import S, T

F = "float32 float16 int64 bool complex64"
LOW = "float32 complex64"


def _leading(found: Any) -> list[Any]:
    U, S, Vh = found
    return [U[..., :2].abs(), S, Vh[..., :2, :].abs()]


SAMPLES = {
    "linalg.svd": [
        M(lambda L, T_, A: [x.abs() for x in L("svd")(A, full_matrices=False)], T(4, 3))
        .complex_too()
        .dtypes(LOW)
        .no_second(),
        M(lambda L, T_, A: [x.abs() for x in L("svd")(A, False)], T(2, 3, 4))
        .complex_too()
        .dtypes("")
        .no_second(),
        M(lambda L, T_, A: [x.square() for x in L("svd")(A, False)], T(3, 3)).dtypes("").tol(1e-5),
        M(lambda L, T_, A: [x.abs() for x in L("svd")(A)], T(4, 2)).no_grad().dtypes(""),
        M(lambda L, T_, A: _leading(L("svd")(A)), T(4, 2)).dtypes("").no_second(),
        M(lambda L, T_, A: _leading(L("svd")(A)), T(2, 4)).dtypes("").no_second(),
    ],
    "linalg.svdvals": [S(T(4, 3)).complex_too().dtypes(F), S(T(2, 3, 4)).complex_too().dtypes(LOW)],
    "svd": [
        M(lambda L, T_, A: [x.abs() for x in T_("svd")(A)], T(4, 3)).complex_too().dtypes("").no_second(),
        M(lambda L, T_, A: [x.abs() for x in T_("svd")(A, False)], T(4, 3)).no_grad().dtypes(""),
        S(T(4, 3), compute_uv=False).dtypes(""),
    ],
    "linalg.pinv": [
        S(T(4, 3)).complex_too().dtypes("float32 complex64 int64").tol(1e-5),
        S(T(2, 3, 4)).complex_too().dtypes("").tol(1e-5),
        M(lambda L, T_, A: L("pinv")(eye(A), hermitian=True), T(3, 3)).complex_too().dtypes("").tol(1e-5),
        S(T(4, 3), atol=1e-3, rtol=1e-4).dtypes("").tol(1e-5),
        S(T(4, 3), T(grad=False, low=1e-4, high=1e-3)).dtypes("").no_second(),
    ],
    "pinverse": [S(T(4, 3)).dtypes("").tol(1e-5)],
    "linalg.matrix_rank": [
        S(T(4, 3)).no_grad().dtypes(LOW),
        S(T(2, 3, 3), tol=1.0).no_grad().dtypes(""),
        S(T(2, 3, 3), atol=0.5, rtol=0.1).no_grad().dtypes(""),
        M(lambda L, T_, A: L("matrix_rank")(eye(A), hermitian=True), T(3, 3)).no_grad().dtypes(""),
    ],
}
