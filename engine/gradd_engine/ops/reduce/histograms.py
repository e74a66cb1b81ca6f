"""Histograms of one dimension and several, with weights and densities.

https://pytorch.org/docs/stable/generated/torch.histogram.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...data import Meta, dtypes, numel
from ...declare import attach, kernel, public
from ...schema import Op
from ...tensor import Tensor
from ..create import ranges
from ..shape import detach, reshape
from ..shared import refuse, return_type

_NAME = "torch.histogramdd"


def _points_infer(input: Tensor, bins: int, dim: int) -> Meta:
    refuse(input.dtype, "histogramdd", dtypes.float16, dtypes.bfloat16, complex=True, integer=True)
    if not input.ndim or not 0 <= dim < input.shape[-1]:
        raise RuntimeError(f"{_NAME}: there is no dimension {dim} of points {list(input.shape)}")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}")
    return Meta((bins + 1,), input.dtype)


def _edges_of(xp: Any, a: Any, bins: int, dim: int) -> Any:
    values = a[..., dim]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{_NAME}: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return xp.linspace(low, high, bins + 1)


_edges: Op = kernel(
    "histogram_edges(Tensor input, int bins, int dim) -> Tensor",
    infer=_points_infer,
    impl=_edges_of,
    namespace="-",
    outside=True,
    doc="The edges of equal bins over what points [..., n] have in one of n dimensions.",
    waits=True,
)


def _counts_infer(input: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool) -> Meta:
    refuse(input.dtype, "histogramdd", dtypes.float16, dtypes.bfloat16, complex=True, integer=True)
    if input.ndim < 2:
        raise RuntimeError(f"{_NAME}: input tensor should have at least 2 dimensions")
    if len(edges) != input.shape[-1]:
        raise RuntimeError(
            f"{_NAME}: expected {input.shape[-1]} sequences of bin edges for a {input.shape[-1]}-dimensional "
            f"histogram but got {len(edges)}"
        )
    for d, edge in enumerate(edges):
        if edge.ndim != 1:
            raise RuntimeError(
                f"{_NAME}: bins tensor should have one dimension, but got {edge.ndim} dimensions in the bins "
                f"tensor for dimension {d}"
            )
        if edge.shape[0] < 2:
            raise RuntimeError(
                f"{_NAME}: bins tensor should have at least 1 element, but got {edge.shape[0]} elements in "
                f"the bins tensor for dimension {d}"
            )
        if edge.dtype is not input.dtype:
            raise RuntimeError(
                f"{_NAME}: input tensor and bins tensors should have the same dtype, but got input with "
                f"dtype {_spelled(input)} and bins for dimension {d} with dtype {_spelled(edge)}"
            )
    if weight is not None:
        if tuple(weight.shape) != tuple(input.shape[:-1]):
            raise RuntimeError(
                f"{_NAME}: if weight tensor is provided it should have the same shape as the input tensor "
                f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight "
                f"with shape {list(weight.shape)}"
            )
        if weight.dtype is not input.dtype:
            raise RuntimeError(
                f"{_NAME}: if weight tensor is provided, input tensor and weight tensor should have the same "
                f"dtype, but got input({_spelled(input)}), and weight({_spelled(weight)})"
            )
    return Meta(tuple(edge.shape[0] - 1 for edge in edges), input.dtype)


_SPELLED = {
    "float32": "float", "float64": "double", "int64": "long int", "int32": "int", "bool": "bool",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int16": "short int", "int8": "signed char",
    "uint8": "unsigned char", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def _spelled(t: Tensor) -> str:
    return _SPELLED[t.dtype.name]


def _counts(xp: Any, a: Any, edges: Any, weight: Any, density: bool) -> Any:
    points = a.reshape(-1, a.shape[-1])
    shape = tuple(edge.size - 1 for edge in edges)
    place = xp.zeros(len(points), xp.int64)
    inside = xp.ones(len(points), bool)
    for d, edge in enumerate(edges):
        values = points[:, d]
        at = xp.searchsorted(edge, values, side="right") - 1
        # the last edge belongs to the last bin
        at = xp.where(values == edge[-1], edge.size - 2, at)
        inside &= (values >= edge[0]) & (values <= edge[-1]) & (at >= 0) & (at < edge.size - 1)
        place = place * (edge.size - 1) + xp.clip(at, 0, edge.size - 2)
    weights = None if weight is None else weight.reshape(-1)[inside]
    found = xp.bincount(place[inside], weights, numel(shape)).astype(xp.float64).reshape(shape)
    if density:
        found = found / found.sum()
        for d, edge in enumerate(edges):
            sizes = xp.diff(edge)
            found = found / sizes.reshape([-1 if i == d else 1 for i in range(len(shape))])
    return found


_histogram: Op = kernel(
    "histogramdd_counts(Tensor input, Tensor[] edges, Tensor? weight=None, bool density=False) -> Tensor",
    infer=_counts_infer,
    impl=_counts,
    cost=lambda input, edges, weight, density: (
        64 * input.numel() + 8 * numel(e.shape[0] for e in edges),
        64 * input.numel() + 16 * numel(e.shape[0] for e in edges),
    ),
    namespace="-",
    outside=True,
    doc="How many points [..., n] fall into each box between the edges of n dimensions, or their weights.",
    waits=True,
)


def _span(name: str, range: Any, dim: int) -> tuple[float, float]:
    low, high = map(float, range)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{_NAME}: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"{_NAME}: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _bins(points: Tensor, bins: int, range: Any, dim: int) -> Any:
    """The edges of so many equal bins."""
    if range is None or bins <= 0:
        return _edges(points, bins, dim)
    low, high = _span("", range, dim)
    return ranges.linspace_op(low, high, bins + 1, dtype=points.dtype)


_HISTOGRAM = return_type("histogram", "hist bin_edges")
_HISTOGRAMDD = return_type("histogramdd", "hist bin_edges")


@public(out=True)
def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many elements fall into each bin, or their weights, and the edges (torch.histogram)."""
    points = reshape(detach(input), -1, 1)
    edges = detach(bins).contiguous() if isinstance(bins, Tensor) else _bins(points, bins, range, 0)
    weights = None if weight is None else reshape(detach(weight), -1)
    return _HISTOGRAM(_histogram(points, [edges], weights, density), edges)


@public()
def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many points fall into each box of bins, or their weights, and the edges (torch.histogramdd)."""
    points: Any = detach(input)
    if points.ndim < 2:
        raise RuntimeError(f"{_NAME}: input tensor should have at least 2 dimensions")
    count = points.shape[-1]
    some = [bins] * count if isinstance(bins, int) else list(bins)
    if len(some) != count:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    if range is not None and len(range) != 2 * count:
        raise RuntimeError(
            f"{_NAME}: for a {count}-dimensional histogram range should have {2 * count} elements, but got "
            f"{len(range)}"
        )
    edges = [
        detach(b)
        if isinstance(b, Tensor)
        else _bins(points, b, None if range is None else range[2 * d : 2 * d + 2], d)
        for d, b in enumerate(some)
    ]
    weights = None if weight is None else detach(weight)
    return _HISTOGRAMDD(_histogram(points, edges, weights, density), tuple(edges))


attach("histogram", histogram)
