"""QR factorisations and products of Householder reflections."""

from __future__ import annotations

from typing import Any

from ...data import Meta, dtypes
from ...declare import Joint, composite, kernel
from ...graph import TURN
from ...schema import Op
from ...tensor import Tensor
from ..index import cat, narrow, stack
from ..shape import diag_embed, diagonal, triu, unsqueeze
from .linalg_common import adjoint, columns, floating, matrices, re, tupled
from .solve import solve_triangular_kernel as solve_triangular


def _infer(A: Tensor, mode: str) -> list[Meta]:
    matrices(A, "linalg.qr")
    floating(A, "linalg.qr")
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    *batch, m, n = A.shape
    k = m if mode == "complete" else min(m, n)
    Q = Meta((0,), A.dtype) if mode == "r" else columns((*batch, m, k), A.dtype)
    return [Q, columns((*batch, k, n), A.dtype)]


def _impl(xp: Any, a: Any, mode: str) -> Any:
    if mode == "r":
        return xp.zeros(0, a.dtype), xp.linalg.qr(a, "r")
    q, r = xp.linalg.qr(a, mode)
    return q, r


def _symmetric(x: Any) -> Any:
    """x + x^H with half the diagonal."""
    return x + adjoint(x) - diag_embed(re(diagonal(x, 0, -2, -1)))


def _refuse(inputs: Any, mode: str) -> None:
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    (A,) = inputs
    if mode == "complete" and A.shape[-2] > A.shape[-1]:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )


def _backward(gQ: Any, gR: Any, Q: Any, R: Any) -> Any:
    inner = None
    if gR is not None:
        inner = gR @ adjoint(R)
    if gQ is not None:
        part = adjoint(Q) @ gQ
        inner = -part if inner is None else inner - part
    found = Q @ _symmetric(triu(inner))
    if gQ is not None:
        found = found + gQ
    return solve_triangular(adjoint(R), found, False, False)


def _vjp(grads: Any, A: Any, outs: Any, mode: str) -> Any:
    _refuse([A], mode)
    (gQ, gR), (Q, R) = grads, outs
    m, n = A.shape[-2:]
    if m >= n:
        return (_backward(gQ, gR, Q, R),)
    # The columns beyond the square are Q times those of R.
    rest, first = None, None
    if gR is not None:
        first, beyond = narrow(gR, -1, 0, m), narrow(gR, -1, m, n - m)
        rest = Q @ beyond
        part = narrow(A, -1, m, n - m) @ adjoint(beyond)
        gQ = part if gQ is None else gQ + part
    found = _backward(gQ, first, Q, narrow(R, -1, 0, m))
    if rest is None:
        rest = found.new_zeros((*found.shape[:-1], n - m))
    return (cat([found, rest], -1),)


def _forward(A_t: Any, Q: Any, R: Any) -> tuple[Any, Any]:
    moved = solve_triangular(R, A_t, True, False)
    inner = adjoint(Q) @ moved
    upper = triu(inner + adjoint(inner)) - diag_embed(re(diagonal(inner, 0, -2, -1)))
    return moved - Q @ upper, upper @ R


def _jvp(A_t: Any, A: Any, outs: Any, mode: str) -> Any:
    _refuse([A], mode)
    Q, R = outs
    m, n = A.shape[-2:]
    if m >= n:
        return list(_forward(A_t, Q, R))
    dQ, dR = _forward(narrow(A_t, -1, 0, m), Q, narrow(R, -1, 0, m))
    rest = adjoint(dQ) @ narrow(A, -1, m, n - m) + adjoint(Q) @ narrow(A_t, -1, m, n - m)
    return [dQ, cat([dR, rest], -1)]


qr_kernel: Op = kernel(
    "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    infer=_infer,
    impl=_impl,
    vjp=Joint("A", _vjp),
    jvp=_jvp,
    check_backward=_refuse,
    out=True,
    namespace="linalg",
    doc="Q and R of A = Q R (torch.linalg.qr).",
    autocast={"cpu": "float32"},
)
linalg_qr = tupled(qr_kernel.call, "linalg_qr", "Q R", ("linalg", "qr"))
qr = tupled(
    composite(
        "qr(Tensor input, bool some=True) -> (Tensor Q, Tensor R)",
        body=lambda input, some: qr_kernel(input, "reduced" if some else "complete"),
        inline=True,
        out=True,
        doc="Q and R of input = Q R (torch.qr).",
        autocast={"cpu": "float32"},
    ).call,
    "qr",
    "Q R",
    ("", "qr"),
    ("Tensor", "qr"),
)

# -- reflections -------------------------------------------------------------------------------------


def _householder_infer(input: Tensor, tau: Tensor) -> Meta:
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{tau.ndim} and input.ndim is equal to {input.ndim}"
        )
    if tuple(tau.shape[:-1]) != tuple(input.shape[:-2]):
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if tau.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {tau.dtype.title} does not match input dtype {input.dtype.title}"
        )
    if input.dtype.category < dtypes.FLOAT or input.dtype.is_half:
        raise NotImplementedError(f"\"orgqr_cpu\" not implemented for '{input.dtype.title}'")
    return columns(input.shape, input.dtype)


def _householder_impl(xp: Any, a: Any, tau: Any) -> Any:
    m, n = a.shape[-2:]
    out = xp.broadcast_to(xp.eye(m, n, dtype=a.dtype), a.shape).copy()
    for i in reversed(range(tau.shape[-1])):
        v = xp.where(xp.arange(m) <= i, 0, a[..., :, i])
        v[..., i] = 1
        out -= (tau[..., i, None] * v)[..., :, None] * xp.matmul(xp.conjugate(v)[..., None, :], out)
    return out


def _householder(input: Any, tau: Any) -> Any:
    """The product in recorded ops, which give its derivatives."""
    m, n = input.shape[-2:]
    if not n:
        return input.clone()
    out = stack([_unit(input, m, j) for j in range(n)], -1).expand(list(input.shape))
    if not tau.shape[-1]:  # constant, but connected to the input
        return out + input.masked_fill(input.new_ones((), dtype=dtypes.bool_), 0)
    low = input.tril(-1)
    for i in reversed(range(tau.shape[-1])):
        v = low.select(-1, i) + _unit(input, m, i)
        step = unsqueeze(v, -1) @ (adjoint(unsqueeze(v, -1)) @ out)
        out = out - unsqueeze(unsqueeze(tau.select(-1, i), -1), -1) * step
    return out


def _unit(like: Any, size: int, at: int) -> Any:
    parts = [like.new_zeros((at,)), like.new_ones((1,)), like.new_zeros((size - at - 1,))]
    return cat(parts, 0)


householder_product = kernel(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    infer=_householder_infer,
    impl=_householder_impl,
    cost=lambda input, tau: (
        tau.shape[-1] * (TURN + 4 * input.numel()),
        3 * input.numel() * input.dtype.itemsize,
    ),
    composite=_householder,
    namespace="linalg",
    doc="The first columns of a product of Householder reflections (torch.linalg.householder_product).",
    autocast={"cpu": "float32"},
)
