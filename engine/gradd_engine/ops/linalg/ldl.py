"""LDL factorisations of symmetric and Hermitian matrices, and systems that they solve.

Source: https://docs.pytorch.org/docs/stable/generated/torch.linalg.ldl_factor.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Meta, broadcast_shapes, dtypes, numel
from ...declare import composite, kernel
from ...graph import TURN
from ...kernels import bunch_kaufman
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import rounding
from .linalg_common import check, columns, square, square_floating, tupled


def _cost(A: Tensor, each: int) -> tuple[int, int]:
    """Work and memory of loops over the rows of each matrix, in which Python takes some turns a row."""
    rows = numel(A.shape[:-1])
    return rows * (24 * TURN + 4 * A.shape[-1]) + 4 * each * A.shape[-1], 4 * (A.nbytes + each * 16)


def _factor_infer(A: Tensor, hermitian: bool) -> list[Meta]:
    square(A, "torch.linalg.ldl_factor_ex")
    if A.dtype.is_half:
        raise NotImplementedError(f"\"ldl_factor_kernel_cpu\" not implemented for '{A.dtype.title}'")
    square_floating(A, "torch.linalg.ldl_factor_ex")
    batch = tuple(A.shape[:-2])
    return [columns(A.shape, A.dtype), Meta((*batch, A.shape[-1]), dtypes.int32), Meta(batch, dtypes.int32)]


_factor: Op = kernel(
    "linalg_ldl_factor_ex_kernel(Tensor A, bool hermitian=False)"
    " -> (Tensor LD, const Tensor pivots, const Tensor info)",
    infer=_factor_infer,
    impl=lambda xp, a, hermitian: bunch_kaufman.ldl(xp, a, hermitian),
    refuses=rounding.no_derivative("linalg_ldl_factor_ex"),
    node=rounding.NO_DERIVATIVE,
    cost=lambda A, hermitian: _cost(A, A.numel()),
    namespace="-",
    outside=True,
    doc="L and D in one matrix, the swaps, and for each matrix 0 or its zero pivot.",
    waits=True,
)


def _factor_ex(A: Tensor, hermitian: bool, check_errors: bool) -> Any:
    packed, pivots, info = _factor(A, hermitian)
    if check_errors:
        check(info, "torch.linalg.ldl_factor_ex", "ldl_factor", RuntimeError)
    return packed, pivots, info


def _checked(A: Tensor, hermitian: bool) -> Any:
    packed, pivots, info = _factor(A, hermitian)
    check(info, "torch.linalg.ldl_factor", "ldl_factor", RuntimeError)
    return packed, pivots


ldl_factor_ex = tupled(
    composite(
        "linalg_ldl_factor_ex(Tensor A, *, bool hermitian=False, bool check_errors=False)"
        " -> (Tensor LD, const Tensor pivots, const Tensor info)",
        body=_factor_ex,
        dynamic=True,
        out=True,
        namespace="linalg",
        doc="L and D in one matrix, the swaps, and any zero pivots (torch.linalg.ldl_factor_ex).",
    ).call,
    "linalg_ldl_factor_ex",
    "LD pivots info",
    ("linalg", "ldl_factor_ex"),
)
ldl_factor = tupled(
    composite(
        "linalg_ldl_factor(Tensor A, *, bool hermitian=False) -> (Tensor LD, const Tensor pivots)",
        body=_checked,
        dynamic=True,
        out=True,
        namespace="linalg",
        doc="L and D in one matrix, and the swaps (torch.linalg.ldl_factor). RuntimeError for a zero pivot.",
    ).call,
    "linalg_ldl_factor",
    "LD pivots",
    ("linalg", "ldl_factor"),
)


def _solve_infer(LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool) -> Meta:
    name = "torch.linalg.ldl_solve"
    square(LD, name)
    if B.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected B to have at least 2 dimensions, but it has {B.ndim} dimensions"
        )
    if LD.shape[-1] != B.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {LD.shape[-1]} by {LD.shape[-1]} but "
            f"each b matrix is {B.shape[-2]} by {B.shape[-1]}"
        )
    if tuple(LD.shape[:-1]) != tuple(pivots.shape):
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    if pivots.dtype.category != dtypes.INT:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype.title}")
    square_floating(LD, name)
    if LD.dtype is not B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {B.dtype.title} and A of type "
            f"{LD.dtype.title} instead."
        )
    batch = broadcast_shapes(tuple(B.shape[:-2]), tuple(LD.shape[:-2]))
    return columns((*batch, *B.shape[-2:]), B.dtype)


def _solve_impl(xp: Any, packed: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    batch = np.broadcast_shapes(b.shape[:-2], packed.shape[:-2])
    packed = xp.broadcast_to(packed, (*batch, *packed.shape[-2:]))
    pivots = xp.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    return bunch_kaufman.solve(xp, packed, pivots, xp.broadcast_to(b, (*batch, *b.shape[-2:])), hermitian)


ldl_solve: Op = kernel(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    infer=_solve_infer,
    impl=_solve_impl,
    refuses=rounding.no_derivative("linalg_ldl_solve"),
    node=rounding.NO_DERIVATIVE,
    cost=lambda LD, pivots, B, hermitian: _cost(LD, B.numel()),
    namespace="linalg",
    doc="X with A X = B, from what `ldl_factor` gives for A (torch.linalg.ldl_solve).",
    waits=True,
)
