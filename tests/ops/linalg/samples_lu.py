"""Samples of LU factorisations."""

from __future__ import annotations

from tests.ops.makers import M, well
from tests.ops.table import S, T

A3, B3 = T(2, 3, 3), T(2, 3, 2)
LOW = "float32 complex64"

SAMPLES = {
    "linalg.lu_factor": [
        S(T(3, 3)).complex_too().dtypes(LOW),
        S(T(2, 3, 4)).complex_too().dtypes(""),
        S(T(2, 4, 3)).dtypes(""),
    ],
    "linalg.lu_factor_ex": [S(A3).dtypes(""), S(T(3, 3), check_errors=True).dtypes("")],
    "lu": [S(A3).dtypes("").no_meta(), S(T(3, 3), get_infos=True).dtypes("")],
    "linalg.lu": [
        S(T(3, 3)).complex_too().dtypes(LOW),
        S(T(2, 3, 4)).complex_too().dtypes(""),
        S(T(2, 4, 3)).complex_too().dtypes(""),
    ],
    "lu_unpack": [
        M(lambda L, T_, A: T_("lu_unpack")(*L("lu_factor")(A)), T(2, 3, 4)).dtypes(""),
        M(lambda L, T_, A: T_("lu_unpack")(*L("lu_factor")(A)), T(4, 3)).complex_too().dtypes(""),
        M(lambda L, T_, A: T_("lu_unpack")(*L("lu_factor")(A), unpack_pivots=False), T(3, 3)).dtypes(""),
        M(lambda L, T_, A: T_("lu_unpack")(*L("lu_factor")(A), unpack_data=False), T(3, 3))
        .no_grad()
        .dtypes(""),
    ],
    "linalg.lu_solve": [
        M(lambda L, T_, A, B: L("lu_solve")(*L("lu_factor")(well(A)), B), A3, B3).complex_too().dtypes(LOW),
        M(lambda L, T_, A, B: L("lu_solve")(*L("lu_factor")(well(A)), B, adjoint=True), A3, B3)
        .complex_too()
        .dtypes(""),
        M(lambda L, T_, A, B: L("lu_solve")(*L("lu_factor")(well(A)), B, left=False), A3, T(2, 2, 3))
        .complex_too()
        .dtypes(""),
    ],
    "lu_solve": [M(lambda L, T_, A, B: T_("lu_solve")(B, *L("lu_factor")(A)), A3, B3).dtypes("")],
}
