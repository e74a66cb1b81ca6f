"""Cholesky factorisations. One triangle of the input is read; gradients are those of a Hermitian matrix."""

from __future__ import annotations

from typing import Any

from ...data import Meta, broadcast_shapes, dtypes
from ...declare import Joint, composite, kernel
from ...kernels import factorisations as kernels
from ...schema import Op
from ...tensor import Tensor
from ..shape import diag_embed, diagonal, tril
from .linalg_common import adjoint, check, columns, square, square_floating, tupled
from .solve import solve_triangular_kernel as solve_triangular


def _halved(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return tril(x) - diag_embed(diagonal(x, 0, -2, -1) * 0.5)


def _backward(g: Any, out: Any, upper: bool) -> Any:
    if g is None:
        return None
    L, gL = (adjoint(out), adjoint(g)) if upper else (out, g)
    inner = tril(adjoint(L) @ gL)
    inner = (inner + adjoint(tril(inner, -1))) * 0.5
    found = solve_triangular(adjoint(L), inner, True)
    return solve_triangular(L, found, False, False)


def _forward(A_t: Any, out: Any, upper: bool) -> Any:
    L = adjoint(out) if upper else out
    inner = solve_triangular(L, A_t, False)
    inner = solve_triangular(adjoint(L), inner, True, False)
    found = L @ _halved(inner)
    return adjoint(found) if upper else found


def _infer(A: Tensor, name: str) -> list[Meta]:
    square_floating(A, name)
    return [columns(A.shape, A.dtype), Meta(tuple(A.shape[:-2]), dtypes.int32)]


def _kernel(op_name: str, error_name: str, node: str) -> Op:
    return kernel(
        f"{op_name}(Tensor A, bool upper=False) -> (Tensor L, const Tensor info)",
        infer=lambda A, upper: _infer(A, error_name),
        impl=lambda xp, a, upper: kernels.cholesky(xp, a, upper),
        vjp=Joint("A", lambda grads, out0, upper: (_backward(grads[0], out0, upper),)),
        jvp=lambda A_t, outs, upper: [_forward(A_t, outs[0], upper), None],
        node=node,
        namespace="-",
        outside=True,
        doc="A triangular factor, and for each matrix 0 or the leading minor that is not positive.",
    )


_ex = _kernel("linalg_cholesky_ex_kernel", "linalg.cholesky", "LinalgCholeskyExBackward0")
_old = _kernel("cholesky_kernel", "cholesky", "CholeskyBackward0")


def _checked(A: Tensor, upper: bool, factor: Op, name: str) -> Any:
    out, info = factor(A, upper)
    check(info, name, "cholesky")
    return out


def _pair(A: Tensor, upper: bool, check_errors: bool) -> Any:
    out, info = _ex(A, upper)
    if check_errors:
        check(info, "linalg.cholesky_ex", "cholesky")
    return out, info


cholesky_ex = tupled(
    composite(
        "linalg_cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False)"
        " -> (Tensor L, const Tensor info)",
        body=_pair,
        dynamic=True,
        out=True,
        namespace="linalg",
        doc="A triangular factor, and the leading minor that failed, if any (torch.linalg.cholesky_ex).",
        autocast={"cpu": "float32"},
    ).call,
    "linalg_cholesky_ex",
    "L info",
    ("linalg", "cholesky_ex"),
)
linalg_cholesky = composite(
    "linalg_cholesky(Tensor A, *, bool upper=False) -> Tensor",
    body=lambda A, upper: _checked(A, upper, _ex, "linalg.cholesky"),
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="L of A = L L^H; LinAlgError unless A is positive-definite (torch.linalg.cholesky).",
    autocast={"cpu": "float32"},
)
cholesky = composite(
    "cholesky(Tensor input, bool upper=False) -> Tensor",
    body=lambda input, upper: _checked(input, upper, _old, "cholesky"),
    dynamic=True,
    out=True,
    method=True,
    doc="A triangular factor; LinAlgError unless `input` is positive-definite (torch.cholesky).",
    autocast={"cpu": "float32"},
)

# -- with a factor at hand ---------------------------------------------------------------------------


def _solve_infer(input: Tensor, input2: Tensor, upper: bool) -> Meta:
    if input.ndim < 2:
        raise RuntimeError(f"b should have at least 2 dimensions, but has {input.ndim} dimensions instead")
    if input2.ndim < 2:
        raise RuntimeError(f"u should have at least 2 dimensions, but has {input2.ndim} dimensions instead")
    if input.dtype is not input2.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {input.dtype.title} and A of type "
            f"{input2.dtype.title} instead."
        )
    square(input2, "")
    if input.shape[-2] != input2.shape[-1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {input2.shape[-1]} by "
            f"{input2.shape[-1]} but each b matrix is {input.shape[-2]} by {input.shape[-1]}"
        )
    batch = broadcast_shapes(tuple(input.shape[:-2]), tuple(input2.shape[:-2]))
    return columns((*batch, *input.shape[-2:]), input.dtype)


def _solve_impl(xp: Any, b: Any, factor: Any, upper: bool) -> Any:
    first = kernels.adjoint(xp, factor) if upper else factor
    y = kernels.solve_triangular(xp, first, b, False, True, False)
    return kernels.solve_triangular(xp, kernels.adjoint(xp, first), y, True, True, False)


def _both(x: Any) -> Any:
    return x + adjoint(x)


def _solve_vjp(g: Any, input: Any, input2: Any, out: Any, upper: bool, needs: Any) -> Any:
    gB = cholesky_solve(g, input2, upper)
    gL = None
    if needs[1]:
        common = _both(gB @ adjoint(out))
        gL = -(input2 @ common) if upper else -(common @ input2)
    return gB if needs[0] else None, gL


def _product_tangent(L: Any, L_t: Any, upper: bool) -> Any:
    """The tangent of L L^H, or of U^H U."""
    return _both(adjoint(L_t) @ L if upper else L_t @ adjoint(L))


def _solve_jvp(input_t: Any, input2_t: Any, input2: Any, out: Any, upper: bool) -> Any:
    moved = input_t
    if input2_t is not None:
        part = _product_tangent(input2, input2_t, upper) @ out
        moved = -part if input_t is None else input_t - part
    return cholesky_solve(moved, input2, upper)


cholesky_solve: Op = kernel(
    "cholesky_solve(Tensor input, Tensor input2, bool upper=False) -> Tensor",
    infer=_solve_infer,
    impl=_solve_impl,
    vjp=Joint("input input2", _solve_vjp),
    jvp=_solve_jvp,
    method=True,
    doc="X of A X = input, where input2 is a Cholesky factor of A (torch.cholesky_solve).",
    autocast={"cpu": "float32"},
)


def _inverse_infer(input: Tensor, upper: bool) -> Meta:
    square(input, "cholesky_inverse")
    return columns(input.shape, input.dtype)


def _inverse_impl(xp: Any, factor: Any, upper: bool) -> Any:
    eye = xp.broadcast_to(xp.eye(factor.shape[-1], dtype=factor.dtype), factor.shape)
    return _solve_impl(xp, eye, factor, upper)


def _inverse_vjp(g: Any, input: Any, out: Any, upper: bool) -> Any:
    common = out @ _both(g) @ out
    return -(input @ common) if upper else -(common @ input)


cholesky_inverse = kernel(
    "cholesky_inverse(Tensor input, bool upper=False) -> Tensor",
    infer=_inverse_infer,
    impl=_inverse_impl,
    vjp=_inverse_vjp,
    jvp=lambda input_t, input, out, upper: -(out @ _product_tangent(input, input_t, upper) @ out),
    method=True,
    doc="The inverse of the matrix whose Cholesky factor is `input` (torch.cholesky_inverse).",
    autocast={"cpu": "float32"},
)
