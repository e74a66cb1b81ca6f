"""Samples of LDL factorisations."""

from __future__ import annotations

from typing import Any

from tests.ops.makers import M
from tests.ops.table import I, S, T, V

A4, B4 = T(2, 4, 4, grad=False), T(2, 4, 3, grad=False)
Z4 = T(4, 4, dtype="complex128", grad=False)
#: its leading block has two rows
TURNED = V([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.5]], grad=False)


def _solved(hermitian: bool) -> Any:
    def solve(linalg: Any, top: Any, A: Any, B: Any) -> Any:
        A = A + (A.mH if hermitian else A.mT)
        return linalg("ldl_solve")(*linalg("ldl_factor")(A, hermitian=hermitian), B, hermitian=hermitian)

    return solve


SAMPLES = {
    "linalg.ldl_factor": [
        S(TURNED).no_grad().dtypes("float32"),
        M(lambda L, T_, A: L("ldl_factor")(A + A.mT), A4).no_grad().dtypes("float32"),
        M(lambda L, T_, A: L("ldl_factor")(A + A.mT), Z4).no_grad().dtypes(""),
        M(lambda L, T_, A: L("ldl_factor")(A + A.mH, hermitian=True), Z4).no_grad().dtypes(""),
    ],
    "linalg.ldl_factor_ex": [
        S(TURNED).no_grad().dtypes(""),
        S(TURNED, hermitian=True, check_errors=True).no_grad().dtypes(""),
        S(V([[0.0, 0.0], [0.0, 0.0]], grad=False)).no_grad().dtypes(""),
    ],
    "linalg.ldl_solve": [
        M(_solved(False), A4, B4).no_grad().dtypes("float32"),
        M(_solved(False), TURNED, T(2, 3, 2, grad=False)).no_grad().dtypes(""),
        M(_solved(True), Z4, T(4, 2, dtype="complex128", grad=False)).no_grad().dtypes(""),
        M(_solved(False), Z4, T(4, 2, dtype="complex128", grad=False)).no_grad().dtypes(""),
    ],
}

#: calls that raise, with the oracle's class and message
ERRORS = {
    "linalg.ldl_factor": [S(T(3)), S(T(3, 2)), S(I((2, 2), 3)), S(T(2, 2, dtype="float16"))],
    "linalg.ldl_solve": [
        S(T(3, 3), I([1, 2, 3], dtype="int32"), T(4, 1)),
        S(T(3, 3), I([1, 2, 3], dtype="int32"), T(3, 1, dtype="float32")),
        S(T(3, 3), T(3), T(3, 1)),
        S(T(3, 3), I([1, 2], dtype="int32"), T(3, 1)),
        S(T(2, 3), I([1, 2], dtype="int32"), T(3, 1)),
    ],
}
