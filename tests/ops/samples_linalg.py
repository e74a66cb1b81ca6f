"""Samples of factorisations, inverses and equations.

Eigenvectors and singular vectors have no sign of their own: their absolute values are compared.
"""

from __future__ import annotations

from typing import Any

from tests.ops.table import PUBLIC, S, Sample, T


def la(name: str) -> Any:
    return PUBLIC["linalg", name]


def eye(A: Any, scale: float = 2.0) -> Any:
    """A matrix made well-conditioned: positive-definite and Hermitian."""
    wide = A @ A.mT.conj() if hasattr(A, "resolve_conj") else A @ A.mT.conj_physical()
    return wide + scale * (wide * 0 + 1).tril().triu()


def M(fn: Any, *args: Any, **attrs: Any) -> Sample:
    """A sample of ``fn(module of linear algebra, module, *args)``, the same on both sides."""
    return (
        S(*args, **attrs)
        .calls(lambda *a, **k: fn(la, lambda n: PUBLIC["", n], *a, **k))
        .torch(
            lambda torch, *a, **k: fn(
                lambda n: getattr(torch.linalg, n), lambda n: getattr(torch, n), *a, **k
            )
        )
        .no_graph()
    )


F = "float32 float16 int64 bool complex64"
A3, B3 = T(2, 3, 3), T(2, 3, 2)
LOW = "float32 complex64"


def factor(A: Any) -> Any:
    """A lower triangle with a positive diagonal."""
    return A.tril(-1) + (A * 0 + 2).tril().triu()


def well(A: Any) -> Any:
    """A matrix with a dominant diagonal, so that differences are exact enough."""
    return A + (A * 0 + 4).tril().triu()


def dense(count: int = 4, **how: Any) -> Any:
    """Least squares, with `count` of the results laid out row-major."""
    return lambda L, T_, A, B: [x.contiguous() for x in L("lstsq")(A, B, **how)[:count]]


SAMPLES = {
    "linalg.inv": [S(T(3, 3)).complex_too().dtypes(F), S(A3).dtypes(LOW), S(T(0, 0)).dtypes("")],
    "linalg.inv_ex": [S(T(3, 3)).dtypes(LOW), S(A3, check_errors=True).complex_too().dtypes("")],
    "inverse": [S(T(3, 3)).dtypes(F)],
    "linalg.solve": [
        S(T(3, 3), T(3, 2)).complex_too().dtypes(F),
        S(T(3, 3), T(3)).complex_too().dtypes(LOW),
        S(A3, T(2, 3)).dtypes(""),
        S(A3, B3).dtypes(LOW),
        S(T(3, 3), B3).dtypes(""),
        M(lambda L, T_, A, B: L("solve")(well(A), B, left=False), A3, T(2, 2, 3)).complex_too().dtypes(""),
    ],
    "linalg.solve_ex": [S(T(3, 3), T(3, 2)).dtypes(""), S(A3, B3, check_errors=True).dtypes("")],
    "linalg.solve_triangular": [
        S(T(3, 3, low=0.5), T(3, 2), upper=True).complex_too().dtypes("float32 complex64 int64"),
        S(T(2, 3, 3, low=0.5), T(3, 2), upper=False).dtypes(""),
        S(T(3, 3, low=0.5), T(2, 2, 3), upper=True, left=False).complex_too().dtypes(""),
        S(T(3, 3), T(2, 3), upper=False, left=False, unitriangular=True).complex_too().dtypes(""),
    ],
    "triangular_solve": [
        S(T(3, 2), T(3, 3, low=0.5)).no_graph().dtypes(""),
        S(T(3, 2), T(3, 3, low=0.5), upper=False, transpose=True).no_graph().dtypes(""),
    ],
    "linalg.tensorinv": [S(T(2, 3, 6)).no_graph().dtypes(""), S(T(4, 2, 2), ind=1).no_graph().dtypes("")],
    "linalg.tensorsolve": [
        S(T(2, 3, 6), T(2, 3)).no_graph().dtypes(""),
        S(T(2, 6, 3), T(2, 3), dims=[1]).no_graph().dtypes(""),
    ],
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
    "linalg.det": [S(T(3, 3)).complex_too().dtypes(F), S(A3).dtypes(LOW), S(T(2, 0, 0)).dtypes("")],
    "det": [S(T(3, 3)).dtypes("")],
    "linalg.slogdet": [S(T(3, 3)).complex_too().dtypes(F), S(A3).dtypes(LOW)],
    "slogdet": [S(T(3, 3)).dtypes("")],
    "logdet": [
        M(lambda L, T_, A: T_("logdet")(eye(A)), A3).complex_too().dtypes(LOW),
        S(T(3, 3)).no_graph().kink().dtypes(""),
    ],
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
    # where there are more equations than unknowns, PyTorch's solution lies in memory with gaps
    "linalg.lstsq": [
        M(dense(), T(4, 3), T(4, 2)).complex_too().dtypes(LOW).tol(1e-5),
        S(T(2, 3, 4), T(2, 3, 2)).dtypes("").tol(1e-5),
        M(dense(), T(2, 4, 3), T(2, 4)).dtypes("").tol(1e-5),
        M(dense(2, driver="gelsd"), T(4, 3), T(4, 2)).complex_too().dtypes("").tol(1e-5),
        M(dense(driver="gelsd"), T(4, 3), T(4, 2)).no_grad().dtypes(""),
        M(dense(driver="gels"), T(4, 3), T(4, 2)).dtypes("").tol(1e-5),
    ],
    "linalg.cond": [
        M(lambda L, T_, A: L("cond")(well(A)), T(3, 3)).complex_too().dtypes(LOW),
        S(T(4, 3), -2).no_graph().dtypes(""),
        S(T(2, 3, 3), "fro").no_graph().own_gradient().dtypes(""),
        S(T(3, 3), 1).no_graph().own_gradient().dtypes(""),
        S(T(3, 3), float("-inf")).no_graph().own_gradient().dtypes(""),
        S(T(3, 3), "nuc").no_graph().own_gradient().dtypes(""),
    ],
}
