"""Samples of Cholesky factorisations."""

from __future__ import annotations

from typing import Any

from tests.ops.makers import M, eye
from tests.ops.table import T

A3, B3 = T(2, 3, 3), T(2, 3, 2)
LOW = "float32 complex64"


def factor(A: Any) -> Any:
    """A lower triangle with a positive diagonal."""
    return A.tril(-1) + (A * 0 + 2).tril().triu()


SAMPLES = {
    "linalg.cholesky": [
        M(lambda L, T_, A: L("cholesky")(eye(A)), T(3, 3)).complex_too().dtypes(LOW),
        M(lambda L, T_, A: L("cholesky")(eye(A), upper=True), A3).complex_too().dtypes(""),
    ],
    "linalg.cholesky_ex": [M(lambda L, T_, A: L("cholesky_ex")(eye(A)), A3).complex_too().dtypes("")],
    "cholesky": [M(lambda L, T_, A: T_("cholesky")(eye(A), True), A3).complex_too().dtypes("")],
    "cholesky_solve": [
        M(lambda L, T_, B, A: T_("cholesky_solve")(B, factor(A)), T(3, 2), T(3, 3)).complex_too().dtypes(LOW),
        M(lambda L, T_, B, A: T_("cholesky_solve")(B, factor(A).mT, upper=True), B3, T(3, 3))
        .complex_too()
        .dtypes(""),
    ],
    "cholesky_inverse": [
        M(lambda L, T_, A: T_("cholesky_inverse")(factor(A)), T(3, 3)).complex_too().dtypes(LOW),
        M(lambda L, T_, A: T_("cholesky_inverse")(factor(A).mT, True), T(2, 3, 3)).complex_too().dtypes(""),
    ],
}
