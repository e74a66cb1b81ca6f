"""Search, membership and counts: searchsorted, bucketize, isin, histc, bincount."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, dtypes, numel, within
from ...declare import composite, kernel, public
from ...kernels import apply_at
from ...schema import Op
from ...tensor import Tensor
from ..index import dynamic
from ..shared import NUMBERS, refuse
from .extrema import max as largest
from .extrema import min as smallest

if TYPE_CHECKING:
    from collections.abc import Sequence

_SEARCH = "torch.searchsorted()"


def _search_infer(
    sorted_sequence: Tensor, input: Tensor, sorter: Tensor | None, out_int32: bool, right: bool
) -> Meta:
    bounds, values = sorted_sequence, input
    if not bounds.ndim:
        raise RuntimeError(
            f"{_SEARCH}: boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if bounds.ndim != 1 and (
        bounds.ndim != values.ndim or tuple(bounds.shape[:-1]) != tuple(values.shape[:-1])
    ):
        raise RuntimeError(
            f"{_SEARCH}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            "tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(bounds.shape)} and input value tensor {list(values.shape)}"
        )
    if sorter is not None:
        if tuple(sorter.shape) != tuple(bounds.shape):
            raise RuntimeError(
                f"{_SEARCH}: boundary and sorter must have the same size, but got boundary tensor "
                f"{list(bounds.shape)}and got sorter tensor {list(sorter.shape)}"
            )
        if sorter.dtype is not dtypes.int64:
            raise RuntimeError(
                f"{_SEARCH}: sorter must be a tensor of long dtype but got dtype {sorter.dtype.title}"
            )
    for t in (bounds, values):
        refuse(t.dtype, "searchsorted_out_cpu", dtypes.bool_, complex=True)
    return Meta(tuple(values.shape), dtypes.int32 if out_int32 else dtypes.int64)


def _search_impl(xp: Any, bounds: Any, values: Any, sorter: Any, out_int32: bool, right: bool) -> Any:
    if sorter is not None:
        text = f"{_SEARCH}: sorter index out of range"
        within(sorter, 0, sorter.shape[-1], RuntimeError, text, "searchsorted")
        bounds = xp.take_along_axis(bounds, sorter, axis=-1)
    side = "right" if right else "left"
    if bounds.ndim == 1:
        return xp.searchsorted(bounds, values, side=side)
    count = numel(bounds.shape[:-1])
    flat = bounds.reshape(count, bounds.shape[-1])
    rows = values.reshape(count, values.shape[-1])
    found = [xp.searchsorted(b, v, side=side) for b, v in zip(flat, rows, strict=True)]
    return xp.stack(found).reshape(values.shape) if found else xp.zeros(values.shape, np.int64)


_search: Op = kernel(
    "searchsorted(Tensor sorted_sequence, Tensor input, Tensor? sorter=None, bool out_int32=False, "
    "bool right=False) -> Tensor",
    infer=_search_infer,
    impl=_search_impl,
    namespace="-",
    outside=True,
    doc="The positions at which values fit into sorted ones (torch.searchsorted).",
)


@public(
    out=True,
    forms="(sorted_sequence, input: Tensor | Number, *, out_int32=False, right=False, side=None, "
    "sorter=None)",
)
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Any:
    """See torch.searchsorted."""
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"{_SEARCH}: side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{_SEARCH}: side and right can't be set to opposites, got side of left while right was True"
        )
    if isinstance(input, NUMBERS):
        if sorted_sequence.ndim != 1:
            raise RuntimeError(
                f"{_SEARCH}: input value can be a scalar only when boundaries tensor dimension is 1, but we "
                f"got boundaries tensor dim({sorted_sequence.ndim}) and input value's dim(0) numel(1)"
            )
        input = sorted_sequence.new_full((), input)  # type: ignore[attr-defined]
    return _search(sorted_sequence, input, sorter, out_int32, right or side == "right")


@public(method=True, forms="(input: Tensor | Number, boundaries, *, out_int32=False, right=False)", out=True)
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Any:
    """The index of each number's bucket between sorted boundaries, int64 or int32 (torch.bucketize)."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


# -- membership --------------------------------------------------------------------------------------


def _isin_infer(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Meta:
    tensors = [x for x in (elements, test_elements) if isinstance(x, Tensor)]
    for x in tensors:
        if x.dtype.is_complex or x.dtype is dtypes.bool_:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {x.dtype.title}")
    shape = tuple(elements.shape) if isinstance(elements, Tensor) else ()
    return Meta(shape, dtypes.bool_, compute=dtypes.result_type([elements, test_elements]))


def _isin_impl(xp: Any, a: Any, b: Any, assume_unique: bool, invert: bool) -> Any:
    return xp.isin(xp.asarray(a), xp.asarray(b), assume_unique=False, invert=invert)


_isin: Op = kernel(
    "isin(Tensor|Number elements, Tensor|Number test_elements, *, bool assume_unique=False, "
    "bool invert=False) -> Tensor",
    infer=_isin_infer,
    impl=_isin_impl,
    namespace="-",
    outside=True,
    doc="Whether each element is among `test_elements` (torch.isin).",
)


@public(
    out=True,
    forms="(elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique=False, invert=False)",
)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """See torch.isin."""
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        kinds = f"({type(elements).__name__}, {type(test_elements).__name__})"
        raise TypeError(
            f"isin() received an invalid combination of arguments - got {kinds}, but expected one of: "
            "(Tensor elements, Tensor test_elements), (Number element, Tensor test_elements), "
            "(Tensor elements, Number test_element)"
        )
    return _isin(elements, test_elements, assume_unique=assume_unique, invert=invert)


# -- counts ------------------------------------------------------------------------------------------


def _histogram_infer(input: Tensor, bins: int, min: Any, max: Any) -> Meta:
    if input.dtype.category != dtypes.FLOAT:
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{input.dtype.title}'")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    _check_range(min, max)
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    return Meta((bins,), input.dtype)


def _check_range(low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")


def _histogram_impl(xp: Any, a: Any, bins: int, min: Any, max: Any) -> Any:
    low, high = float(min), float(max)
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
        _check_range(low, high)
    if low == high:
        low, high = low - 1, high + 1
    flat = a.reshape(-1)
    inside = flat[(flat >= low) & (flat <= high)]
    at = ((inside - low) * (bins / (high - low))).astype(np.int64)
    return xp.bincount(xp.minimum(at, bins - 1), minlength=bins).astype(a.dtype)


histc: Op = kernel(
    "histc(Tensor input, int bins=100, value Number min=0, value Number max=0) -> Tensor",
    infer=_histogram_infer,
    impl=_histogram_impl,
    infers_anew=True,
    method=True,
    doc="A histogram, over the range of the values if `min` equals `max` (torch.histc).",
    waits=True,
)


def _bincount_infer(input: Tensor, weights: Tensor | None, size: Sequence[int]) -> Meta:
    if len(size) != 1 or input.ndim != 1 or input.dtype.category != dtypes.INT:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return Meta(tuple(size), dtypes.int64)
    if weights.shape != input.shape or weights.dtype.is_complex:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return Meta(tuple(size), dtypes.float32 if weights.dtype is dtypes.float32 else dtypes.float64)


def _bincount_impl(xp: Any, a: Any, weights: Any, size: Any) -> Any:
    text = f"bincount_sized(): a number is outside of [0, {size[0]})"
    within(a, 0, size[0], RuntimeError, text, "bincount")
    if xp is np:
        return np.bincount(a.astype(np.int64), weights, minlength=size[0])
    # the library's own looks first how many there are
    wide = np.int64 if weights is None else np.float64
    out = xp.zeros(size[0], wide)
    apply_at(xp, "add", out, (a,), 1 if weights is None else weights.astype(wide))
    return out


_bincount: Op = kernel(
    "bincount_sized(Tensor input, Tensor? weights, int[] size) -> Tensor",
    infer=_bincount_infer,
    impl=_bincount_impl,
    namespace="-",
    outside=True,
    doc="How often each number below `size` occurs.",
)


def _bincount_checked(input: Any, weights: Any, minlength: int) -> Any:
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input.dtype.category != dtypes.INT:
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{input.dtype.title}'")
    only = "bincount only supports 1-d non-negative integral inputs."
    if input.ndim != 1:
        raise RuntimeError(only)
    if weights is not None and (weights.ndim != 1 or weights.shape[0] != input.shape[0]):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if not input.numel():
        return _bincount(input, weights, [minlength])
    if input.dtype is not dtypes.uint8 and dynamic.read(smallest(input)) < 0:
        raise RuntimeError(only)
    size = dynamic.read(largest(input)) + 1
    return _bincount(input, weights, [size if size > minlength else minlength])


bincount = composite(
    "bincount(Tensor input, Tensor? weights=None, int minlength=0) -> Tensor",
    body=_bincount_checked,
    dynamic=True,
    method=True,
    doc="How often each number occurs in a vector of non-negative integers (torch.bincount).",
)
