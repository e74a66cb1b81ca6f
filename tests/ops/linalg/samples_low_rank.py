"""Samples of randomised factorisations: of matrices of that rank they are exact, up to signs."""

from __future__ import annotations

from tests.ops.makers import M
from tests.ops.table import S, T

SAMPLES = {
    "svd_lowrank": [
        M(lambda L, T_, A, B: T_("svd_lowrank")(A @ B, q=2)[1], T(5, 2), T(2, 4)).dtypes("").no_grad(),
        M(lambda L, T_, A: T_("svd_lowrank")(A, q=3, M=A * 0.5)[1], T(2, 3, 5, grad=False))
        .dtypes("")
        .no_grad(),
    ],
    "pca_lowrank": [
        M(lambda L, T_, A: [abs(x) for x in T_("pca_lowrank")(A, q=3)[1:]], T(5, 3, grad=False))
        .dtypes("")
        .no_grad(),
        M(lambda L, T_, A: T_("pca_lowrank")(A, q=3, center=False)[1], T(3, 5, grad=False))
        .dtypes("")
        .no_grad(),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {"pca_lowrank": [S(T(3, 2), 3), S(T(3, 2), niter=-1)]}
