"""Compiled convolutions of planes, a group a channel: sums over the cells of windows, without columns.

With stride 1 a plane is copied into one with its padding, of which each cell of the windows sees a long run:
sums behind the end of a row are made too, and dropped. With others it goes row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import ready
from .images_pool import each_plane
from .native import INDICES, INT64, REORDER, compiled, inlined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .images_conv import How
    from .windows import Buffers


def fits(x: Any, weight: Any, groups: int) -> bool:
    """Whether each channel of planes makes one of its own."""
    return bool(x.ndim == 4 and x.shape[1] == groups == weight.shape[0] and weight.shape[1] == 1)


def numbers(how: How) -> Any:
    """Stride, padding and dilation, each of rows and of columns, as kernels take them."""
    return np.array((*how.stride, *how.padding, *how.dilation))


@inlined
def _inside(at: Any, stride: Any, size: Any, count: Any) -> Any:
    """The range of the positions below `count` whose cell, `at` for the first, is within the `size`."""
    first = min((stride - 1 - at) // stride if at < 0 else 0, count)
    last = (size - 1 - at) // stride + 1 if at < size else 0
    return first, max(first, min(last, count))


@inlined
def _one(out: Any, to: Any, first: Any, last: Any, x: Any, at: Any, step: Any, w: Any) -> None:
    for j in range(first, last):
        out[np.uint64(to + j)] += w * x[np.uint64(at + j * step)]


@inlined
def _three(
    out: Any, to: Any, first: Any, last: Any, x: Any, at: Any, gap: Any, step: Any, w: Any, v: Any, u: Any
) -> None:
    for j in range(first, last):
        here = at + j * step
        out[np.uint64(to + j)] += (
            w * x[np.uint64(here)] + v * x[np.uint64(here + gap)] + u * x[np.uint64(here + 2 * gap)]
        )


@inlined
def _row(
    out: Any, to: Any, cols: Any, x: Any, row: Any, width: Any, cells: Any, low: Any, gap: Any, step: Any
) -> None:
    """Add a row of the plane, weighted by a row of cells."""
    b, count = 0, cells.size
    while b < count:
        at = b * gap - low
        first, last = _inside(at, step, width, cols)
        if b + 2 >= count:
            _one(out, to, first, last, x, row + at, step, cells[b])
            b += 1
            continue
        # Cells further right enter the plane sooner, and leave it sooner.
        first1, last1 = _inside(at + gap, step, width, cols)
        first2, last2 = _inside(at + 2 * gap, step, width, cols)
        begin, end = first, max(first, last2)
        if step == 1:
            _three(out, to, begin, end, x, row + at, gap, 1, cells[b], cells[b + 1], cells[b + 2])
        else:
            _three(out, to, begin, end, x, row + at, gap, step, cells[b], cells[b + 1], cells[b + 2])
        _one(out, to, end, last, x, row + at, step, cells[b])
        _one(out, to, first1, min(begin, last1), x, row + at + gap, step, cells[b + 1])
        _one(out, to, max(end, first1), last1, x, row + at + gap, step, cells[b + 1])
        _one(out, to, first2, min(begin, last2), x, row + at + 2 * gap, step, cells[b + 2])
        b += 3


@inlined
def _fill(plane: Any, top: Any, left: Any, pitch: Any, out: Any) -> None:
    """Copy a plane into a wider one, flat."""
    height, width = plane.shape
    for y in range(height):
        begin = (top + y) * pitch + left
        out[begin : begin + width] = plane[y]


@compiled(3, 3, 3, INDICES, INDICES)
def _apply_whole(x: Any, weight: Any, out: Any, channels: Any, how: Any) -> None:
    """As `_apply`, for stride 1 and no negative padding."""
    _, height, width = x.shape
    planes, rows, cols = out.shape
    high, wide = weight.shape[1], weight.shape[2]
    pitch, gap = width + 2 * how[3], how[5]
    padded = np.zeros((height + 2 * how[2]) * pitch + (wide - 1) * gap, x.dtype)
    sums = np.empty(rows * pitch, x.dtype)
    for n in range(planes):
        cells = weight[channels[n]]
        _fill(x[n], how[2], how[3], pitch, padded)
        sums[:] = 0
        for a in range(high):
            at, b = a * how[4] * pitch, 0
            while b < wide:
                one = padded[at : at + sums.size]
                if b + 2 < wide:
                    two, three = (
                        padded[at + gap : at + gap + sums.size],
                        padded[at + 2 * gap : at + 2 * gap + sums.size],
                    )
                    u, v, w = cells[a, b], cells[a, b + 1], cells[a, b + 2]
                    for j in range(sums.size):
                        sums[j] += u * one[j] + v * two[j] + w * three[j]
                    b += 3
                    at += 3 * gap
                else:
                    u = cells[a, b]
                    for j in range(sums.size):
                        sums[j] += u * one[j]
                    b += 1
                    at += gap
        for i in range(rows):
            target, row = out[n, i], sums[i * pitch : i * pitch + cols]
            for j in range(cols):
                target[j] += row[j]


@compiled(4, 4, 3, INT64, INT64, INDICES, fastmath=REORDER)
def _correlate_whole(g: Any, x: Any, out: Any, begin: Any, end: Any, how: Any) -> None:
    """As `_correlate`, for stride 1."""
    images, _, rows, _ = g.shape
    _, _, height, width = x.shape
    high, wide = out.shape[1], out.shape[2]
    number = x.dtype.type
    pitch, gap = width + 2 * how[3], how[5]
    padded = np.zeros((height + 2 * how[2]) * pitch + (wide - 1) * gap, x.dtype)
    given = np.zeros(rows * pitch, x.dtype)
    totals = np.zeros((high, wide))
    for c in range(begin, end):
        totals[:] = 0
        for n in range(images):
            _fill(x[n, c], how[2], how[3], pitch, padded)
            _fill(g[n, c], 0, 0, pitch, given)
            for a in range(high):
                at = a * how[4] * pitch
                for b in range(wide):
                    there = padded[at + b * gap : at + b * gap + given.size]
                    found = number(0)
                    for j in range(given.size):
                        found += given[j] * there[j]
                    totals[a, b] += found
        for a in range(high):
            for b in range(wide):
                out[c, a, b] = totals[a, b]


@compiled(1, INDICES, 3, 1, INDICES, INDICES, INDICES)
def _apply(x: Any, size: Any, weight: Any, out: Any, places: Any, channels: Any, how: Any) -> None:
    """Add the windows of planes of `size`, weighted, to those of `places`; both are flat."""
    height, width = size
    rows, cols = places
    for n in range(channels.size):
        cells = weight[channels[n]]
        for i in range(rows):
            to = (n * rows + i) * cols
            top = i * how[0] - how[2]
            begin = n * height * width
            for a in range(cells.shape[0]):
                y = top + a * how[4]
                if y >= 0 and y < height:
                    _row(out, to, cols, x, begin + y * width, width, cells[a], how[3], how[5], how[1])


@compiled(3, 3, 3, INDICES, INDICES)
def _spread(g: Any, weight: Any, out: Any, channels: Any, how: Any) -> None:
    """The transpose of `_apply`: add [planes, rows, cols], weighted, to where the windows' cells are."""
    _, height, width = out.shape
    planes, rows, cols = g.shape
    for n in range(planes):
        cells = weight[channels[n]]
        for i in range(rows):
            row = g[n, i]
            for a in range(cells.shape[0]):
                y = i * how[0] + a * how[4] - how[2]
                if y < 0 or y >= height:
                    continue
                target = out[n, y]
                for b in range(cells.shape[1]):
                    by, at = cells[a, b], b * how[5] - how[3]
                    first, last = _inside(at, how[1], width, cols)
                    for j in range(first, last):
                        target[np.uint64(at + j * how[1])] += by * row[np.uint64(j)]


@compiled(1, 1, INDICES, INDICES, INDICES, 3, INT64, INT64, INDICES, fastmath=REORDER)
def _correlate(
    g: Any, x: Any, shape: Any, places: Any, size: Any, out: Any, begin: Any, end: Any, how: Any
) -> None:
    """For channels from `begin` to `end` of [images, channels, *places]: the sums of `g` times each cell of
    the windows of `x`.
    """
    images, channels = shape
    rows, cols = places
    height, width = size
    step, gap, number = how[1], how[5], x.dtype.type
    totals = np.zeros((out.shape[1], out.shape[2]))
    for c in range(begin, end):
        totals[:] = 0
        for n in range(images):
            for i in range(rows):
                of = ((n * channels + c) * rows + i) * cols
                for a in range(out.shape[1]):
                    y = i * how[0] + a * how[4] - how[2]
                    if y < 0 or y >= height:
                        continue
                    row = ((n * channels + c) * height + y) * width
                    for b in range(out.shape[2]):
                        at = b * gap - how[3]
                        first, last = _inside(at, step, width, cols)
                        found = number(0)
                        if step == 1:
                            for j in range(first, last):
                                found += g[np.uint64(of + j)] * x[np.uint64(row + at + j)]
                        else:
                            for j in range(first, last):
                                found += g[np.uint64(of + j)] * x[np.uint64(row + at + j * step)]
                        totals[a, b] += found
        for a in range(out.shape[1]):
            for b in range(out.shape[2]):
                out[c, a, b] = totals[a, b]


def _started(x: Any, bias: Any, size: Sequence[int]) -> Any:
    """What sums are added to: the bias of each channel, or zeros."""
    out = np.empty((*x.shape[:2], *size), x.dtype)
    out[...] = 0 if bias is None else bias.reshape(-1, 1, 1)
    return out


def _whole(how: How) -> bool:
    return all(s == 1 and p >= 0 for s, p in zip(how.stride, how.padding, strict=True))


def forward(x: Any, weight: Any, bias: Any, how: How) -> Any:
    """As `images_conv.convolve`, a group a channel."""
    size = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(x.shape[2:], *how, strict=True)]
    n, c = x.shape[:2]
    out = _started(x, bias, size)
    given, cells = ready(x).reshape(n * c, numel(x.shape[2:])), ready(weight).reshape(c, *how.kernel)
    flat, channels = out.reshape(n * c, numel(size)), np.tile(np.arange(c), n)
    high_and_wide, places, steps = np.array(x.shape[2:]), np.array(size), numbers(how)
    whole = _whole(how) and numel(x.shape)

    def work(some: slice, buffers: Buffers) -> None:
        if whole:
            planes = given[some].reshape(-1, *x.shape[2:])
            _apply_whole(planes, cells, flat[some].reshape(-1, *size), channels[some], steps)
            return
        _apply(
            given[some].reshape(-1),
            high_and_wide,
            cells,
            flat[some].reshape(-1),
            places,
            channels[some],
            steps,
        )

    each_plane(np, n * c, numel(how.kernel) * numel(size), work)
    return out


def for_input(g: Any, weight: Any, bias: Any, how: How, size: Sequence[int]) -> Any:
    """As `images_conv.convolve_transposed`, a group a channel."""
    if all(s == 1 for s in how.stride):  # then it is a convolution with the windows turned round
        padding = [d * (k - 1) - p for k, p, d in zip(how.kernel, how.padding, how.dilation, strict=True)]
        return forward(g, weight[:, :, ::-1, ::-1], bias, how._replace(padding=padding))
    n, c = g.shape[:2]
    out = _started(g, bias, size)
    given, cells = ready(g).reshape(n * c, *g.shape[2:]), ready(weight).reshape(c, *how.kernel)
    flat, channels, steps = out.reshape(n * c, *size), np.tile(np.arange(c), n), numbers(how)

    def work(some: slice, buffers: Buffers) -> None:
        _spread(given[some], cells, flat[some], channels[some], steps)

    each_plane(np, n * c, numel(how.kernel) * numel(g.shape[2:]), work)
    return out


def for_weight(g: Any, x: Any, how: How) -> Any:
    """As `images_conv.convolve_weight`, a group a channel."""
    n, c = x.shape[:2]
    out = np.empty((c, *how.kernel), x.dtype)
    given, planes = ready(g).reshape(-1), ready(x).reshape(-1)
    shape, places, size, steps = np.array((n, c)), np.array(g.shape[2:]), np.array(x.shape[2:]), numbers(how)
    whole = _whole(how) and numel(g.shape)

    def work(some: slice, buffers: Buffers) -> None:
        if whole:
            _correlate_whole(
                given.reshape(g.shape), planes.reshape(x.shape), out, some.start, some.stop, steps
            )
            if np.isfinite(out[some]).all():  # else 0 times what is beside the windows may have made it so
                return
        _correlate(given, planes, shape, places, size, out, some.start, some.stop, steps)

    each_plane(np, c, n * numel(how.kernel) * numel(g.shape[2:]), work)
    return out.reshape(c, 1, *how.kernel)
