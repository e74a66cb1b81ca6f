"""Compiled convolutions of images and lines without columns: products of weights and rows of a padded image.

A block of an image is copied into planes with its padding, one for each phase of the stride, so that every
cell of the windows sees a long run: what is made behind the end of a row is dropped. A result is one sum, in
the order of channels and cells, whatever the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .native import (
    GIVEN,
    INDICES,
    INT64,
    ROWS,
    SEEN,
    TABLE,
    VECTOR,
    VECTORS,
    compiled,
    inlined,
    row_correlations,
    row_products,
)
from .threads import LOAD, share, threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .images_conv import How

#: numbers in the planes of a block: what fits a core's cache beside what is made of them
CACHED = 1 << 16
#: least positions in a row of a block, if a row is cut
_LEAST = 256
#: positions of small images that a block has together
_RUN = 1 << 11
#: most partial sums of a weight's gradient
_SUMS = 8


# -- blocks ----------------------------------------------------------------------------------------


@inlined
def _reach(block: Any, kernel: Any, how: Any) -> Any:
    """Images of a block, rows and columns of their results, and rows and columns of their planes."""
    rows, cols = block[3] - block[2], block[5] - block[4]
    high = rows + (kernel[0] - 1) * how[4] // how[0]
    return block[1] - block[0], rows, cols, high, cols + (kernel[1] - 1) * how[5] // how[1]


@inlined
def _row(given: Any, start: Any, step: Any, to: Any) -> None:
    """Every `step`-th number of a row, zeros where it has none."""
    size = to.size
    low = min((step - 1 - start) // step if start < 0 else 0, size)
    end = max(low, min(size, (given.size - start + step - 1) // step))
    to[:low] = 0
    if step == 1:
        for j in range(low, end):
            to[np.uint64(j)] = given[np.uint64(start + j)]
    else:
        for j in range(low, end):
            to[np.uint64(j)] = given[np.uint64(start + j * step)]
    to[end:] = 0


@inlined
def _planes(
    x: Any, first: Any, last: Any, block: Any, how: Any, high: Any, pitch: Any, planes: Any
) -> None:  # fmt: skip
    """Copy what a block's windows see of the channels from `first` to `last` into planes [channels, phases of
    rows, phases of columns, images, high, pitch], with zeros outside of the images.
    """
    sh, sw = how[0], how[1]
    top, left = block[2] * sh - how[2], block[4] * sw - how[3]
    begin = 0
    for c in range(first, last):
        for a in range(sh):
            for b in range(sw):
                for n in range(block[0], block[1]):
                    for i in range(high):
                        row = planes[begin : begin + pitch]
                        begin += pitch
                        y = top + a + i * sh
                        if y < 0 or y >= x.shape[2]:
                            row[:] = 0
                        else:
                            _row(x[n, c, y], left + b, sw, row)


@inlined
def _offsets(kernel: Any, how: Any, channels: Any, size: Any, pitch: Any, offsets: Any) -> None:
    """Where each cell of the windows begins in the planes, each phase of `size`, for all channels."""
    at = 0
    for c in range(channels):
        for a in range(kernel[0]):
            for b in range(kernel[1]):
                y, x = a * how[4], b * how[5]
                phase = (c * how[0] + y % how[0]) * how[1] + x % how[1]
                offsets[at] = phase * size + y // how[0] * pitch + x // how[1]
                at += 1


# -- forward ---------------------------------------------------------------------------------------


@compiled(3, 1)
def _pack(weight: Any, out: Any) -> None:
    """Weights [groups, each, depth] as [groups, blocks of rows, depth, ROWS], with zeros to fill up."""
    groups, each, depth = weight.shape
    at = 0
    for g in range(groups):
        for begin in range(0, each, ROWS):
            for k in range(depth):
                for row in range(begin, begin + ROWS):
                    out[at] = weight[g, row, k] if row < each else 0
                    at += 1


@compiled(4, 1, 1, INT64, INDICES, INDICES, TABLE, INT64, INT64, 4)
def _convolve(
    x: Any, weights: Any, bias: Any, groups: int, kernel: Any, how: Any, blocks: Any, first: int, last: int,
    out: Any,
) -> None:  # fmt: skip
    """The blocks from `first` to `last`: ranges of images, of rows and of columns."""
    number = x.dtype.type
    inner, each = x.shape[1] // groups, out.shape[1] // groups
    depth, filled = inner * kernel[0] * kernel[1], (each + ROWS - 1) // ROWS
    tile = VECTOR // x.itemsize * VECTORS
    starts = np.zeros(groups * filled * ROWS, x.dtype)
    for o in range(bias.size):
        starts[o // each * filled * ROWS + o % each] = bias[o]
    offsets = np.empty(depth, np.int64)
    planes, made, was, apart = np.empty(0, x.dtype), np.empty(0, x.dtype), (0, 0, 0), 0
    for at in range(first, last):
        block = blocks[at]
        images, rows, cols, high, pitch = _reach(block, kernel, how)
        size, count = images * high * pitch, ((images - 1) * high + rows - 1) * pitch + cols
        if (images, high, pitch) != was:
            was = images, high, pitch
            # what is read behind the end has no part in a result
            planes = np.zeros(inner * how[0] * how[1] * size + tile, x.dtype)
            apart = (count + tile - 1) // tile * tile
            made = np.empty(ROWS * apart, x.dtype)
            _offsets(kernel, how, inner, size, pitch, offsets)
        for g in range(groups):
            _planes(x, g * inner, (g + 1) * inner, block, how, high, pitch, planes)
            for part in range(filled):
                to = (g * filled + part) * ROWS
                for begin in range(0, count, tile):
                    row_products(
                        number(0), weights.ctypes.data + to * depth * x.itemsize,
                        planes.ctypes.data + begin * x.itemsize, offsets.ctypes.data, depth,
                        starts.ctypes.data + to * x.itemsize, made.ctypes.data + begin * x.itemsize, apart,
                    )  # fmt: skip
                for row in range(min(ROWS, each - part * ROWS)):
                    for n in range(images):
                        found = out[block[0] + n, g * each + part * ROWS + row]
                        for i in range(rows):
                            line = found[block[2] + i, block[4] : block[5]]
                            source = row * apart + (n * high + i) * pitch
                            for j in range(line.size):
                                line[j] = made[np.uint64(source + j)]


# -- the weight's gradient -------------------------------------------------------------------------


@compiled(4, 4, INT64, INDICES, INDICES, TABLE, INT64, INT64, 3)
def _correlate(
    g: Any, x: Any, groups: int, kernel: Any, how: Any, blocks: Any, first: int, last: int, out: Any
) -> None:
    """Add what the blocks from `first` to `last` have of the gradient [groups, each, depth]."""
    number = x.dtype.type
    inner, each = x.shape[1] // groups, g.shape[1] // groups
    depth, lanes = inner * kernel[0] * kernel[1], VECTOR // x.itemsize
    filled = (each + GIVEN - 1) // GIVEN * GIVEN
    sums = np.empty(GIVEN * SEEN, x.dtype)
    # those behind the end are never added to anything
    offsets = np.zeros(depth + SEEN, np.int64)
    planes, slopes, was, apart = np.empty(0, x.dtype), np.empty(0, x.dtype), (0, 0, 0), 0
    for at in range(first, last):
        block = blocks[at]
        images, rows, cols, high, pitch = _reach(block, kernel, how)
        size, count = images * high * pitch, ((images - 1) * high + rows - 1) * pitch + cols
        if (images, high, pitch) != was:
            was = images, high, pitch
            planes = np.zeros(inner * how[0] * how[1] * size + lanes, x.dtype)
            apart = (count + lanes - 1) // lanes * lanes
            slopes = np.zeros(filled * apart, x.dtype)
            _offsets(kernel, how, inner, size, pitch, offsets)
        for group in range(groups):
            _planes(x, group * inner, (group + 1) * inner, block, how, high, pitch, planes)
            for o in range(each):
                for n in range(images):
                    given = g[block[0] + n, group * each + o]
                    for i in range(rows):
                        line = given[block[2] + i, block[4] : block[5]]
                        to = o * apart + (n * high + i) * pitch
                        for j in range(line.size):
                            slopes[np.uint64(to + j)] = line[j]
            for k in range(0, depth, SEEN):
                for o in range(0, each, GIVEN):
                    row_correlations(
                        number(0), slopes.ctypes.data + o * apart * x.itemsize, apart, planes.ctypes.data,
                        offsets.ctypes.data + k * 8, apart, sums.ctypes.data,
                    )  # fmt: skip
                    for row in range(min(GIVEN, each - o)):
                        for cell in range(min(SEEN, depth - k)):
                            out[group, o + row, k + cell] += sums[row * SEEN + cell]


# -- how much at a time ----------------------------------------------------------------------------


def _blocks(images: int, size: Sequence[int], how: How, inner: int) -> Any:
    """Blocks of results of `size`, two numbers, whose planes fit a cache: by shapes alone."""
    rows, cols = size
    each = inner * numel(how.stride)
    wide = min(cols, max(_LEAST, CACHED // (each * how.kernel[0])))
    wide = -(-cols // -(-cols // wide))
    pitch = wide + (how.kernel[1] - 1) * how.dilation[1] // how.stride[1]
    more = (how.kernel[0] - 1) * how.dilation[0] // how.stride[0]
    tall = min(rows, max(1, 2 * more, CACHED // (each * pitch) - more))
    tall = -(-rows // -(-rows // tall))
    many = 1
    if tall == rows and wide == cols:
        one = (rows + more) * pitch
        many = min(images, max(1, min(_RUN // one, CACHED // (each * one))))
        many = -(-images // -(-images // many))
    return np.array([
        (n, min(n + many, images), top, min(top + tall, rows), left, min(left + wide, cols))
        for n in range(0, images, many)
        for left in range(0, cols, wide) for top in range(0, rows, tall)
    ])  # fmt: skip


def _planar(a: Any) -> Any:
    """A batch of lines as one of images of one row."""
    return ready(a).reshape(*a.shape[:2], -1, a.shape[-1])


def _as_images(how: How) -> How:
    if len(how.kernel) == 2:
        return how
    return type(how)((1, *how.kernel), (1, *how.stride), (0, *how.padding), (1, *how.dilation))


def _steps(how: How) -> tuple[Any, Any]:
    return np.array(how.kernel), np.array((*how.stride, *how.padding, *how.dilation))


def forward(x: Any, weight: Any, bias: Any, how: How, size: Sequence[int], groups: int) -> Any:
    """As `images_conv.convolve`, for lines and images."""
    n, o = x.shape[0], weight.shape[0]
    out, images = np.empty((n, o, *size), x.dtype), _planar(x)
    inner, each, how = weight.shape[1], o // groups, _as_images(how)
    depth = inner * numel(how.kernel)
    packed = np.empty(groups * -(-each // ROWS) * ROWS * depth, x.dtype)
    _pack(ready(weight).reshape(groups, each, depth), packed)
    starts = np.empty(0, x.dtype) if bias is None else ready(bias).reshape(-1)
    found = out.reshape(n, o, -1, size[-1])
    blocks = _blocks(n, found.shape[2:], how, inner)
    numbers = _steps(how)

    def work(parts: Iterator[int]) -> None:
        for part in parts:
            _convolve(images, packed, starts, groups, *numbers, blocks, part, part + 1, found)

    load = out.size * depth
    if len(blocks) == 1 or load < 2 * LOAD or threads() == 1:
        _convolve(images, packed, starts, groups, *numbers, blocks, 0, len(blocks), found)
    else:
        share(np, len(blocks), load, work)
    return out


def for_weight(g: Any, x: Any, how: How, groups: int) -> Any:
    """As `images_conv.convolve_weight`, for lines and images; None if a sum is not finite."""
    kernel, (o, inner) = how.kernel, (g.shape[1], x.shape[1] // groups)
    slopes, images, how = _planar(g), _planar(x), _as_images(how)
    blocks = _blocks(len(g), slopes.shape[2:], how, inner)
    step = -(-len(blocks) // _SUMS)
    parts = -(-len(blocks) // step)
    depth = inner * numel(kernel)
    sums, numbers = np.zeros((parts, groups, o // groups, depth), x.dtype), _steps(how)

    def work(some: Iterator[int]) -> None:
        for part in some:
            end = min((part + 1) * step, len(blocks))
            _correlate(slopes, images, groups, *numbers, blocks, part * step, end, sums[part])

    if parts == 1:
        work(iter((0,)))
    else:
        share(np, parts, g.size * depth, work)
    found = sums[0] if parts == 1 else sums.sum(axis=0)
    # else 0 times what is beside the windows may have made it so
    return found.reshape(o, inner, *kernel) if np.isfinite(found).all() else None


def fits(x: Any, o: int, how: How, size: Sequence[int], groups: int) -> bool:
    """Whether images, or lines, and what is made of them are such that columns would cost more."""
    if x.ndim not in (3, 4) or not floating(x) or not x.size or not numel(size) or how.single:
        return False
    return all(p >= 0 for p in how.padding)
