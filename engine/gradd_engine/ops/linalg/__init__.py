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
    ldl,
    least_squares,
    linalg_common,
    lobpcg,
    low_rank,
    lu,
    matmul,
    matrix_norm,
    matrix_products,
    phase,
    qr,
    reflections,
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
    "ldl",
    "least_squares",
    "linalg_common",
    "lobpcg",
    "low_rank",
    "lu",
    "matmul",
    "matrix_norm",
    "matrix_products",
    "phase",
    "qr",
    "reflections",
    "solve",
    "svd",
]
