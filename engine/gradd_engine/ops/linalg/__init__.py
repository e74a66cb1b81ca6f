"""Products of matrices, factorisations, and what follows from them.

Importing this room declares its ops.
"""

from . import (
    affine,
    cholesky,
    covariance,
    determinant,
    eigen,
    einsum,
    least_squares,
    linalg_common,
    lu,
    matmul,
    matrix_norm,
    matrix_products,
    phase,
    qr,
    solve,
    svd,
)

__all__ = [
    "affine",
    "cholesky",
    "covariance",
    "determinant",
    "eigen",
    "einsum",
    "least_squares",
    "linalg_common",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_products",
    "phase",
    "qr",
    "solve",
    "svd",
]
