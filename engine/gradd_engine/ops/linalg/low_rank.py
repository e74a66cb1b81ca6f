"""Randomised factorisations of low rank (https://pytorch.org/docs/stable/generated/torch.svd_lowrank.html).

The range of a matrix is found by products with random vectors. Source: N. Halko, P.-G. Martinsson, J. A.
Tropp, "Finding structure with randomness" (2011), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from ...data import ambient
from ...declare import public
from ...tensor import Tensor
from ..create import random_ops
from ..shape import expand
from .linalg_common import adjoint
from .qr import qr_kernel
from .svd import svd_kernel


def _range(A: Any, q: int, niter: int) -> Any:
    """Orthonormal columns that span about the range of `A`."""
    with ambient(backend=A.backend):
        noise = random_ops.randn_op([A.shape[-1], q], dtype=A.dtype)
    Q = qr_kernel(A @ noise, "reduced")[0]
    for _ in range(niter):
        Q = qr_kernel(adjoint(A) @ Q, "reduced")[0]
        Q = qr_kernel(A @ Q, "reduced")[0]
    return Q


def _low_rank(A: Any, q: int, niter: int) -> tuple[Any, Any, Any]:
    m, n = A.shape[-2:]
    if m < n:
        U, S, V = _low_rank(adjoint(A), q, niter)
        return V, S, U
    Q = _range(A, q, niter)
    U, S, Vh = svd_kernel(adjoint(Q) @ A, False)
    return Q @ U, S, adjoint(Vh)


@public()
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> Any:
    """U, S and V of about A - M = U diag(S) V^H, of rank `q` (torch.svd_lowrank)."""
    whole: Any = A if M is None else A - expand(M, *A.shape)
    return _low_rank(whole, 6 if q is None else q, 2 if niter is None else niter)


@public()
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """Principal components of low rank: U, S and V of about the rows of `A`, centred (torch.pca_lowrank).

    Raises ValueError for a `q` or `niter` out of range.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not A.dtype.is_floating_point and not A.dtype.is_complex:
        raise ValueError(f"input expected to be float tensor but got {A.dtype} tensor")
    x: Any = A
    return _low_rank(x - x.mean(dim=-2, keepdim=True) if center else x, q, niter)
