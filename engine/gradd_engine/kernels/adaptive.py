"""Windows of adaptive pooling, from floor(i size / out) to ceil((i + 1) size / out), and of fractional
pooling, of one length but at drawn places.
"""

from __future__ import annotations

from itertools import product
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


def _drawn_begins(xp: Any, sample: Any, size: int, kernel: int, out: int) -> Any:
    """Where `out` windows of each plane begin: steps of nearly one length from a drawn place, and the end."""
    free = size - kernel
    step = sample.dtype.type(free / max(out - 1, 1))
    sample, at = sample[:, None], xp.arange(out).astype(sample.dtype)
    found = xp.trunc((at + sample) * step) - xp.trunc(sample * step)
    # samples are between 0 and 1; what is not leads somewhere within
    found = xp.clip(xp.where(found == found, found, 0), 0, free).astype(xp.int64)
    found[:, -1] = free
    return found


def fractional_maxima(
    xp: Any, x: Any, samples: Any, kernel: Sequence[int], out: Sequence[int]
) -> tuple[Any, Any]:
    """Maxima over `out` windows at drawn places in the last dimensions, and their flat indices there.

    `samples` [N, C, dimensions]; of images the width's is first. The first of equal values, and the last nan.
    """
    dims = len(out)
    lead, space = x.shape[:-dims], x.shape[-dims:]
    planes = int(np.prod(lead))
    flat = x.reshape(planes, int(np.prod(space)))  # -1 stands for nothing where there are no planes
    drawn = samples.reshape(-1, dims)[:planes]
    first = xp.zeros((planes, *[1] * dims), xp.int64)
    steps = [int(np.prod(space[d + 1 :])) for d in range(dims)]
    for d in range(dims):
        begins = _drawn_begins(xp, drawn[:, dims - 1 - d if dims == 2 else d], space[d], kernel[d], out[d])
        shape = [planes, *[1] * dims]
        shape[d + 1] = out[d]
        first = first + begins.reshape(shape) * steps[d]
    first = first.reshape(planes, int(np.prod(out)))
    best: Any = None
    where: Any = None
    for place in product(*map(range, kernel)):
        at = first + sum(p * s for p, s in zip(place, steps, strict=True))
        value = xp.take_along_axis(flat, at, 1)
        if best is None:
            best, where = value, at
            continue
        better = (value > best) | (value != value)
        best, where = xp.where(better, value, best), xp.where(better, at, where)
    return best.reshape(*lead, *out), where.reshape(*lead, *out)
