"""Shapes, order and parts of arrays.

https://data-apis.org/array-api/latest/API_specification/manipulation_functions.html
https://data-apis.org/array-api/latest/API_specification/indexing_functions.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes

import gradd._top as ops

from .._tensor import Tensor
from ._elementwise import together

if TYPE_CHECKING:
    from collections.abc import Sequence


def axes_of(x: Tensor, axis: int | Sequence[int] | None) -> list[int]:
    """Axes as non-negative numbers, all of them for None. IndexError for one that is not there."""
    if axis is None:
        return list(range(x.ndim))
    found = []
    for a in [axis] if isinstance(axis, int) else axis:
        if not -x.ndim <= a < x.ndim:
            raise IndexError(f"axis {a} is out of range for an array of {x.ndim} dimensions")
        found.append(a % x.ndim)
    return found


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """The arrays, each broadcast to the shape of all."""
    return tuple(ops.broadcast_tensors(*arrays))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of arrays of these shapes together; ValueError if they do not fit."""
    try:
        return tuple(ops.broadcast_shapes(*shapes))
    except RuntimeError as e:
        raise ValueError(str(e)) from e


def broadcast_to(x: Tensor, /, shape: Sequence[int]) -> Tensor:
    """`x` broadcast to `shape`."""
    return ops.broadcast_to(x, list(shape))


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """The arrays joined along an existing axis, or all their elements if it is None."""
    given = together(*arrays)
    if axis is None:
        return ops.cat([x.reshape(-1) for x in given], 0)
    return ops.cat(given, axis)


def expand_dims(x: Tensor, /, axis: int | Sequence[int]) -> Tensor:
    """`x` with axes of size 1 at these places of the result. IndexError for places that are not there."""
    places = [axis] if isinstance(axis, int) else list(axis)
    count = x.ndim + len(places)
    for a in places:
        if not -count <= a < count:
            raise IndexError(f"axis {a} is out of range for a result of {count} dimensions")
    wanted = sorted(a % count for a in places)
    if len(set(wanted)) < len(wanted):
        raise ValueError("expand_dims(): an axis occurs twice")
    for a in wanted:
        x = ops.unsqueeze(x, a)
    return x


def flip(x: Tensor, /, *, axis: int | Sequence[int] | None = None) -> Tensor:
    """`x` in reverse order along axes, all of them for None."""
    return ops.flip(x, axes_of(x, axis))


def moveaxis(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int], /) -> Tensor:
    """`x` with axes at other places."""
    return ops.moveaxis(x, source, destination)


def permute_dims(x: Tensor, /, axes: Sequence[int]) -> Tensor:
    """`x` with its axes in another order."""
    return ops.permute(x, list(axes))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element (of all of `x` for None, else along the axis) repeated, by a number or by one of each."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    if isinstance(repeats, Tensor):
        repeats = repeats.expand(x.shape[axis]) if repeats.numel() == 1 else repeats
    counts: Any = repeats
    return ops.repeat_interleave(x, counts, axis)


def reshape(x: Tensor, /, shape: Sequence[int], *, copy: bool | None = None) -> Tensor:
    """`x` in another shape; ValueError where `copy` is False and it needs one."""
    if copy:
        return ops.reshape(x.clone(), list(shape))
    if copy is False:
        try:
            return x.view(*shape)
        except RuntimeError as e:
            raise ValueError(str(e)) from e
    return ops.reshape(x, list(shape))


def roll(x: Tensor, /, shift: int | Sequence[int], *, axis: int | Sequence[int] | None = None) -> Tensor:
    """`x` shifted around, along axes or (None) in the order of all its elements."""
    if axis is None:
        return ops.roll(x, shift)
    axes = [axis] if isinstance(axis, int) else list(axis)
    return ops.roll(x, [shift] * len(axes) if isinstance(shift, int) else list(shift), axes)


def squeeze(x: Tensor, /, axis: int | Sequence[int]) -> Tensor:
    """`x` without these axes, which have size 1; ValueError if they do not."""
    axes = axes_of(x, axis)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze(): axis {a} has size {x.shape[a]}")
    return ops.squeeze(x, axes) if axes else x


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """The arrays joined along a new axis."""
    return ops.stack(together(*arrays), axis)


def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """`x` repeated along its axes."""
    return ops.tile(x, list(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of `x` along an axis."""
    return tuple(ops.unbind(x, axis))


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The parts of `x` at these places along an axis (the only one for None); negative ones count from its
    end.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError("take(): an array of several dimensions needs an axis")
        axis = 0
    (at,) = axes_of(x, axis)
    picked = ops.index_select(x, at, _from_front(indices, x.shape[at]).reshape(-1))
    if indices.ndim == 1:
        return picked
    return picked.reshape([*x.shape[:at], *indices.shape, *x.shape[at + 1 :]])


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements of `x` at these places along an axis; other axes broadcast."""
    (at,) = axes_of(x, axis)
    return ops.take_along_dim(x, _from_front(indices, x.shape[at]), at)


def _from_front(indices: Tensor, size: int) -> Tensor:
    wide = indices.to(dtypes.int64)
    return ops.where(wide < 0, wide + size, wide)


def count_of(x: Tensor, axes: Sequence[int]) -> int:
    """How many elements lie along these axes."""
    return math.prod(x.shape[a] for a in axes)


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The `n`-th differences along an axis."""
    return ops.diff(x, n, axis, prepend, append)


def all(x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are true."""
    return _truth(ops.all, x, axis, keepdims)


def any(x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Whether some element along axes is true."""
    return _truth(ops.any, x, axis, keepdims)


def _truth(function: Any, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    found = x.to(dtypes.bool_)
    for a in sorted(axes_of(x, axis), reverse=True):
        found = function(found, a, keepdim=keepdims)
    return found
