"""Compiled kernels on images: the sums of max pooling's gradient, and maxima of small ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .images_pool import check_places, each_plane, out_shape
from .native import INDICES, compiled

if TYPE_CHECKING:
    from .windows import Buffers


#: up to so many elements a loop over windows is quicker than NumPy's few steps over all of them
_SMALL = 1 << 14


@compiled(3, INDICES, 3, INDICES)
def _max_windows(x: Any, how: Any, values: Any, index: Any) -> bool:
    """Whether every window has an element. Ties go to the first; of nans the last wins."""
    kh, kw, sh, sw, ph, pw, dh, dw = how[0], how[1], how[2], how[3], how[4], how[5], how[6], how[7]
    planes, height, width = x.shape
    _, rows, columns = values.shape
    place = 0
    for n in range(planes):
        for i in range(rows):
            for j in range(columns):
                best, at = x[0, 0, 0], -1
                for a in range(kh):
                    r = i * sh - ph + a * dh
                    if r < 0 or r >= height:
                        continue
                    for b in range(kw):
                        c = j * sw - pw + b * dw
                        if c < 0 or c >= width:
                            continue
                        v = x[n, r, c]
                        if at < 0 or v > best or v != v:
                            best, at = v, r * width + c
                if at < 0:
                    return False
                values[n, i, j], index[place] = best, at
                place += 1
    return True


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


def _max_pool(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> Any:
        how = (kernel_size, stride, padding, dilation)
        if floating(input) and 0 < input.size <= _SMALL:
            shape = out_shape(input.shape, *how, ceil_mode)
            values, index = np.empty(shape, input.dtype), np.empty(shape, np.int64)
            planes = ready(input).reshape(-1, *input.shape[-2:])
            numbers = np.array(how, np.int64).reshape(-1)
            if _max_windows(planes, numbers, values.reshape(-1, *shape[-2:]), index.reshape(-1)):
                return values, index
        return plain(xp, input, *how, ceil_mode)

    return kernel


KERNELS = {"max_pool2d_backward": _max_backward, "max_pool2d_with_indices": _max_pool}
