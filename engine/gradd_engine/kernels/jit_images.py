"""Compiled kernels on images: the sums of max pooling's gradient, and maxima and averages of small ones."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .images_pool import check_places, each_plane, out_shape
from .native import BOOL, DOUBLE, INDICES, INT64, compiled, inlined

if TYPE_CHECKING:
    from .windows import Buffers


#: up to so many elements a loop over windows is quicker than NumPy's few steps over all of them
_SMALL = 1 << 14


@compiled(3, 3, INDICES, *(INT64,) * 8)
def _max_windows(
    x: Any, values: Any, index: Any, kh: int, kw: int, sh: int, sw: int, ph: int, pw: int, dh: int, dw: int
) -> bool:
    """Whether every window has an element. Ties go to the first; of nans the last wins."""
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


@inlined
def _bounds(at: Any, stride: Any, pad: Any, kernel: Any, size: Any) -> Any:
    """The first cell of a window that is inside, the end of those, and how many are inside the padding."""
    begin = at * stride - pad
    end = min(begin + kernel, size + pad)
    return max(begin, 0), min(end, size), end - begin


@compiled(3, 3, BOOL, DOUBLE, BOOL, *(INT64,) * 6)
def _averages(
    x: Any, out: Any, padded: bool, given: float, back: bool, kh: int, kw: int, sh: int, sw: int, ph: int,
    pw: int,
) -> None:  # fmt: skip
    """Averages over windows of planes; the padding counts if `padded`, and all are divided by what is `given`
    unless that is 0. Or, if `back`, the transpose of that, from `out` to `x`.
    """
    planes, height, width = x.shape
    _, rows, columns = out.shape
    number = x.dtype.type
    if back:
        x[:] = 0
    for n in range(planes):
        for i in range(rows):
            top, bottom, tall = _bounds(i, sh, ph, kh, height)
            for j in range(columns):
                left, right, broad = _bounds(j, sw, pw, kw, width)
                count = tall * broad if padded else (bottom - top) * (right - left)
                by = number(given) if given != 0 else number(count)
                if back:
                    share = out[n, i, j] / by
                    for r in range(top, bottom):
                        for c in range(left, right):
                            x[n, r, c] += share
                    continue
                total = number(0)
                for r in range(top, bottom):
                    for c in range(left, right):
                        total += x[n, r, c]
                out[n, i, j] = total / by


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
            if _max_windows(planes, values.reshape(-1, *shape[-2:]), index.reshape(-1), *chain(*how)):
                return values, index
        return plain(xp, input, *how, ceil_mode)

    return kernel


def _avg_pool(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
        count_include_pad: bool, divisor_override: Any,
    ) -> Any:  # fmt: skip
        how = (kernel_size, stride, padding)
        if not floating(input) or not 0 < input.size <= _SMALL:
            return plain(xp, input, *how, ceil_mode, count_include_pad, divisor_override)
        out = np.empty(out_shape(input.shape, *how, (1, 1), ceil_mode), input.dtype)
        planes, found = ready(input).reshape(-1, *input.shape[-2:]), out.reshape(-1, *out.shape[-2:])
        _averages(planes, found, count_include_pad, divisor_override or 0, False, *chain(*how))
        return out

    return kernel


def _avg_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, size: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
        count_include_pad: bool, divisor_override: Any,
    ) -> Any:  # fmt: skip
        how = (kernel_size, stride, padding)
        shape = (*grad.shape[:-2], *size)
        if not floating(grad) or not 0 < numel(shape) <= _SMALL:
            return plain(xp, grad, size, *how, ceil_mode, count_include_pad, divisor_override)
        out = np.empty(shape, grad.dtype)
        slopes = ready(grad).reshape(-1, *grad.shape[-2:])
        planes = out.reshape(-1, *shape[-2:])
        _averages(planes, slopes, count_include_pad, divisor_override or 0, True, *chain(*how))
        return out

    return kernel


KERNELS = {
    "avg_pool2d_backward": _avg_backward,
    "avg_pool2d_windows": _avg_pool,
    "max_pool2d_backward": _max_backward,
    "max_pool2d_with_indices": _max_pool,
}
