"""Compiled convolutions of images and lines without columns: products of weights and rows of a padded image.

A block of an image is copied into planes with its padding, one for each phase of the stride, so that every
cell of the windows sees a long run: what is made behind the end of a row is dropped. A result is one sum, in
the order of channels and cells, whatever the block.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .images_conv import sums_of
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
from .threads import share, threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .images_conv import How

#: numbers in the planes of a block: what fits a core's cache beside what is made of them
CACHED = 1 << 16
#: least positions in a row of a block, if a row is cut
_LEAST = 256
#: positions of small images that a block has together
_RUN = 1 << 11
#: least positions for each of a weight's rows
_REORDER = 4
#: a loop's start for a weight's gradient, as if it were so many positions
_START = 400
#: where columns are quicker: channels that come out times the share of what is made in vain; channels that
#: come out for each number of a window
_SPARE, _IDLE, _SHALLOW = 80, 52, 3
#: so few products are quicker than to make columns
_TINY = 1 << 18


# -- blocks ----------------------------------------------------------------------------------------


# A plan has, of rows and of columns: strides, paddings, dilations, kernel, size of images, size of results;
# then channels that come in, channels that come out, and groups.


@inlined
def _reach(block: Any, plan: Any) -> Any:
    """Images of a block, rows and columns of their results, and rows and columns of their planes."""
    rows, cols = block[3] - block[2], block[5] - block[4]
    high, pitch = rows + (plan[6] - 1) * plan[4] // plan[0], cols + (plan[7] - 1) * plan[5] // plan[1]
    return block[1] - block[0], rows, cols, high, pitch


# Arrays are flat below: a view of each row would cost more than what is done to it.


@inlined
def _row(x: Any, begin: Any, width: Any, start: Any, step: Any, planes: Any, to: Any, count: Any) -> None:
    """Every `step`-th number of a row of `width`, zeros where it has none."""
    low = min((step - 1 - start) // step if start < 0 else 0, count)
    end = max(low, min(count, (width - start + step - 1) // step))
    for j in range(to, to + low):
        planes[np.uint64(j)] = 0
    first = begin + start
    if step == 1:
        for j in range(low, end):
            planes[np.uint64(to + j)] = x[np.uint64(first + j)]
    else:
        for j in range(low, end):
            planes[np.uint64(to + j)] = x[np.uint64(first + j * step)]
    for j in range(to + end, to + count):
        planes[np.uint64(j)] = 0


@inlined
def _planes(
    x: Any, first: Any, last: Any, block: Any, plan: Any, high: Any, pitch: Any, planes: Any
) -> None:  # fmt: skip
    """Copy what a block's windows see of the channels from `first` to `last` into planes [channels, phases of
    rows, phases of columns, images, high, pitch], with zeros outside of the images.
    """
    sh, sw, height, width, channels = plan[0], plan[1], plan[8], plan[9], plan[12]
    top, left = block[2] * sh - plan[2], block[4] * sw - plan[3]
    to = 0
    for c in range(first, last):
        for a in range(sh):
            for b in range(sw):
                for n in range(block[0], block[1]):
                    for i in range(high):
                        y = top + a + i * sh
                        if y < 0 or y >= height:
                            for j in range(to, to + pitch):
                                planes[np.uint64(j)] = 0
                        else:
                            begin = ((n * channels + c) * height + y) * width
                            if sw == 1:
                                _row(x, begin, width, left, 1, planes, to, pitch)
                            else:
                                _row(x, begin, width, left + b, sw, planes, to, pitch)
                        to += pitch


@inlined
def _offsets(plan: Any, channels: Any, size: Any, pitch: Any, offsets: Any) -> None:
    """Where each cell of the windows begins in the planes, each phase of `size`, for all channels."""
    at = 0
    for c in range(channels):
        for a in range(plan[6]):
            for b in range(plan[7]):
                y, x = a * plan[4], b * plan[5]
                phase = (c * plan[0] + y % plan[0]) * plan[1] + x % plan[1]
                offsets[at] = phase * size + y // plan[0] * pitch + x // plan[1]
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


@compiled(1, 1, 1, INDICES, TABLE, INT64, INT64, 1)
def _convolve(
    x: Any, weights: Any, bias: Any, plan: Any, blocks: Any, first: int, last: int, out: Any
) -> None:  # fmt: skip
    """The blocks from `first` to `last`: ranges of images, of rows and of columns."""
    number = x.dtype.type
    places, width, groups = plan[10] * plan[11], plan[11], plan[14]
    inner, each = plan[12] // groups, plan[13] // groups
    depth, filled = inner * plan[6] * plan[7], (each + ROWS - 1) // ROWS
    tile = VECTOR // x.itemsize * VECTORS
    starts = np.zeros(groups * filled * ROWS, x.dtype)
    for o in range(bias.size):
        starts[o // each * filled * ROWS + o % each] = bias[o]
    offsets = np.empty(depth, np.int64)
    planes, made, was, apart = np.empty(0, x.dtype), np.empty(0, x.dtype), (0, 0, 0), 0
    for at in range(first, last):
        block = blocks[at]
        images, rows, cols, high, pitch = _reach(block, plan)
        size, count = images * high * pitch, ((images - 1) * high + rows - 1) * pitch + cols
        if (images, high, pitch) != was:
            was = images, high, pitch
            # what is read behind the end has no part in a result
            planes = np.zeros(inner * plan[0] * plan[1] * size + tile, x.dtype)
            apart = (count + tile - 1) // tile * tile
            made = np.empty(ROWS * apart, x.dtype)
            _offsets(plan, inner, size, pitch, offsets)
        for g in range(groups):
            _planes(x, g * inner, (g + 1) * inner, block, plan, high, pitch, planes)
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
                        plane = (block[0] + n) * plan[13] + g * each + part * ROWS + row
                        for i in range(rows):
                            line = plane * places + (block[2] + i) * width + block[4]
                            source = row * apart + (n * high + i) * pitch
                            for j in range(cols):
                                out[np.uint64(line + j)] = made[np.uint64(source + j)]


# -- the weight's gradient -------------------------------------------------------------------------


@compiled(1, 1, INDICES, TABLE, INT64, INT64, 3)
def _correlate(g: Any, x: Any, plan: Any, blocks: Any, first: int, last: int, out: Any) -> None:
    """Add what the blocks from `first` to `last` have of the gradient [groups, each, depth]."""
    number = x.dtype.type
    places, width, groups = plan[10] * plan[11], plan[11], plan[14]
    inner, each = plan[12] // groups, plan[13] // groups
    depth, lanes = inner * plan[6] * plan[7], VECTOR // x.itemsize
    filled = (each + GIVEN - 1) // GIVEN * GIVEN
    sums = np.empty(GIVEN * SEEN, x.dtype)
    # those behind the end are never added to anything
    offsets = np.zeros(depth + SEEN, np.int64)
    planes, slopes, was, apart = np.empty(0, x.dtype), np.empty(0, x.dtype), (0, 0, 0), 0
    for at in range(first, last):
        block = blocks[at]
        images, rows, cols, high, pitch = _reach(block, plan)
        size, count = images * high * pitch, ((images - 1) * high + rows - 1) * pitch + cols
        if (images, high, pitch) != was:
            was = images, high, pitch
            planes = np.zeros(inner * plan[0] * plan[1] * size + lanes, x.dtype)
            apart = (count + lanes - 1) // lanes * lanes
            slopes = np.zeros(filled * apart, x.dtype)
            _offsets(plan, inner, size, pitch, offsets)
        for group in range(groups):
            _planes(x, group * inner, (group + 1) * inner, block, plan, high, pitch, planes)
            for o in range(each):
                for n in range(images):
                    plane = (block[0] + n) * plan[13] + group * each + o
                    for i in range(rows):
                        line = plane * places + (block[2] + i) * width + block[4]
                        to = o * apart + (n * high + i) * pitch
                        for j in range(cols):
                            slopes[np.uint64(to + j)] = g[np.uint64(line + j)]
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


class DirectPlan(NamedTuple):
    """A convolution as the compiled loops take it, and for whom they are quicker than products of columns."""

    plan: Any
    blocks: Any
    forward: bool
    weight: bool


@lru_cache(1024)
def _planned(
    shape: tuple[int, ...], o: int, how: How, size: tuple[int, ...], groups: int
) -> DirectPlan:  # fmt: skip
    one = (1,) * (4 - len(shape))
    none = (0,) * len(one)
    kernel, stride, padding, dilation = how
    images = type(how)((*one, *kernel), (*one, *stride), (*none, *padding), (*one, *dilation))
    places = (*one, *size)
    sizes = (*one, *shape[2:], *places)
    plan = (
        *images.stride, *images.padding, *images.dilation, *images.kernel, *sizes, shape[1], o, groups
    )  # fmt: skip
    inner, each, count = shape[1] // groups, o // groups, numel(places)
    depth, total = inner * numel(kernel), shape[0] * count
    blocks = _blocks(shape[0], places, images, inner)
    more = [(k - 1) * d // s for k, s, _, d in zip(*images, strict=True)]
    spare = (places[0] + more[0]) * (places[1] + more[1]) / count - 1
    # to reorder the weight takes long where there are few positions for each of its numbers
    few = _REORDER * each > total and each > ROWS
    many, rows, cols = (int(end - begin) for begin, end in blocks[0].reshape(3, 2))
    idle = (many * (rows + more[0]) * (cols + more[1]) + _START) / (many * rows * cols) - 1
    several = numel(kernel) > 1
    deep = each <= _SHALLOW * depth and each * idle <= _IDLE
    return DirectPlan(
        np.array(plan), blocks, several and not few and each * spare <= _SPARE,
        several and (deep or o * depth * total <= _TINY),
    )  # fmt: skip


def planned(x: Any, o: int, how: How, size: Sequence[int], groups: int) -> DirectPlan | None:
    """The plan of a convolution; None for arrays that none is for."""
    if x.ndim not in (3, 4) or not floating(x) or not x.size or not o or not numel(size):
        return None
    if any(p < 0 for p in how.padding):
        return None
    return _planned(x.shape, o, type(how)(*map(tuple, how)), tuple(size), groups)


def forward(made: DirectPlan, x: Any, weight: Any, bias: Any, size: Sequence[int], groups: int) -> Any:
    """As `images_conv.convolve`, for lines and images."""
    o, plan, blocks = weight.shape[0], made.plan, made.blocks
    out, each, depth = np.empty((x.shape[0], o, *size), x.dtype), o // groups, numel(weight.shape[1:])
    packed = np.empty(groups * -(-each // ROWS) * ROWS * depth, x.dtype)
    _pack(ready(weight).reshape(groups, each, depth), packed)
    starts = np.empty(0, x.dtype) if bias is None else ready(bias).reshape(-1)
    given, found = ready(x).reshape(-1), out.reshape(-1)

    def work(parts: Iterator[int]) -> None:
        for part in parts:
            _convolve(given, packed, starts, plan, blocks, part, part + 1, found)

    if len(blocks) == 1 or threads() == 1:
        _convolve(given, packed, starts, plan, blocks, 0, len(blocks), found)
    else:
        share(np, len(blocks), out.size * depth, work)
    return out


def for_weight(made: DirectPlan, g: Any, x: Any, kernel: Sequence[int], groups: int) -> Any:
    """As `images_conv.convolve_weight`, for lines and images; None if a sum is not finite."""
    o, inner = g.shape[1], x.shape[1] // groups
    depth, plan, blocks = inner * numel(kernel), made.plan, made.blocks
    step = -(-len(blocks) // sums_of(o * depth))
    parts = -(-len(blocks) // step)
    sums = np.zeros((parts, groups, o // groups, depth), x.dtype)
    slopes, given = ready(g).reshape(-1), ready(x).reshape(-1)

    def work(some: Iterator[int]) -> None:
        for part in some:
            _correlate(
                slopes, given, plan, blocks, part * step, min((part + 1) * step, len(blocks)), sums[part]
            )

    if parts == 1:
        work(iter((0,)))
    else:
        share(np, parts, g.size * depth, work)
    found = sums[0] if parts == 1 else sums.sum(axis=0)
    # else 0 times what is beside the windows may have made it so
    return found.reshape(o, inner, *kernel) if np.isfinite(found).all() else None
