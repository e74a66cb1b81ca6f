"""Samples of eigenvalues and eigenvectors.

Eigenvectors have no sign of their own: their absolute values are compared.
"""

from __future__ import annotations

from tests.ops.makers import M, eye
from tests.ops.table import T

A3, B3 = T(2, 3, 3), T(2, 3, 2)
LOW = "float32 complex64"

SAMPLES = {
    "linalg.eigh": [
        M(lambda L, T_, A: [x.abs() for x in L("eigh")(eye(A))], T(3, 3))
        .complex_too()
        .dtypes(LOW)
        .no_second(),
        M(lambda L, T_, A: [x.square() for x in L("eigh")(eye(A), "U")], A3).dtypes("").tol(1e-5),
    ],
    "linalg.eigvalsh": [M(lambda L, T_, A: L("eigvalsh")(eye(A)), A3).complex_too().dtypes(LOW)],
    "linalg.eig": [
        M(lambda L, T_, A: [x.abs() for x in L("eig")(A)], T(3, 3)).complex_too().dtypes(LOW).no_second()
    ],
    "linalg.eigvals": [M(lambda L, T_, A: L("eigvals")(A).abs(), A3).complex_too().dtypes("")],
}
