"""Matrix products, factorisations, and functions built on them.

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
