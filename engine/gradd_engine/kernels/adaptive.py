"""Windows of adaptive pooling: from floor(i size / out) to ceil((i + 1) size / out), of different lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .taps import Taps

if TYPE_CHECKING:
    from collections.abc import Sequence


def adaptive_taps(size: int, out: int) -> Taps:
    """The elements of each window, weighted as in their mean; a short window repeats its last."""
    at = np.arange(out)
    begin, end = at * size // max(out, 1), -(-(at + 1) * size // max(out, 1))
    index = begin[:, None] + np.arange(int(np.max(end - begin, initial=1)))
    weight = (index < end[:, None]) / np.maximum(end - begin, 1)[:, None]
    return Taps(np.minimum(index, np.maximum(end - 1, 0)[:, None]), weight)


def adaptive_maxima(xp: Any, x: Any, out: Sequence[int]) -> tuple[Any, Any]:
    """Maxima over a grid of `out` windows in the last dimensions, and their flat indices there.

    The first of equal values, and the last nan: the last dimension is reduced first.
    """
    space = x.shape[x.ndim - len(out) :]
    index = xp.broadcast_to(xp.arange(int(np.prod(space))).reshape(space), x.shape)
    for d in reversed(range(len(out))):
        axis = x.ndim - len(out) + d
        places = xp.asarray(adaptive_taps(space[d], out[d]).index)
        best, where = (a.take(places[:, 0], axis=axis) for a in (x, index))
        for j in range(1, places.shape[1]):
            value, at = (a.take(places[:, j], axis=axis) for a in (x, index))
            better = (value > best) | (value != value)
            best, where = xp.where(better, value, best), xp.where(better, at, where)
        x, index = best, where
    return x, index
