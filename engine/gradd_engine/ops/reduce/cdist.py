"""Distances between rows: cdist and pdist. The gradient at distance 0 is 0 for every order; as in PyTorch,
there is no forward mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Meta, broadcast_shapes, dtypes
from ...declare import composite, kernel, public
from ...schema import Op, named
from ...tensor import Tensor
from ..create import triu_indices
from ..elementwise import where
from ..shape import contiguous, unsqueeze
from ..shared import refuse
from .reductions import sum
from .vector_norm import factor as norm_factor
from .vector_norm import kernel as norm_of

# -- two collections ---------------------------------------------------------------------------------


def _cdist_infer(x1: Tensor, x2: Tensor, p: float) -> Meta:
    for name, x in (("X1", x1), ("X2", x2)):
        if x.dtype.category != dtypes.FLOAT:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype.title}")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    batch = broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"expected scalar type {x1.dtype.title} but found {x2.dtype.title}")
    refuse(x1.dtype, "cdist", dtypes.float16, dtypes.bfloat16)
    return Meta((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)


def _cdist_impl(xp: Any, a: Any, b: Any, p: float) -> Any:
    if not a.shape[-1]:
        return xp.zeros((*a.shape[:-1], b.shape[-2]), a.dtype) + xp.zeros((*b.shape[:-2], 1, 1), a.dtype)
    return norm_of(xp, a[..., :, None, :] - b[..., None, :, :], p, (-1,), False, None)


def _steps(x1: Any, x2: Any) -> Any:
    return unsqueeze(x1, -2) - unsqueeze(x2, -3)


def _cdist_slope(g: Any, x1: Any, x2: Any, p: float, out: Any) -> Any:
    factor = norm_factor(_steps(x1, x2), p, (-1,), False, out)
    return None if factor is None else unsqueeze(g, -1) * factor


def _first(g: Any, x1: Any, x2: Any, p: float, out: Any) -> Any:
    slope = _cdist_slope(g, x1, x2, p, out)
    return x1.new_zeros(tuple(x1.shape)) if slope is None else sum(slope, -2)


def _second(g: Any, x1: Any, x2: Any, p: float, out: Any) -> Any:
    slope = _cdist_slope(g, x1, x2, p, out)
    return x2.new_zeros(tuple(x2.shape)) if slope is None else -sum(slope, -3)


_cdist: Op = kernel(
    "_cdist_forward(Tensor x1, Tensor x2, float p=2.0) -> Tensor",
    infer=_cdist_infer,
    impl=_cdist_impl,
    vjp=(_first, _second),
    node="CdistBackward0",
    namespace="-",
    outside=True,
    doc="The p-norm distances between the rows of two collections (torch.cdist).",
    raises=False,
    autocast="float32",
)


def _euclidean_impl(xp: Any, a: Any, b: Any) -> Any:
    """From one matrix product: squares of close rows lose digits, as they do in PyTorch."""
    squares = (a * a).sum(-1)[..., :, None] + (b * b).sum(-1)[..., None, :]
    squares -= 2 * xp.matmul(a, b.swapaxes(-1, -2))
    return xp.sqrt(xp.maximum(squares, 0))


def _over_distance(g: Any, out: Any) -> Any:
    none = out.eq(0)
    return where(none, 0.0, g / where(none, 1.0, out))


def _toward(g: Any, x1: Any, x2: Any, out: Any) -> Any:
    share = _over_distance(g, out)
    return x1 * sum(share, -1, True) - named.matmul(share, x2)


_euclidean: Op = kernel(
    "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
    infer=lambda x1, x2: _cdist_infer(x1, x2, 2.0),
    impl=_euclidean_impl,
    vjp=(
        lambda g, x1, x2, out: _toward(g, x1, x2, out),
        lambda g, x1, x2, out: _toward(g.transpose(-1, -2), x2, x1, out.transpose(-1, -2)),
    ),
    node="EuclideanDistBackward0",
    namespace="-",
    outside=True,
    doc="The Euclidean distances between the rows of two collections, from their products.",
    raises=False,
    autocast="float32",
)

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@public()
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Any:
    """The p-norm distances between the rows of two collections; many are computed by a matrix product."""
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    many = min(x1.ndim, x2.ndim) > 1 and max(x1.shape[-2], x2.shape[-2]) > 25
    by_product = compute_mode == _MODES[1] or (compute_mode == _MODES[0] and many)
    if p == 2 and by_product and x1.numel() and x2.numel():
        found = _euclidean(x1, x2)
        return found.view(list(found.shape))
    return _cdist(x1, x2, p)


# -- one collection ----------------------------------------------------------------------------------


def _pdist_infer(input: Tensor, p: float) -> Meta:
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if input.dtype.category != dtypes.FLOAT:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    n = input.shape[0]
    return Meta((n * (n - 1) // 2,), input.dtype)


def _pdist_impl(xp: Any, a: Any, p: float) -> Any:
    i, j = map(xp.asarray, np.triu_indices(a.shape[0], 1))
    if not a.shape[1]:
        return xp.zeros(i.shape, a.dtype)
    return norm_of(xp, a[i] - a[j], p, (-1,), False, None)


def _pdist_cost(input: Tensor, p: float = 2.0) -> tuple[int, int]:
    """One difference per pair of rows, and the pairs themselves."""
    rows, columns = input.shape
    pairs = rows * (rows - 1) // 2
    return 4 * pairs * columns, 3 * pairs * columns * input.dtype.itemsize + 16 * pairs + rows * rows


def _pairs(n: int) -> tuple[Any, Any]:
    rows = triu_indices(n, n, 1)
    return rows.select(0, 0), rows.select(0, 1)


def _pdist_vjp(g: Any, input: Any, p: float, out: Any) -> Any:
    i, j = _pairs(input.shape[0])
    zeros = input.new_zeros(tuple(input.shape))
    factor = norm_factor(input.index_select(0, i) - input.index_select(0, j), p, (-1,), False, out)
    if factor is None:
        return zeros
    slope = unsqueeze(g, -1) * factor
    return zeros.index_add(0, i, slope).index_add(0, j, -slope)


_pdist: Op = kernel(
    "_pdist_forward(Tensor input, float p=2.0) -> Tensor",
    infer=_pdist_infer,
    impl=_pdist_impl,
    cost=_pdist_cost,
    vjp=_pdist_vjp,
    node="PdistBackward0",
    namespace="-",
    outside=True,
    doc="`pdist` of a row-major matrix.",
    raises=False,
)
pdist = composite(
    "pdist(Tensor input, float p=2.0) -> Tensor",
    body=lambda input, p: _pdist(contiguous(input), p),
    namespace="|nn.functional",
    doc="The p-norm distance of every pair of rows of a matrix (torch.nn.functional.pdist).",
    autocast={"cuda": "float32"},
)
