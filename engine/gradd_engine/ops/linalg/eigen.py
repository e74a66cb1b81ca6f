"""Eigenvalues and eigenvectors. `eigh` reads one triangle; its gradients are those of a Hermitian matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Meta, dtypes
from ...declare import Joint, composite, kernel
from ...kernels import factorisations as kernels
from ...schema import Op, named
from ...tensor import Tensor
from ..shape import diag_embed, diagonal, unsqueeze
from ..shared import conj
from .linalg_common import adjoint, columns, re, square, square_floating, tupled
from .phase import unturned
from .solve import solve_ex_kernel


def _gaps(L: Any) -> Any:
    """Differences of eigenvalues, column minus row, with ones on the diagonal."""
    found = unsqueeze(L, -2) - unsqueeze(L, -1)
    return found + diag_embed(L.new_ones(tuple(L.shape)))


def _off_diagonal(x: Any) -> Any:
    return x - diag_embed(diagonal(x, 0, -2, -1))


# -- Hermitian ---------------------------------------------------------------------------------------


def _eigh_infer(A: Tensor, UPLO: str) -> list[Meta]:
    square_floating(A, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return [Meta(tuple(A.shape[:-1]), dtypes.to_real(A.dtype)), columns(A.shape, A.dtype)]


def _eigh_impl(xp: Any, a: Any, UPLO: str) -> Any:
    return kernels.eigh(xp, a, UPLO.upper())


def _eigh_vjp(grads: Any, outs: Any) -> Any:
    (gL, gV), (L, V) = grads, outs
    if gV is None:
        return (None if gL is None else (V * unsqueeze(gL, -2)) @ adjoint(V),)
    turned = unturned(adjoint(V) @ gV, "linalg_eigh_backward: The eigenvectors")
    # Unit eigenvectors can only rotate, so the Hermitian part has no effect.
    inner = _off_diagonal((turned - adjoint(turned)) * 0.5 / _gaps(L))
    if gL is not None:
        inner = inner + diag_embed(gL)
    return (V @ (inner @ adjoint(V)),)


def _eigh_jvp(A_t: Any, outs: Any) -> Any:
    L, V = outs
    moved = adjoint(V) @ (A_t @ V)
    return [re(diagonal(moved, 0, -2, -1)), V @ _off_diagonal(moved / _gaps(L))]


_eigh: Op = kernel(
    "linalg_eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    infer=_eigh_infer,
    impl=_eigh_impl,
    vjp=Joint("A", _eigh_vjp),
    jvp=_eigh_jvp,
    out=True,
    namespace="linalg",
    doc="Eigenvalues, ascending, and eigenvectors of Hermitian matrices (torch.linalg.eigh).",
    autocast={"cpu": "float32"},
)
eigh = tupled(_eigh.call, "linalg_eigh", "eigenvalues eigenvectors", ("linalg", "eigh"))
eigvalsh = composite(
    "linalg_eigvalsh(Tensor A, str UPLO='L') -> Tensor",
    body=lambda A, UPLO: _eigh(A, UPLO)[0],
    inline=True,
    out=True,
    namespace="linalg",
    doc="Eigenvalues of Hermitian matrices, ascending (torch.linalg.eigvalsh).",
    autocast={"cpu": "float32"},
)

# -- general -----------------------------------------------------------------------------------------


def _eig_infer(A: Tensor) -> list[Meta]:
    square(A, "linalg.eig")
    if A.dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"Unknown Complex ScalarType for {A.dtype.title}")
    square_floating(A, "linalg.eig")
    kind = dtypes.to_complex(A.dtype)
    return [Meta(tuple(A.shape[:-1]), kind), columns(A.shape, kind)]


def _eig_impl(xp: Any, a: Any) -> Any:
    if not bool(xp.isfinite(a).all()):
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = xp.linalg.eig(a)
    kind = np.complex64 if a.dtype.itemsize == (8 if a.dtype.kind == "c" else 4) else np.complex128
    return values.astype(kind), vectors.astype(kind)


def _eig_vjp(grads: Any, outs: Any) -> Any:
    (gL, gV), (L, V) = grads, outs
    inner = None
    if gV is not None:
        part = unturned(adjoint(V) @ gV, "linalg_eig_backward: The eigenvectors")
        lengths = named.from_real(re(diagonal(part, 0, -2, -1)))
        part = part - adjoint(V) @ (V * unsqueeze(lengths, -2))
        inner = _off_diagonal(part / conj(_gaps(L)))
    if gL is not None:
        inner = diag_embed(gL) if inner is None else inner + diag_embed(gL)
    if inner is None:
        return (None,)
    return (solve_ex_kernel(adjoint(V), inner @ adjoint(V))[0],)


def _eig_jvp(A_t: Any, outs: Any) -> Any:
    L, V = outs
    moved = A_t if A_t.dtype.is_complex else named.from_real(A_t)
    moved = solve_ex_kernel(V, moved @ V)[0]
    turn = V @ _off_diagonal(moved / _gaps(L))
    lengths = named.from_real(re(diagonal(adjoint(V) @ turn, 0, -2, -1)))
    return [diagonal(moved, 0, -2, -1).clone(), turn - V * unsqueeze(lengths, -2)]


_eig: Op = kernel(
    "linalg_eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)",
    infer=_eig_infer,
    impl=_eig_impl,
    vjp=Joint("A", _eig_vjp),
    jvp=_eig_jvp,
    out=True,
    namespace="linalg",
    doc="Eigenvalues and eigenvectors, complex (torch.linalg.eig).",
    autocast={"cpu": "float32"},
    waits=True,
)
eig = tupled(_eig.call, "linalg_eig", "eigenvalues eigenvectors", ("linalg", "eig"))
eigvals = composite(
    "linalg_eigvals(Tensor A) -> Tensor",
    body=lambda A: _eig(A)[0],
    inline=True,
    out=True,
    namespace="linalg",
    doc="Eigenvalues, complex (torch.linalg.eigvals).",
    autocast={"cpu": "float32"},
)
