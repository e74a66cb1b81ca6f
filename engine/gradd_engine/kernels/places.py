"""Images read at places: weighted sums of a few elements, their transpose, and the weights' part.

Images [N, C, size] are flat; `at` [N, taps, points] are whole numbers below the size, the same in every
channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import within
from .threads import share
from .ufuncs import apply_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def check_at(at: Any, size: int) -> None:
    """Raise IndexError if a place is outside of images of `size` elements."""
    text = f"index {{}} is out of bounds for images of {size} elements"
    within(at, 0, size, IndexError, text, "grid_sample")


def each_sample(xp: Any, samples: int, load: int, work: Callable[[int], None]) -> None:
    """Call `work` with the number of every sample, shared by threads."""

    def some(numbers: Iterator[int]) -> None:
        for i in numbers:
            work(i)

    share(xp, samples, load, some)


def _rows(xp: Any, channels: Any) -> Any:
    """Channels last, so that an element's are read together."""
    return xp.ascontiguousarray(channels.T)


def read_places(xp: Any, x: Any, at: Any, weight: Any) -> Any:
    """For each point the sum of its taps' elements times their weights [N, taps, points]: [N, C, points]."""
    (n, c, size), (_, taps, points) = x.shape, at.shape
    check_at(at, size)
    out = xp.empty((n, c, points), x.dtype)

    def work(i: int) -> None:
        rows = _rows(xp, x[i])
        found = xp.zeros((points, c), x.dtype)
        for t in range(taps):
            part = rows[at[i, t]]
            part *= weight[i, t][:, None]
            found += part
        out[i] = found.T

    each_sample(xp, n, n * c * taps * points, work)
    return out


def add_places(xp: Any, g: Any, at: Any, weight: Any, size: int) -> Any:
    """The transpose of `read_places`: points [N, C, points] added into images [N, C, size]."""
    (n, c, points), taps = g.shape, at.shape[1]
    check_at(at, size)
    out = xp.zeros((n, c, size), g.dtype)

    def work(i: int) -> None:
        to = at[i].reshape(-1)
        order = xp.argsort(to, kind="stable") if xp is np else xp.argsort(to)
        parts = _rows(xp, g[i])[order % points]
        parts *= weight[i].reshape(-1)[order][:, None]
        if xp is not np:
            rows = xp.zeros((size, c), g.dtype)
            apply_at(xp, "add", rows, (to[order],), parts)
            out[i] = rows.T
            return
        sorted_to = to[order]
        first = np.flatnonzero(np.diff(sorted_to, prepend=-1))
        out[i][:, sorted_to[first]] = np.add.reduceat(parts, first, axis=0).T

    if taps * points and size:
        each_sample(xp, n, n * c * taps * points, work)
    return out


def weigh_places(xp: Any, g: Any, x: Any, at: Any) -> Any:
    """For each tap the sum over channels of its element times its point's `g`: [N, taps, points]."""
    (n, c, points), taps = g.shape, at.shape[1]
    check_at(at, x.shape[2])
    out = xp.empty((n, taps, points), g.dtype)

    def work(i: int) -> None:
        rows, slopes = _rows(xp, x[i]), _rows(xp, g[i])
        for t in range(taps):
            out[i, t] = xp.einsum("pc,pc->p", rows[at[i, t]], slopes)

    each_sample(xp, n, n * c * taps * points, work)
    return out
