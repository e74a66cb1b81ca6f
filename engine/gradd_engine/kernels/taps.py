"""A dimension resampled: each result is the weighted sum of a few elements along it, its taps.

Padding, resizing and adaptive averages are this, one dimension after the other, and so are their transposes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


class Taps(NamedTuple):
    """For each result the elements it is made of, [results, taps], and their weights; without weights each
    result has one tap, taken as it is.
    """

    index: Any
    weight: Any | None = None


def transposed(taps: Taps, size: int) -> Taps:
    """The taps that take results back to a dimension of `size`: the transpose as a matrix."""
    out, count = taps.index.shape
    weight = np.ones((out, count)) if taps.weight is None else taps.weight
    used = weight.reshape(-1) != 0
    source, to = taps.index.reshape(-1)[used], np.repeat(np.arange(out), count)[used]
    order = np.argsort(source, kind="stable")
    source, to = source[order], to[order]
    counts = np.bincount(source, minlength=size)
    place = np.arange(len(source)) - (np.cumsum(counts) - counts)[source]
    index = np.zeros((size, int(counts.max(initial=0))), np.int64)
    weights = np.zeros(index.shape)
    index[source, place] = to
    weights[source, place] = weight.reshape(-1)[used][order]
    return Taps(index, weights)


def tapped(xp: Any, x: Any, axis: int, taps: Taps) -> Any:
    """One dimension resampled."""
    index = xp.asarray(taps.index)
    if taps.weight is None:
        return x.take(index[:, 0], axis=axis)
    count = taps.index.shape[1]
    if not count:
        return xp.zeros((*x.shape[:axis], len(taps.index), *x.shape[axis + 1 :]), x.dtype)
    shape = [1] * x.ndim
    shape[axis] = -1
    whole = bool((taps.weight == 1).all())
    weight = xp.asarray(taps.weight.astype(x.dtype))
    found: Any = None
    for j in range(count):
        part = x.take(index[:, j], axis=axis)
        if not whole:
            part *= weight[:, j].reshape(shape)
        found = part if found is None else xp.add(found, part, out=found)
    return found


def resampled(xp: Any, x: Any, each: Sequence[Taps]) -> Any:
    """The last dimensions resampled, those that shrink most first."""
    first = x.ndim - len(each)
    gains = [len(taps.index) / max(n, 1) for n, taps in zip(x.shape[first:], each, strict=True)]
    for d in sorted(range(len(each)), key=gains.__getitem__):
        x = tapped(xp, x, first + d, each[d])
    return x
