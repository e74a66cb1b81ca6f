"""Inverses and linear systems (https://pytorch.org/docs/stable/linalg.html).

`inv` and `solve` read the kernel's info and raise at the call; the ``_ex`` forms return it instead.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...data import Meta, broadcast_shapes, dtypes
from ...declare import Joint, composite, kernel
from ...kernels import factorisations as kernels
from ...schema import Op, named
from ...tensor import Tensor
from ..shape import permute, reshape, squeeze_dim, transpose, tril, triu, unsqueeze
from ..shared import conj
from .linalg_common import (
    adjoint,
    check,
    column_major,
    columns,
    floating,
    matrices,
    same_dtype,
    square,
    square_floating,
    tupled,
)

# -- inverses ----------------------------------------------------------------------------------------


def _inv_infer(A: Tensor, name: str = "linalg.inv") -> list[Meta]:
    square_floating(A, name)
    return [columns(A.shape, A.dtype), Meta(tuple(A.shape[:-2]), dtypes.int32)]


_inv_ex: Op = kernel(
    "linalg_inv_ex_kernel(Tensor A) -> (Tensor inverse, const Tensor info)",
    infer=_inv_infer,
    impl=lambda xp, a: kernels.inverse(xp, a),
    vjp=Joint(
        "A",
        lambda grads, out0: (None if grads[0] is None else -(adjoint(out0) @ (grads[0] @ adjoint(out0))),),
    ),
    jvp=lambda A_t, outs: [-(outs[0] @ (A_t @ outs[0])), None],
    node="LinalgInvExBackward0",
    namespace="-",
    outside=True,
    doc="Inverses, and for each matrix 0 or its zero pivot.",
)


def _checked_inv(A: Tensor, name: str = "linalg.inv") -> Any:
    out, info = _inv_ex(A)
    check(info, name, "inv")
    return out


def _inv_pair(A: Tensor, check_errors: bool) -> Any:
    out, info = _inv_ex(A)
    if check_errors:
        check(info, "linalg.inv_ex", "inv")
    return out, info


_inv_ex_op = composite(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, const Tensor info)",
    body=_inv_pair,
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="Inverses, and for each matrix 0 or its zero pivot (torch.linalg.inv_ex).",
    autocast={"cpu": "float32"},
)
inv_ex = tupled(_inv_ex_op.call, "linalg_inv_ex", "inverse info", ("linalg", "inv_ex"))
inv = composite(
    "linalg_inv(Tensor A) -> Tensor",
    body=_checked_inv,
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="The inverses of square matrices; LinAlgError if one is singular (torch.linalg.inv).",
    autocast={"cpu": "float32"},
)
inverse = composite(
    "inverse(Tensor input) -> Tensor",
    body=_checked_inv,
    dynamic=True,
    out=True,
    method=True,
    doc="The inverses of square matrices; LinAlgError if one is singular (torch.inverse).",
    autocast={"cpu": "float32"},
)

# -- equations ---------------------------------------------------------------------------------------


def vector_side(A: Any, B: Any) -> bool:
    """Whether `B` is a batch of vectors, by torch.linalg.solve's rule."""
    return bool(B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1])))


def fits(A: Any, B: Any, left: bool, name: str) -> None:
    """Raise RuntimeError unless `B` fits A X = B, or X A = B without `left`."""
    matrices(B, name, "B")
    if A.shape[-2 if left else -1] != B.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )


def _solve_infer(A: Tensor, B: Tensor, left: bool) -> list[Meta]:
    name = "linalg.solve"
    floating(A, name)
    same_dtype(A, B, name)
    vector = vector_side(A, B)
    square(A, name)
    if vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this "
            "case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    given = Meta((*B.shape, 1), B.dtype) if vector else B
    fits(A, given, left, name)
    batch = broadcast_shapes(tuple(A.shape[:-2]), tuple(given.shape[:-2]))
    shape = (*batch, *given.shape[-2:])
    strides = column_major(shape) if left else None
    out = Meta(shape, A.dtype, strides)
    if vector:
        out = columns(shape[:-1], A.dtype)
    return [out, Meta(tuple(A.shape[:-2]), dtypes.int32)]


def _solve_impl(xp: Any, a: Any, b: Any, left: bool) -> Any:
    vector = vector_side(a, b)
    b = b[..., None] if vector else b
    if left:
        out, info = kernels.solve(xp, a, b)
        return (out[..., 0] if vector else out), info
    out, info = kernels.solve(xp, kernels.turned(xp, a), kernels.turned(xp, b))
    return kernels.turned(xp, out), info


def _solve_vjp(grads: Any, A: Any, B_meta: Any, out0: Any, left: bool, needs: Any) -> Any:
    g = grads[0]
    if g is None:
        return None, None
    gB = solve_ex_kernel(adjoint(A), g, left)[0]
    gA = None
    if needs[0]:
        if vector_side(A, B_meta):
            gA = -(unsqueeze(gB, -1) @ unsqueeze(conj(out0), -2))
        else:
            gA = -(gB @ adjoint(out0)) if left else -(adjoint(out0) @ gB)
    return gA, gB if needs[1] else None


def _solve_jvp(A_t: Any, B_t: Any, A: Any, B_meta: Any, outs: Any, left: bool) -> Any:
    x = outs[0]
    moved = B_t
    if A_t is not None:
        if vector_side(A, B_meta):
            part = squeeze_dim(A_t @ unsqueeze(x, -1), -1)
        else:
            part = A_t @ x if left else x @ A_t
        moved = -part if B_t is None else B_t - part
    return [solve_ex_kernel(A, moved, left)[0], None]


solve_ex_kernel: Op = kernel(
    "linalg_solve_ex_kernel(Tensor A, Tensor B, bool left=True) -> (Tensor result, const Tensor info)",
    infer=_solve_infer,
    impl=_solve_impl,
    vjp=Joint("A B", _solve_vjp),
    jvp=_solve_jvp,
    node="LinalgSolveExBackward0",
    namespace="-",
    outside=True,
    doc="The solution of a linear system, and for each matrix 0 or its zero pivot.",
)


def _solve_pair(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> Any:
    out, info = solve_ex_kernel(A, B, left)
    if check_errors:
        check(info, "torch.linalg.solve_ex", "solve")
    return out, info


def checked_solve(A: Tensor, B: Tensor, left: bool = True) -> Any:
    """See torch.linalg.solve."""
    out, info = solve_ex_kernel(A, B, left)
    check(info, "torch.linalg.solve", "solve")
    return out


_solve_ex_op = composite(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False)"
    " -> (Tensor result, const Tensor info)",
    body=_solve_pair,
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="The solution of a linear system, and for each matrix 0 or its zero pivot (torch.linalg.solve_ex).",
)
solve_ex = tupled(_solve_ex_op.call, "linalg_solve_ex", "result info", ("linalg", "solve_ex"))
solve = composite(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    body=checked_solve,
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="The solution of a linear system; LinAlgError if a matrix is singular (torch.linalg.solve).",
    autocast={"cpu": "float32"},
)

# -- triangular --------------------------------------------------------------------------------------


def _triangular_infer(A: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool) -> Meta:
    name = "linalg.solve_triangular"
    square(A, name)
    fits(A, B, left, name)
    floating(A, name)
    same_dtype(A, B, name)
    batch = broadcast_shapes(tuple(A.shape[:-2]), tuple(B.shape[:-2]))
    return columns((*batch, *B.shape[-2:]), A.dtype)


def _triangle(x: Any, upper: bool, unit: bool) -> Any:
    return triu(x, int(unit)) if upper else tril(x, -int(unit))


def _triangular_vjp(
    g: Any, A: Any, out: Any, upper: bool, left: bool, unitriangular: bool, needs: Any
) -> Any:
    gB = solve_triangular_kernel(adjoint(A), g, not upper, left, unitriangular)
    gA = None
    if needs[0]:
        gA = _triangle(-(gB @ adjoint(out) if left else adjoint(out) @ gB), upper, unitriangular)
    return gA, gB if needs[1] else None


def _triangular_jvp(
    A_t: Any, B_t: Any, A: Any, out: Any, upper: bool, left: bool, unitriangular: bool
) -> Any:
    moved = B_t
    if A_t is not None:
        part = _triangle(A_t, upper, unitriangular)
        part = part @ out if left else out @ part
        moved = -part if B_t is None else B_t - part
    return solve_triangular_kernel(A, moved, upper, left, unitriangular)


solve_triangular_kernel: Op = kernel(
    "linalg_solve_triangular_kernel(Tensor A, Tensor B, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor",
    infer=_triangular_infer,
    impl=lambda xp, a, b, upper, left, unitriangular: kernels.solve_triangular(
        xp, a, b, upper, left, unitriangular
    ),
    vjp=Joint("A B", _triangular_vjp),
    jvp=_triangular_jvp,
    node="LinalgSolveTriangularBackward0",
    namespace="-",
    outside=True,
    doc="The solution of a triangular system; only the named triangle is read.",
)
solve_triangular = composite(
    "linalg_solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, bool unitriangular=False)"
    " -> Tensor",
    body=lambda A, B, upper, left, unitriangular: solve_triangular_kernel(A, B, upper, left, unitriangular),
    inline=True,
    out=True,
    namespace="linalg",
    doc="The solution of a triangular system (torch.linalg.solve_triangular).",
)


def _old_triangular(input: Tensor, A: Tensor, upper: bool, transpose_: bool, unitriangular: bool) -> Any:
    turned = transpose(A, -2, -1) if transpose_ else A
    found = solve_triangular_kernel(turned, input, upper != transpose_, True, unitriangular)
    return found, named.to_layout(A, list(column_major(tuple(A.shape))))


triangular_solve = tupled(
    composite(
        "triangular_solve(Tensor input, Tensor A, bool upper=True, bool transpose=False, "
        "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
        body=lambda input, A, upper, transpose, unitriangular: _old_triangular(
            input, A, upper, transpose, unitriangular
        ),
        inline=True,
        out=True,
        doc="X of A X = input for triangular A, and A itself (torch.triangular_solve).",
        autocast={"cpu": "float32"},
    ).call,
    "triangular_solve",
    "solution cloned_coefficient",
    ("", "triangular_solve"),
    ("Tensor", "triangular_solve"),
)

# -- tensors as matrices -----------------------------------------------------------------------------


def _tensorinv(A: Tensor, ind: int) -> Any:
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, cols = prod(A.shape[:ind]), prod(A.shape[ind:])
    if rows != cols:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but "
            f"got {cols} != {rows}"
        )
    found = _checked_inv(reshape(A, [rows, cols]), "inv")
    return reshape(found, [*A.shape[ind:], *A.shape[:ind]])


def _tensorsolve(A: Tensor, B: Tensor, dims: Any) -> Any:
    if dims is not None:
        moved = [d % A.ndim for d in dims]
        A = permute(A, [*(d for d in range(A.ndim) if d not in moved), *moved])
    shape = A.shape[B.ndim :]
    cols = prod(shape)
    if cols != prod(A.shape[: B.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {cols} != {prod(A.shape[: B.ndim])}"
        )
    found = checked_solve(reshape(A, [cols, cols]), reshape(B, [-1]))
    return reshape(found, list(shape))


tensorinv = composite(
    "linalg_tensorinv(Tensor A, int ind=2) -> Tensor",
    body=_tensorinv,
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="The inverse of a tensor seen as a matrix with `ind` row dimensions (torch.linalg.tensorinv).",
    autocast={"cpu": "float32"},
)
tensorsolve = composite(
    "linalg_tensorsolve(Tensor A, Tensor B, int[]? dims=None) -> Tensor",
    body=_tensorsolve,
    dynamic=True,
    out=True,
    namespace="linalg",
    doc="X of tensordot(A, X, X.ndim) = B (torch.linalg.tensorsolve).",
    autocast={"cpu": "float32"},
)
