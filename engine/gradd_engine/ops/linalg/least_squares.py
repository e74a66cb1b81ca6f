"""Least squares (https://pytorch.org/docs/stable/generated/torch.linalg.lstsq.html)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Meta, broadcast_shapes, dtypes
from ...declare import Joint, composite, kernel
from ...kernels import factorisations as kernels
from ...schema import Op
from ...tensor import Tensor
from ..reduce import sum
from ..shape import squeeze_dim, unsqueeze
from ..shared import conj
from .linalg_common import adjoint, columns, re, tupled
from .svd import eps, pinv_gradient, pinv_kernel, pinv_tangent

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _lstsq_infer(A: Tensor, B: Tensor, rcond: Any, driver: str) -> list[Meta]:
    name = "torch.linalg.lstsq"
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {A.dtype.title} "
            f"and other's dtype {B.dtype.title}"
        )
    diff = A.ndim - B.ndim
    if not 0 <= diff <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) "
            "<= 1"
        )
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of ({', '.join(_DRIVERS)})")
    vector = diff == 1
    if A.shape[-2] != B.shape[-1 if vector else -2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({-1 if vector else -2})")
    if A.dtype.category < dtypes.FLOAT or A.dtype.is_half:
        raise RuntimeError("This function doesn't handle types other than float and double")
    *batch, m, n = A.shape
    lead = broadcast_shapes(tuple(batch), tuple(B.shape[: -1 if vector else -2]))
    count = 1 if vector else B.shape[-1]
    shape = (*lead, n) if vector else (*lead, n, count)
    real = dtypes.to_real(A.dtype)
    residuals = (*lead, count) if m > n and driver != "gelsy" else (0,)
    return [
        Meta(shape, A.dtype) if vector else columns(shape, A.dtype),
        Meta(residuals, real),
        Meta(lead if driver != "gels" else (0,), dtypes.int64),
        Meta((*lead, min(m, n)) if driver in ("gelsd", "gelss") else (0,), real),
    ]


def _lstsq_impl(xp: Any, a: Any, b: Any, rcond: Any, driver: str) -> Any:
    vector = a.ndim - b.ndim == 1
    b = b[..., None] if vector else b
    m, n = a.shape[-2:]
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    bound = float(np.finfo(a.dtype).eps) * max(m, n) if rcond is None else rcond
    x = xp.matmul(kernels.pinv(xp, a, 0.0, bound, False), b)  # pinv refuses non-finite input
    s = xp.linalg.svd(a, compute_uv=False)
    nothing = xp.zeros(0, s.dtype)
    rank = (s > bound * s[..., :1]).sum(axis=-1) if s.shape[-1] else xp.zeros(lead, np.int64)
    residual = nothing
    if m > n and driver != "gelsy":
        residual = (xp.abs(xp.matmul(a, x) - b) ** 2).sum(axis=-2)
    return (
        x[..., 0] if vector else x,
        residual,
        xp.broadcast_to(rank, lead) if driver != "gels" else xp.zeros(0, np.int64),
        xp.broadcast_to(s, (*lead, s.shape[-1])) if driver in ("gelsd", "gelss") else nothing,
    )


def _lstsq_vjp(grads: Any, A: Any, B: Any, outs: Any, needs: Any) -> Any:
    gX, gR = grads[0], grads[1]
    P = pinv_kernel(A, 0.0, eps(A.dtype) * max(A.shape[-2:]))
    vector = A.ndim - B.ndim == 1
    side = unsqueeze(B, -1) if vector else B
    gA = gB = None
    if gX is not None:
        g = unsqueeze(gX, -1) if vector else gX
        gA = pinv_gradient(g @ adjoint(side), A, P)
        gB = adjoint(P) @ g
    if gR is not None and gR.shape != (0,):
        # the residual is orthogonal to the columns, so the solution's change has no effect
        X = P @ side
        error = (A @ X - side) * (2.0 * unsqueeze(gR, -2))
        gA = error @ adjoint(X) if gA is None else gA + error @ adjoint(X)
        gB = -error if gB is None else gB - error
    if gB is not None and vector:
        gB = squeeze_dim(gB, -1)
    return gA if needs[0] else None, gB if needs[1] else None


def _lstsq_jvp(A_t: Any, B_t: Any, A: Any, B: Any, outs: Any) -> Any:
    P = pinv_kernel(A, 0.0, eps(A.dtype) * max(A.shape[-2:]))
    vector = A.ndim - B.ndim == 1
    side = unsqueeze(B, -1) if vector else B
    X = P @ side
    dX, error_t = None, None
    if A_t is not None:
        dX, error_t = pinv_tangent(A_t, A, P) @ side, A_t @ X
    if B_t is not None:
        moved = unsqueeze(B_t, -1) if vector else B_t
        dX = P @ moved if dX is None else dX + P @ moved
        error_t = -moved if error_t is None else error_t - moved
    dR = None
    if outs[1].shape != (0,):
        error = A @ X - side
        dR = sum(re(conj(error) * error_t), -2) * 2.0
    return [squeeze_dim(dX, -1) if vector else dX, dR, None, None]


_lstsq: Op = kernel(
    "linalg_lstsq_kernel(Tensor A, Tensor B, float? rcond, str driver)"
    " -> (Tensor solution, Tensor residuals, const Tensor rank, const Tensor singular_values)",
    infer=_lstsq_infer,
    impl=_lstsq_impl,
    vjp=Joint("A B", _lstsq_vjp),
    jvp=_lstsq_jvp,
    node="LinalgLstsqBackward0",
    namespace="-",
    outside=True,
    doc="Least squares with a given driver.",
    waits=True,
)
lstsq = tupled(
    composite(
        "linalg_lstsq(Tensor A, Tensor B, float? rcond=None, *, str? driver=None)"
        " -> (Tensor solution, Tensor residuals, const Tensor rank, const Tensor singular_values)",
        body=lambda A, B, rcond, driver: _lstsq(A, B, rcond, driver or "gelsy"),
        inline=True,
        out=True,
        namespace="linalg",
        doc="The X of least norm among those that minimise |A X - B| (torch.linalg.lstsq).",
        autocast={"cpu": "float32"},
    ).call,
    "linalg_lstsq",
    "solution residuals rank singular_values",
    ("linalg", "lstsq"),
)
