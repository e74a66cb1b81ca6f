"""Compiled kernels on images: the sums of max pooling's gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .images_pool import check_places, each_plane
from .native import INDICES, compiled

if TYPE_CHECKING:
    from .windows import Buffers


@compiled(2, INDICES, 2)
def _add_at(x: Any, index: Any, out: Any) -> int:
    """Return the position of the first index outside its plane, or -1."""
    planes, places = x.shape
    size = out.shape[1]
    for n in range(planes):
        row, target = x[n], out[n]
        at = index[n * places : (n + 1) * places]
        target[:] = 0
        for i in range(places):
            # as unsigned, negative indices are large
            if np.uint64(at[i]) >= np.uint64(size):
                return i
            target[at[i]] += row[i]
    return -1


def _max_backward(plain: Any) -> Any:
    def kernel(xp: Any, g: Any, indices: Any, size: Any) -> Any:
        if not floating(g):
            return plain(xp, g, indices, size)
        lead = g.shape[:-2]
        places = numel(g.shape[-2:])
        x, index = ready(g).reshape(numel(lead), places), ready(indices).reshape(-1)
        out = np.empty((x.shape[0], numel(size)), g.dtype)

        def work(some: slice, buffers: Buffers) -> None:
            there = index[some.start * places : some.stop * places]
            if _add_at(x[some], there, out[some]) >= 0:
                check_places(there, out.shape[1])

        each_plane(np, x.shape[0], numel(size), work)
        return out.reshape(*lead, *size)

    return kernel


KERNELS = {"max_pool2d_backward": _max_backward}
