"""Compiled parts of convolutions: the sums of transposed ones, and those of a group a channel as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from . import jit_depthwise as depthwise
from . import jit_direct as direct
from .arrays import floating
from .images_conv import How, convolve, convolve_transposed
from .native import INDICES, compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .windows import Buffers


@compiled(5, 4, INDICES)
def _add_taps(columns: Any, out: Any, shifts: Any) -> None:
    groups, taps, channels, many, width = columns.shape
    for g in range(groups):
        for c in range(channels):
            for n in range(many):
                plane = out[g, c, n]
                plane[:] = 0
                for t in range(taps):
                    target = plane[shifts[t] : shifts[t] + width]
                    row = columns[g, t, c, n, : target.size]
                    for b in range(target.size):
                        target[b] += row[b]


@compiled(6, 4, INDICES)
def _add_strided(columns: Any, out: Any, how: Any) -> None:
    channels, height, width, images, rows, cols = columns.shape
    for c in range(channels):
        for n in range(images):
            plane = out[c, n]
            plane[:] = 0
            for a in range(height):
                for b in range(width):
                    for i in range(rows):
                        target, row = plane[i * how[0] + a * how[4]], columns[c, a, b, n, i]
                        for j in range(cols):
                            target[b * how[5] + j * how[1]] += row[j]


def _fold_flat(columns: Any, shifts: Any, size: int, buffers: Buffers) -> Any:
    groups, _, channels, many, _ = columns.shape
    found = buffers.take("fold", (groups, channels, many, size), columns.dtype)
    _add_taps(columns, found, np.array(shifts))
    return found


def _fold(columns: Any, how: How, whole: Sequence[int], buffers: Buffers) -> Any:
    found = buffers.take("fold", (columns.shape[0], columns.shape[3], *whole), columns.dtype)
    _add_strided(columns, found, depthwise.numbers(how))
    return found


def positions(size: Sequence[int], how: How) -> list[int]:
    """The number of windows along each dimension."""
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, *how, strict=True)]


def _around(how: How) -> How | None:
    """A transposed convolution as one with the windows turned round, where it is one of the usual."""
    if how.single or any(s != 1 for s in how.stride):
        return None
    back = [d * (k - 1) - p for k, p, d in zip(how.kernel, how.padding, how.dilation, strict=True)]
    return how._replace(padding=back) if min(back) >= 0 else None


def _turns(images: Sequence[int], weight: Sequence[int], groups: int) -> bool:
    """Whether that is faster by columns: it has none to sum, but rows of them for each channel that comes in,
    and a weight to reorder.
    """
    inner = weight[0] // groups
    return inner <= weight[1] and images[0] * numel(images[2:]) >= 2 * inner


def _turned(weight: Any, groups: int) -> Any:
    """The weight [C, O / groups, *kernel] as [O, C / groups, *kernel], its windows turned round."""
    c, each, *kernel = weight.shape
    around = weight[(slice(None), slice(None), *(slice(None, None, -1),) * len(kernel))]
    swapped = around.reshape(groups, c // groups, each, *kernel).swapaxes(1, 2)
    return np.ascontiguousarray(swapped).reshape(groups * each, c // groups, *kernel)


def _forward(plain: Any) -> Any:
    def kernel(
        xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        how = How(weight.shape[2:], stride, padding, dilation)
        if floating(x) and depthwise.fits(x, weight, groups):
            return depthwise.forward(x, weight, bias, how)
        size = positions(x.shape[2:], how)
        made = direct.planned(x, len(weight), how, size, groups)
        if made is not None and made.forward:
            return direct.forward(made, x, weight, bias, size, groups)
        return plain(xp, x, weight, bias, stride, padding, dilation, groups)

    return kernel


def _transposed(plain: Any) -> Any:
    def kernel(
        xp: Any, x: Any, weight: Any, bias: Any, size: Any, stride: Any, padding: Any, dilation: Any,
        groups: int,
    ) -> Any:  # fmt: skip
        if not floating(x):
            return plain(xp, x, weight, bias, size, stride, padding, dilation, groups)
        how = How(weight.shape[2:], stride, padding, dilation)
        if depthwise.fits(x, weight, groups):
            return depthwise.for_input(x, weight, bias, how, size)
        around = _around(how)
        if around is not None:
            made = direct.planned(x, weight.shape[1] * groups, around, size, groups)
            if made is not None and made.forward:
                return direct.forward(made, x, _turned(weight, groups), bias, size, groups)
            if _turns(x.shape, weight.shape, groups):
                return convolve(np, x, _turned(weight, groups), bias, around, size, groups)
        fold = _fold if x.ndim == 4 and stride[0] != 1 else None
        return convolve_transposed(xp, x, weight, bias, how, size, groups, _fold_flat, fold)

    return kernel


def _weight(plain: Any) -> Any:
    def kernel(
        xp: Any, g: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        if floating(x) and x.ndim == 4 and g.shape[1] == x.shape[1] == groups:
            return depthwise.for_weight(g, x, How(kernel, stride, padding, dilation))
        how = How(kernel, stride, padding, dilation)
        made = direct.planned(x, g.shape[1], how, g.shape[2:], groups)
        if made is not None and made.weight:
            found = direct.for_weight(made, g, x, kernel, groups)
            if found is not None:
                return found
        return plain(xp, g, x, kernel, stride, padding, dilation, groups)

    return kernel


KERNELS = {"convolution": _forward, "convolution_transpose": _transposed, "convolution_weight": _weight}
