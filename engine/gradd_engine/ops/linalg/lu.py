"""LU factorisations: A = P L U (https://pytorch.org/docs/stable/generated/torch.linalg.lu.html)."""

from __future__ import annotations

from typing import Any

from ...data import Meta, broadcast_shapes, dtypes
from ...declare import Joint, composite, kernel, typed
from ...kernels import factorisations as kernels
from ...schema import Op
from ...tensor import Tensor
from ..index import cat
from ..shape import transpose, tril, triu
from .linalg_common import adjoint, check, column_major, columns, publish, same_dtype, square, tupled
from .solve import fits, solve_triangular_kernel


def _rectangular(A: Tensor, name: str, pivot: bool, kernel: str = "lu_cpu") -> int:
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    if A.dtype.category < dtypes.FLOAT or A.dtype.is_half:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{A.dtype.title}'")
    k: int = min(A.shape[-2:])
    return k


def _add(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _lower_solve(L: Any, x: Any, adjoint_: bool) -> Any:
    return solve_triangular_kernel(adjoint(L) if adjoint_ else L, x, adjoint_, True, True)


def _parts(x: Any, dim: int, k: int) -> tuple[Any, Any]:
    return x.narrow(dim, 0, k), x.narrow(dim, k, x.shape[dim] - k)


def _backward(gL: Any, gU: Any, P: Any, L: Any, U: Any) -> Any:
    """The gradient of A. What lies beyond the leading square solves a triangular system with that square's
    factors, and contributes to their gradients.
    """
    m, n, k = L.shape[-2], U.shape[-1], U.shape[-2]
    rest = None
    if n > k:
        U, U2 = _parts(U, -1, k)
        if gU is not None:
            gU, g2 = _parts(gU, -1, k)
            rest = _lower_solve(L, g2, True)
            gL = _add(gL, -(rest @ adjoint(U2)))
    elif m > k:
        L, L2 = _parts(L, -2, k)
        if gL is not None:
            gL, g2 = _parts(gL, -2, k)
            rest = solve_triangular_kernel(adjoint(U), g2, False, False)
            gU = _add(gU, -(adjoint(L2) @ rest))
    inner = None
    if gL is not None:
        inner = tril(adjoint(L) @ gL, -1)
    if gU is not None:
        inner = _add(inner, triu(gU @ adjoint(U)))
    found = solve_triangular_kernel(adjoint(U), _lower_solve(L, inner, True), False, False)
    if n > k:
        found = cat([found, found.new_zeros((*found.shape[:-1], n - k)) if rest is None else rest], -1)
    elif m > k:
        zeros = found.new_zeros((*found.shape[:-2], m - k, n))
        found = cat([found, zeros if rest is None else rest], -2)
    return P @ found


def _forward(A_t: Any, P: Any, L: Any, U: Any) -> tuple[Any, Any]:
    m, n, k = L.shape[-2], U.shape[-1], U.shape[-2]
    moved = transpose(P, -2, -1) @ A_t
    if m == n:
        return _square_forward(moved, L, U)
    if n > k:
        (first, second), (U1, U2) = _parts(moved, -1, k), _parts(U, -1, k)
        dL, dU = _square_forward(first, L, U1)
        return dL, cat([dU, _lower_solve(L, second - dL @ U2, False)], -1)
    (first, second), (L1, L2) = _parts(moved, -2, k), _parts(L, -2, k)
    dL, dU = _square_forward(first, L1, U)
    return cat([dL, solve_triangular_kernel(U, second - L2 @ dU, True, False)], -2), dU


def _square_forward(x: Any, L: Any, U: Any) -> tuple[Any, Any]:
    inner = solve_triangular_kernel(U, _lower_solve(L, x, False), True, False)
    return L @ tril(inner, -1), triu(inner) @ U


# -- P, L, U -----------------------------------------------------------------------------------------


def _split_shapes(shape: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    *batch, m, n = shape
    k = min(m, n)
    return (*batch, m, m), (*batch, m, k), (*batch, k, n)


def _lu_infer(A: Tensor, pivot: bool) -> list[Meta]:
    _rectangular(A, "linalg.lu", pivot)
    return [Meta(shape, A.dtype) for shape in _split_shapes(A.shape)]


def _unpacked(xp: Any, packed: Any, pivots: Any) -> tuple[Any, Any, Any]:
    m, n = packed.shape[-2:]
    k = min(m, n)
    lower = xp.tril(packed[..., :, :k], -1) + xp.eye(m, k, dtype=packed.dtype)
    return kernels.permutation(xp, pivots, m, packed.dtype), lower, xp.triu(packed[..., :k, :])


def _lu_impl(xp: Any, a: Any, pivot: bool) -> Any:
    packed, pivots, _ = kernels.lu(xp, a)
    return _unpacked(xp, packed, pivots)


_lu: Op = kernel(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (const Tensor P, Tensor L, Tensor U)",
    infer=_lu_infer,
    impl=_lu_impl,
    vjp=Joint("A", lambda grads, outs: (_backward(grads[1], grads[2], *outs),)),
    jvp=lambda A_t, outs: [None, *_forward(A_t, *outs)],
    out=True,
    namespace="linalg",
    doc="P, L and U with A = P L U (torch.linalg.lu).",
)
lu = tupled(_lu.call, "linalg_lu", "P L U", ("linalg", "lu"))

# -- packed ------------------------------------------------------------------------------------------


def _factor_infer(A: Tensor, pivot: bool) -> list[Meta]:
    k = _rectangular(A, "torch.lu_factor", pivot)
    batch = tuple(A.shape[:-2])
    return [columns(A.shape, A.dtype), Meta((*batch, k), dtypes.int32), Meta(batch, dtypes.int32)]


def _split(packed: Any) -> tuple[Any, Any]:
    k = min(packed.shape[-2:])
    return packed.narrow(-1, 0, k).tril(-1), packed.narrow(-2, 0, k).triu()


def _factors(packed: Any, pivots: Any) -> tuple[Any, Any, Any]:
    P, L, U = lu_unpack(packed, pivots)
    return P, L, U


def _packed(dL: Any, dU: Any) -> Any:
    m, n = dL.shape[-2], dU.shape[-1]
    k = dU.shape[-2]
    low, high = tril(dL, -1), triu(dU)
    if n > k:
        low = cat([low, low.new_zeros((*low.shape[:-1], n - k))], -1)
    elif m > k:
        high = cat([high, high.new_zeros((*high.shape[:-2], m - k, n))], -2)
    return low + high


_factor: Op = kernel(
    "linalg_lu_factor_ex_kernel(Tensor A, bool pivot=True)"
    " -> (Tensor LU, const Tensor pivots, const Tensor info)",
    infer=_factor_infer,
    impl=lambda xp, a, pivot: kernels.lu(xp, a),
    vjp=Joint(
        "A",
        lambda grads, out0, out1: (
            None if grads[0] is None else _backward(*_split(grads[0]), *_factors(out0, out1)),
        ),
    ),
    jvp=lambda A_t, outs: [_packed(*_forward(A_t, *_factors(outs[0], outs[1]))), None, None],
    node="LinalgLuFactorExBackward0",
    namespace="-",
    outside=True,
    doc="L and U in one matrix, the row swaps, and for each matrix 0 or its zero pivot.",
)


def _factor_ex(A: Tensor, pivot: bool, check_errors: bool) -> Any:
    packed, pivots, info = _factor(A, pivot)
    if check_errors:
        check(info, "torch.linalg.lu_factor_ex", "lu_factor", RuntimeError)
    return packed, pivots, info


def _checked_factor(A: Tensor, pivot: bool) -> Any:
    packed, pivots, info = _factor(A, pivot)
    check(info, "torch.linalg.lu_factor", "lu_factor", RuntimeError)
    return packed, pivots


lu_factor_ex = tupled(
    composite(
        "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False)"
        " -> (Tensor LU, const Tensor pivots, const Tensor info)",
        body=_factor_ex,
        dynamic=True,
        out=True,
        namespace="linalg",
        doc="L and U in one matrix, the row swaps, and any zero pivots (torch.linalg.lu_factor_ex).",
    ).call,
    "linalg_lu_factor_ex",
    "LU pivots info",
    ("linalg", "lu_factor_ex"),
)
lu_factor = tupled(
    composite(
        "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, const Tensor pivots)",
        body=_checked_factor,
        dynamic=True,
        out=True,
        namespace="linalg",
        doc="L and U in one matrix, and the row swaps (torch.linalg.lu_factor).",
    ).call,
    "linalg_lu_factor",
    "LU pivots",
    ("linalg", "lu_factor"),
)


@typed(
    "(A, pivot=True, get_infos: Literal[False] = False) -> tuple[Tensor, Tensor]",
    "(A, pivot=True, *, get_infos: Literal[True]) -> tuple[Tensor, Tensor, Tensor]",
)
def old_lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """See torch.lu: LU and pivots, and info if `get_infos`; a zero pivot is no error."""
    packed, pivots, info = _factor(A, pivot)
    return (packed, pivots, info) if get_infos else (packed, pivots)


publish(old_lu, ("", "lu"), ("Tensor", "lu"))


def _unpack_infer(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool) -> list[Meta]:
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    P, L, U = _split_shapes(LU_data.shape)
    return [
        Meta(P if unpack_pivots else (0,), LU_data.dtype),
        Meta(L if unpack_data else (0,), LU_data.dtype),
        Meta(U if unpack_data else (0,), LU_data.dtype),
    ]


def _unpack_impl(xp: Any, packed: Any, pivots: Any, unpack_data: bool, unpack_pivots: bool) -> Any:
    nothing = xp.zeros(0, packed.dtype)
    if unpack_pivots:
        P, L, U = _unpacked(xp, packed, pivots)
    else:
        P = nothing
        L, U = _unpacked(xp, packed, xp.ones((*packed.shape[:-2], 1), pivots.dtype))[1:]
    return (P, L, U) if unpack_data else (P, nothing, nothing)


def _unpack_vjp(grads: Any, LU_data_meta: Any) -> Any:
    _, gL, gU = grads
    *batch, m, n = LU_data_meta.shape
    k = min(m, n)
    low = None if gL is None else gL
    high = gU
    if low is None:
        low = high.new_zeros((*batch, m, k))
    if high is None:
        high = low.new_zeros((*batch, k, n))
    return (_packed(low, high),)


_unpack: Op = kernel(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True)"
    " -> (const Tensor P, Tensor L, Tensor U)",
    infer=_unpack_infer,
    impl=_unpack_impl,
    vjp=Joint("LU_data", _unpack_vjp),
    jvp=lambda LU_data_t: [None, *_split(LU_data_t)],
    out=True,
    doc="P, L and U from the result of lu_factor (torch.lu_unpack).",
)
lu_unpack = tupled(_unpack.call, "lu_unpack", "P L U", ("", "lu_unpack"))

# -- solutions ---------------------------------------------------------------------------------------


def _lu_solve_infer(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Meta:
    name = "linalg.lu_solve"
    same_dtype(LU, B, name, "LU", "B")
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    square(LU, name)
    fits(LU, B, left, name)
    if pivots.ndim == 0 or pivots.shape[-1] != LU.shape[-1]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if tuple(pivots.shape[:-1]) != tuple(LU.shape[:-2]):
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    shape = (*broadcast_shapes(tuple(LU.shape[:-2]), tuple(B.shape[:-2])), *B.shape[-2:])
    return Meta(shape, B.dtype, column_major(shape) if left else None)


def _lu_solve_unfolded(LU: Any, pivots: Any, B: Any, left: bool, adjoint: bool) -> Any:
    P, L, U = lu_unpack(LU, pivots)
    return _solution(P, L, U, B, left, adjoint)


def _solution(P: Any, L: Any, U: Any, B: Any, left: bool, turned: bool) -> Any:
    if not left:
        return adjoint(_solution(P, L, U, adjoint(B), True, not turned))
    if turned:
        y = solve_triangular_kernel(adjoint(U), B, False)
        return P @ _lower_solve(L, y, True)
    y = _lower_solve(L, transpose(P, -2, -1) @ B, False)
    return solve_triangular_kernel(U, y, True)


lu_solve_kernel: Op = kernel(
    "linalg_lu_solve_kernel(Tensor LU, Tensor pivots, Tensor B, bool left=True, bool adjoint=False)"
    " -> Tensor",
    infer=_lu_solve_infer,
    impl=lambda xp, LU, pivots, b, left, adjoint: kernels.lu_solve(xp, LU, pivots, b, left, adjoint),
    composite=_lu_solve_unfolded,
    namespace="-",
    outside=True,
    doc="The solution of a linear system from its LU factors.",
)
lu_solve = composite(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    body=lambda LU, pivots, B, left, adjoint: lu_solve_kernel(LU, pivots, B, left, adjoint),
    inline=True,
    out=True,
    namespace="linalg",
    doc="The solution of a linear system from its LU factors (torch.linalg.lu_solve).",
)
old_lu_solve = composite(
    "lu_solve(Tensor input, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    body=lambda input, LU_data, LU_pivots: lu_solve_kernel(LU_data, LU_pivots, input),
    inline=True,
    out=True,
    method=True,
    doc="The solution of a linear system from its LU factors (torch.lu_solve).",
    autocast={"cpu": "float32"},
)
