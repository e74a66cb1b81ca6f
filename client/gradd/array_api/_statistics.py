"""Sums, means, extremes, and what sorts and searches.

https://data-apis.org/array-api/latest/API_specification/statistical_functions.html, searching_functions.html,
set_functions.html and sorting_functions.html beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.data import dtypes

import gradd._top as ops

from ._elementwise import together
from ._manipulation import axes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.data import DType

    from .._tensor import Tensor

    Axis = int | Sequence[int] | None


def _wide(x: Tensor, dtype: DType | None) -> Tensor:
    """`x` in the dtype of its sum: small integers are summed as int64."""
    if dtype is None:
        dtype = dtypes.int64 if x.dtype.category <= dtypes.INT else x.dtype
    return x.to(dtype)


def sum(x: Tensor, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """The sum along axes."""
    wide, axes = _wide(x, dtype), axes_of(x, axis)
    return ops.sum(wide, axes, keepdim=keepdims, dtype=wide.dtype) if axes else wide.clone()


def prod(x: Tensor, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """The product along axes."""
    found = _wide(x, dtype)
    for a in sorted(axes_of(x, axis), reverse=True):
        found = ops.prod(found, a, keepdim=keepdims, dtype=found.dtype)
    return found


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean along axes."""
    axes = axes_of(x, axis)
    return ops.mean(x, axes, keepdim=keepdims) if axes else x.clone()


def var(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance along axes; `correction` is taken off the number of elements."""
    axes = axes_of(x, axis)
    return ops.var(x, axes, correction=correction, keepdim=keepdims) if axes else _alone(x, correction)


def std(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The standard deviation along axes; `correction` is taken off the number of elements."""
    axes = axes_of(x, axis)
    return ops.std(x, axes, correction=correction, keepdim=keepdims) if axes else _alone(x, correction)


def _alone(x: Tensor, correction: float) -> Tensor:
    """The variance of each element of its own."""
    return (x - x) / (1 - correction if correction < 1 else 0)


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element along axes."""
    axes = axes_of(x, axis)
    return ops.amax(x, axes, keepdim=keepdims) if axes else x.clone()


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest element along axes."""
    axes = axes_of(x, axis)
    return ops.amin(x, axes, keepdim=keepdims) if axes else x.clone()


def _running(
    name: str, function: Any, neutral: int, x: Tensor, axis: int | None, dtype: DType | None, initial: bool
) -> Tensor:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"{name}(): an array of several dimensions needs an axis")
        x, axis = x.reshape(-1), 0
    wide = _wide(x, dtype)
    found: Tensor = function(wide, axis, dtype=wide.dtype)
    if not initial:
        return found
    shape = list(x.shape)
    shape[axis] = 1
    return ops.cat([ops.full(shape, neutral, dtype=wide.dtype), found], axis)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """The sums of the first elements along an axis; after a zero if `include_initial`."""
    return _running("cumulative_sum", ops.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """The products of the first elements along an axis; after a one if `include_initial`."""
    return _running("cumulative_prod", ops.cumprod, 1, x, axis, dtype, include_initial)


# -- searching -------------------------------------------------------------------------------------


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the largest element is: the first one, if there are several."""
    return ops.argmax(x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the smallest element is: the first one, if there are several."""
    return ops.argmin(x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The number of elements along axes that are not zero."""
    return sum((x != 0).to(dtypes.int64), axis=axis, keepdims=keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The indices of elements that are not zero, an array for each axis; ValueError without any axis."""
    if not x.ndim:
        raise ValueError("nonzero(): the array has no dimension")
    return tuple(ops.nonzero(x, as_tuple=True))


def searchsorted(x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where elements would be put into a sorted array."""
    sorted_, wanted = together(x1, x2)
    return ops.searchsorted(sorted_, wanted, side=side, sorter=sorter)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """The elements of `x1` where the condition holds, else those of `x2`."""
    return ops.where(condition, *together(x1, x2))


# -- sets ------------------------------------------------------------------------------------------


class UniqueAll(NamedTuple):
    """The distinct elements, where each occurs first, which one each element is, and how often they occur."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The distinct elements, and how often they occur."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The distinct elements, and which one each element is."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """The distinct elements, in order, with all that can be said of them."""
    values, inverse, counts = ops.unique(x, return_inverse=True, return_counts=True)
    order = ops.argsort(inverse.reshape(-1), stable=True)
    return UniqueAll(values, order[ops.cumsum(counts, 0) - counts], inverse.reshape(x.shape), counts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The distinct elements, in order, and how often they occur."""
    values, counts = ops.unique(x, return_counts=True)
    return UniqueCounts(values, counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The distinct elements, in order, and which one each element is."""
    values, inverse = ops.unique(x, return_inverse=True)
    return UniqueInverse(values, inverse.reshape(x.shape))


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct elements, in order."""
    found: Tensor = ops.unique(x)
    return found


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Whether each element of `x1` is among those of `x2`, or is not."""
    elements, among = together(x1, x2)
    return ops.isin(elements, among, invert=invert)


# -- sorting ---------------------------------------------------------------------------------------


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis."""
    return ops.sort(x, dim=axis, descending=descending, stable=stable)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The indices that sort along an axis."""
    return ops.sort(x, dim=axis, descending=descending, stable=stable)[1]
