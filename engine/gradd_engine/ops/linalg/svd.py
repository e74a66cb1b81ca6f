"""Singular values, pseudo-inverses and ranks.

Gradients of singular vectors are nan if singular values are repeated, as in PyTorch
(https://pytorch.org/docs/stable/generated/torch.linalg.svd.html).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Meta, dtypes
from ...declare import Joint, composite, kernel, public
from ...kernels import factorisations as kernels
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import abs, maximum
from ..index import cat, narrow
from ..reduce import sum
from ..shape import diag_embed, diagonal, unsqueeze
from .eigen import eigvalsh
from .linalg_common import adjoint, columns, floating, matrices, re, square, tupled
from .phase import one_phase


def eps(dtype: Any) -> float:
    """The machine epsilon of a dtype."""
    return float(np.finfo(dtypes.to_real(dtype).np).eps)


# -- svd ---------------------------------------------------------------------------------------------


def _svd_infer(A: Tensor, full_matrices: bool) -> list[Meta]:
    matrices(A, "linalg.svd")
    floating(A, "linalg.svd")
    *batch, m, n = A.shape
    k = min(m, n)
    rows, cols = (m, n) if full_matrices else (k, k)
    return [
        columns((*batch, m, rows), A.dtype),
        Meta((*batch, k), dtypes.to_real(A.dtype)),
        columns((*batch, cols, n), A.dtype),
    ]


def _svd_impl(xp: Any, a: Any, full_matrices: bool) -> Any:
    return kernels.svd(xp, a, full_matrices)


def _gaps(S: Any) -> Any:
    two = S * S
    return unsqueeze(two, -2) - unsqueeze(two, -1) + diag_embed(S.new_ones(tuple(S.shape)))


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _column(x: Any) -> Any:
    return unsqueeze(x, -1)


def _row(x: Any) -> Any:
    return unsqueeze(x, -2)


def _leading(U: Any, S: Any, Vh: Any) -> tuple[Any, Any]:
    k = S.shape[-1]
    return (U if U.shape[-1] == k else narrow(U, -1, 0, k)), (
        Vh if Vh.shape[-2] == k else narrow(Vh, -2, 0, k)
    )


def _svd_vjp(grads: Any, outs: Any) -> Any:
    (gU, gS, gVh), (U, S, Vh) = grads, outs
    k = S.shape[-1]
    if gU is not None and gU.shape[-1] != k:
        gU = narrow(gU, -1, 0, k)
    if gVh is not None and gVh.shape[-2] != k:
        gVh = narrow(gVh, -2, 0, k)
    U, Vh = _leading(U, S, Vh)
    m, n = U.shape[-2], Vh.shape[-1]
    if gU is None and gVh is None:
        if gS is None:
            return (None,)
        return (U @ (_column(gS) * Vh) if m >= n else (U * _row(gS)) @ Vh,)
    left = None if gU is None else _skew(adjoint(U) @ gU)
    right = None if gVh is None else _skew(Vh @ adjoint(gVh))
    if U.dtype.is_complex:
        left, right = one_phase(left, right)
    inner = None
    if left is not None:
        inner = left * _row(S)
    if right is not None:
        inner = _column(S) * right if inner is None else inner + _column(S) * right
    inner = inner / _gaps(S)
    if gS is not None:
        inner = inner + diag_embed(gS)
    if U.dtype.is_complex and left is not None and right is not None:
        inner = inner + diag_embed(diagonal(left, 0, -2, -1) / (2.0 * S))
    if m > k and gU is not None:
        scaled = gU / _row(S)
        found = U @ inner + scaled - U @ (adjoint(U) @ scaled)
        return (found @ Vh,)
    if n > k and gVh is not None:
        scaled = gVh / _column(S)
        found = inner @ Vh + scaled - (scaled @ adjoint(Vh)) @ Vh
        return (U @ found,)
    return (U @ (inner @ Vh) if m >= n else (U @ inner) @ Vh,)


def _both(x: Any) -> Any:
    return x + adjoint(x)


def _svd_jvp(A_t: Any, outs: Any, full_matrices: bool) -> Any:
    wide, S, tall = outs
    U, Vh = _leading(*outs)
    moved = adjoint(U) @ A_t @ adjoint(Vh)
    dS = re(diagonal(moved, 0, -2, -1))
    rest = moved - diag_embed(dS)
    gaps = _gaps(S)
    left, right = _both(rest * _row(S)) / gaps, _both(_column(S) * rest) / gaps
    if U.dtype.is_complex:
        phase = diag_embed(diagonal(rest, 0, -2, -1) / (2.0 * S))
        left, right = left + phase, right - phase
    dU, dV = U @ left, adjoint(Vh) @ right
    if U.shape[-2] > S.shape[-1]:
        part = A_t @ adjoint(Vh) / _row(S)
        dU = dU + part - U @ (adjoint(U) @ part)
    if Vh.shape[-1] > S.shape[-1]:
        part = adjoint(A_t) @ U / _row(S)
        dV = dV + part - adjoint(Vh) @ (Vh @ part)
    return [_completed(dU, U, wide), dS.clone(), adjoint(_completed(dV, adjoint(Vh), adjoint(tall)))]


def _completed(tangent: Any, leading: Any, whole: Any) -> Any:
    """The tangent of all columns: those after the leading ones turn as they must to stay orthogonal."""
    k, n = leading.shape[-1], whole.shape[-1]
    if k == n:
        return tangent
    rest = narrow(whole, -1, k, n - k)
    return cat([tangent, -(leading @ (adjoint(tangent) @ rest))], -1)


svd_kernel: Op = kernel(
    "linalg_svd(Tensor A, bool full_matrices=True) -> (Tensor U, Tensor S, Tensor Vh)",
    infer=_svd_infer,
    impl=_svd_impl,
    vjp=Joint("A", _svd_vjp),
    jvp=_svd_jvp,
    out=True,
    namespace="linalg",
    doc="U, S and Vh of A = U diag(S) Vh (torch.linalg.svd).",
    autocast={"cpu": "float32"},
    waits=True,
)
linalg_svd = tupled(svd_kernel.call, "linalg_svd", "U S Vh", ("linalg", "svd"))


def _singular(A: Tensor) -> Any:
    return svd_kernel(A, False)[1]


svdvals = composite(
    "linalg_svdvals(Tensor A) -> Tensor",
    body=_singular,
    inline=True,
    out=True,
    namespace="linalg",
    doc="Singular values, descending (torch.linalg.svdvals).",
    autocast={"cpu": "float32"},
)


def _old_svd(input: Any, some: bool, compute_uv: bool) -> Any:
    U, S, Vh = svd_kernel(input, not some)
    if compute_uv:
        return U, S, adjoint(Vh)
    *batch, m, n = input.shape
    return input.new_zeros((*batch, m, m)), S, input.new_zeros((*batch, n, n)).mT


svd = tupled(
    composite(
        "svd(Tensor input, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
        body=_old_svd,
        inline=True,
        out=True,
        doc="U, S and V of input = U diag(S) V^H (torch.svd).",
        autocast={"cpu": "float32"},
    ).call,
    "svd",
    "U S V",
    ("", "svd"),
    ("Tensor", "svd"),
)

# -- pseudo-inverses ---------------------------------------------------------------------------------


def _pinv_infer(A: Tensor, atol: Any, rtol: Any, hermitian: bool) -> Meta:
    if A.ndim < 2 or A.dtype.category < dtypes.FLOAT or A.dtype.is_half:
        raise RuntimeError(
            f"linalg.pinv({A.dtype.title}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions "
            "of float, double, cfloat or cdouble types"
        )
    if hermitian:
        square(A, "linalg.pinv")
    return Meta((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)


def pinv_gradient(g: Any, A: Any, P: Any) -> Any:
    """The gradient of a pseudo-inverse `P`, at constant rank."""
    gh, Ph = adjoint(g), adjoint(P)
    inner = gh - gh @ P @ A if A.shape[-2] <= A.shape[-1] else None
    if inner is not None:
        return -(Ph @ g @ Ph) + (gh @ P - A @ (P @ (gh @ P))) @ Ph + (Ph @ P) @ inner
    return -(Ph @ g @ Ph) + (gh - A @ (P @ gh)) @ (P @ Ph) + Ph @ (P @ gh - (P @ gh @ P) @ A)


def pinv_tangent(A_t: Any, A: Any, out: Any) -> Any:
    """The tangent of a pseudo-inverse `out`, at constant rank."""
    P, Ph, dAh = out, adjoint(out), adjoint(A_t)
    first = dAh - (dAh @ A) @ P
    last = dAh - P @ (A @ dAh)
    return -(P @ A_t @ P) + (P @ Ph) @ first + last @ (Ph @ P)


pinv_kernel: Op = kernel(
    "linalg_pinv_kernel(Tensor A, Tensor|Number atol, Tensor|Number rtol, bool hermitian=False) -> Tensor",
    infer=_pinv_infer,
    impl=lambda xp, a, atol, rtol, hermitian: kernels.pinv(xp, a, atol, rtol, hermitian),
    vjp={"A": lambda g, A, out: pinv_gradient(g, A, out)},
    jvp=pinv_tangent,
    node="LinalgPinvBackward0",
    namespace="-",
    outside=True,
    doc="The pseudo-inverse, with tolerances resolved.",
    waits=True,
)


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    if rtol is None:
        given = isinstance(atol, Tensor) or (atol is not None and atol > 0)
        rtol = 0.0 if given or A.ndim < 2 else eps(A.dtype) * max(A.shape[-2:])
    return (0.0 if atol is None else atol), rtol


def _pinv_public(A: Tensor, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if A.dtype.category < dtypes.FLOAT or A.ndim < 2:
        _pinv_infer(A, 0.0, 0.0, False)
    return pinv_kernel(A, *_tolerances(A, atol, rtol), hermitian)


linalg_pinv = composite(
    "linalg_pinv(Tensor A, *, Tensor|Number? atol=None, Tensor|Number? rtol=None, bool hermitian=False)"
    " -> Tensor",
    body=_pinv_public,
    inline=True,
    namespace="-",
    outside=True,
    doc="The pseudo-inverse of matrices (torch.linalg.pinv).",
    autocast={"cpu": "float32"},  # PyTorch says so of pinverse
)


@public("linalg", out=True)
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """See torch.linalg.pinv; `rcond` is an older name for `rtol`."""
    return linalg_pinv(A, atol=atol, rtol=rcond if rtol is None else rtol, hermitian=hermitian)


@public(method=True)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
    """The pseudo-inverse of matrices (torch.pinverse)."""
    return linalg_pinv(input, rtol=rcond)


def _rank(A: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    matrices(A, "torch.linalg.matrix_rank", "input")
    atol, rtol = _tolerances(A, atol, rtol)
    if 0 in A.shape:
        return A.new_zeros(tuple(A.shape[:-2]), dtype=dtypes.int64)
    size = abs(eigvalsh(A)) if hermitian else svdvals(A)
    largest = size.amax(-1, True) if hermitian else narrow(size, -1, 0, 1)
    bound = rtol * largest if not isinstance(rtol, Tensor) else unsqueeze(rtol, -1) * largest
    if isinstance(atol, Tensor) or atol != 0:
        floor = unsqueeze(atol, -1) if isinstance(atol, Tensor) else size.new_full((), atol)
        bound = maximum(bound, floor)
    return sum(size > bound, -1)


_rank_op = composite(
    "linalg_matrix_rank(Tensor A, *, Tensor|Number? atol=None, Tensor|Number? rtol=None, "
    "bool hermitian=False) -> Tensor",
    body=_rank,
    inline=True,
    namespace="-",
    outside=True,
    doc="The number of singular values above the tolerance (torch.linalg.matrix_rank).",
    autocast={"cpu": "float32"},
)


@public("linalg", out=True)
def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """See torch.linalg.matrix_rank; `tol` is an older name for `atol`, without a relative tolerance."""
    if tol is not None:
        atol, rtol = tol, 0.0
    return _rank_op(A, atol=atol, rtol=rtol, hermitian=hermitian)
