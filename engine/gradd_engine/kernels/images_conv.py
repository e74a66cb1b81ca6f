"""Convolutions as cache-sized column matrices times the weight.

There are three forms: forward, transposed (the gradient for the input) and for the weight. On a host, each
works on blocks, of a few images or of rows of positions of one image, which threads share; a block's contents
and the order in which blocks are summed depend on shapes only. On a GPU a block is as many images as its
memory allows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data import numel
from .threads import share
from .windows import Buffers, cell, windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: elements in a block's columns: what fits a core's cache, or a share of a GPU's memory
CACHED, ON_GPU = 1 << 18, 1 << 28
#: minimum columns of a product; with fewer, reading the weight dominates
LEAST = 256
#: minimum rows of a product, for the same reason
LEAST_ROWS = 128
#: minimum length of the sums if a product is split into several
LEAST_SUM = 64
#: from this many channels, windows are copied with channels last, in long runs
LEAST_RUN = 8
#: how much larger a product may get in return for sums over longer rows
IDLE = 1.1
#: minimum positions per channel that justify reordering the weight
REORDER = 16
#: minimum number of parts to cut work into, if possible
SHARES = 16
#: total elements of the partial sums of a weight's gradient; there are between 4 and 8
SUMS = 1 << 22

_ALL = slice(None)


class How(NamedTuple):
    """Windows over images, one number per dimension."""

    kernel: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]

    @property
    def single(self) -> bool:
        """Whether each window is exactly one element, and each element one window."""
        return numel(self.kernel) == 1 and not any(self.padding) and all(s == 1 for s in self.stride)


#: the signatures of `_fold_flat` and of `_fold`
FoldFlat = Callable[[Any, "Sequence[int]", int, Buffers], Any]
Fold = Callable[[Any, How, "Sequence[int]", Buffers], Any]


class ConvBlock(NamedTuple):
    """Images from `first` to `last`, rows of positions from `top` to `bottom`."""

    first: int
    last: int
    top: int
    bottom: int

    @property
    def many(self) -> int:
        """The number of images."""
        return self.last - self.first


def _even(size: int, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of equal length, at most `most`."""
    step = -(-size // -(-size // most)) if size else 1
    for begin in range(0, size, step):
        yield begin, min(begin + step, size)


def blocks_of(images: int, places: Sequence[int], depth: int, on_gpu: bool = False) -> tuple[int, int, int]:
    """The most images and rows in a block, for columns of `depth` elements, and the number of blocks."""
    whole, wide = numel(places), numel(places[1:])
    if on_gpu:
        most = max(1, ON_GPU // max(depth * whole, 1))
    elif whole < LEAST:
        most = -(-LEAST // whole)
    else:
        most = max(1, min(-(-images // SHARES), CACHED // max(depth * whole, 1)))
    if most > 1:
        return min(most, images), places[0], -(-images // most)
    rows = min(max(-(-LEAST // wide), CACHED // max(depth * wide, 1)), places[0])
    return 1, rows, images * -(-places[0] // rows)


def sums_of(weights: int) -> int:
    """The largest number of partial sums for the gradient of `weights` elements."""
    return max(4, min(8, SUMS // max(weights, 1)))


def _blocks(xp: Any, images: int, places: Sequence[int], depth: int) -> list[ConvBlock]:
    """The blocks of all images and positions, for columns of `depth` elements."""
    if not images or not numel(places):
        return []
    most, rows, _ = blocks_of(images, places, depth, xp is not np)
    if rows == places[0]:
        return [ConvBlock(a, b, 0, rows) for a, b in _even(images, most)]
    return [ConvBlock(n, n + 1, a, b) for n in range(images) for a, b in _even(places[0], rows)]


class _Columns:
    """The windows of an array's blocks as matrices, one block at a time.

    If `merged`, a block's images are side by side in one matrix, otherwise each has its own.
    """

    def __init__(self, xp: Any, x: Any, how: How, groups: int, merged: bool) -> None:
        self._xp, self._x, self._how, self._groups, self._merged = xp, x, how, groups, merged
        self._buffers = Buffers(xp)
        kernel, stride, padding, dilation = how
        self._dims = len(kernel)
        self._shape: tuple[int, ...] = ()
        self._view: Any = None
        self._seen = None if any(padding) else windows(xp, x, 2, kernel, stride, dilation)

    def of(self, block: ConvBlock) -> Any:
        """[images, groups, C / groups * kernel, positions], valid until the next call."""
        kernel, dims = self._how.kernel, self._dims
        c, n = self._x.shape[1], block.many
        depth = c // self._groups * numel(kernel)
        if self._how.single and not self._merged:
            rows = self._x[block.first : block.last, :, block.top : block.bottom]
            return rows.reshape(n, self._groups, depth, numel(rows.shape[2:]))
        if self._seen is None:
            seen = self._windows(self._rows(block), 2)
        else:
            before = (slice(block.first, block.last), *(_ALL,) * (1 + dims))
            seen = self._seen[(*before, slice(block.top, block.bottom))]
        places = seen.shape[2 + dims :]
        if self._merged:
            columns = self._buffers.take("columns", (c, *kernel, n, *places), self._x.dtype)
            columns[...] = seen.transpose(*range(1, 2 + dims), 0, *range(2 + dims, seen.ndim))
            return columns.reshape(1, self._groups, depth, n * numel(places))
        columns = self._buffers.take("columns", seen.shape, self._x.dtype)
        columns[...] = seen
        return columns.reshape(n, self._groups, depth, numel(places))

    def turned(self, block: ConvBlock) -> Any:
        """[images, groups, positions, kernel * C / groups], valid until the next call."""
        kernel = self._how.kernel
        given = self._rows(block)
        n, c, *space = given.shape
        dims, groups = self._dims, self._groups
        last = self._buffers.take("last", (n, *space, groups, c // groups), given.dtype)
        last.reshape(n, *space, c)[...] = given.transpose(0, *range(2, given.ndim), 1)
        seen = self._windows(last, 1)
        places = seen.shape[1 + dims : 1 + 2 * dims]
        whole = 1 + 2 * dims
        order = [0, whole, *range(1 + dims, whole), *range(1, 1 + dims), whole + 1]
        lead = [n, groups]
        if self._merged:
            order[:2], lead = [whole, 0], [groups, n]
        columns = self._buffers.take("columns", (*lead, *places, *kernel, c // groups), given.dtype)
        columns[...] = seen.transpose(order)
        many = 1 if self._merged else n
        return columns.reshape(many, groups, n // many * numel(places), numel(kernel) * (c // groups))

    def _windows(self, x: Any, first: int) -> Any:
        """The windows of a buffer, cached while its shape stays the same."""
        if x.shape != self._shape:
            kernel, stride, _, dilation = self._how
            self._shape, self._view = x.shape, windows(self._xp, x, first, kernel, stride, dilation)
        return self._view

    def _rows(self, block: ConvBlock) -> Any:
        """The image rows that the block's windows cover, zeros included outside the image."""
        kernel, stride, padding, dilation = self._how
        images, size = slice(block.first, block.last), self._x.shape[2:]
        begin = block.top * stride[0]
        end = (block.bottom - 1) * stride[0] + dilation[0] * (kernel[0] - 1) + 1
        if not any(padding):
            return self._x[images, :, begin:end]
        low, high = max(begin, padding[0]), min(end, padding[0] + size[0])
        others = tuple(s + 2 * p for s, p in zip(size[1:], padding[1:], strict=True))
        shape = (block.many, self._x.shape[1], end - begin, *others)
        found = self._buffers.filled("padded", shape, self._x.dtype)
        if low < high:
            inside = (slice(p, p + s) for s, p in zip(size[1:], padding[1:], strict=True))
            given = self._x[images, :, low - padding[0] : high - padding[0]]
            found[(_ALL, _ALL, slice(low - begin, high - begin), *inside)] = given
        return found


# -- the three -------------------------------------------------------------------------------------


def convolve(xp: Any, input: Any, weight: Any, bias: Any, how: How, size: Sequence[int], groups: int) -> Any:
    """[N, C, ...] with a weight [O, C / groups, *kernel] to [N, O, *size]."""
    n, o = input.shape[0], weight.shape[0]
    each, depth = o // groups, numel(weight.shape[1:])
    places, wide = numel(size), numel(size[1:])
    add = None if bias is None else bias.reshape(groups, each, 1)
    out = xp.empty((n, groups, each, places), input.dtype)
    blocks = _blocks(xp, n, size, groups * depth)
    merged = places < LEAST
    taps, step = how.kernel[0], how.dilation[0]
    # Windows overlap: with stride 1, a product per row of the kernel can share the same columns.
    if xp is not np or merged or how.stride[0] != 1 or depth < taps * LEAST_SUM:
        taps = 1
        rows = weight.reshape(1, groups, each, depth)
    else:
        rows = xp.moveaxis(weight, 2, 0).reshape(taps, groups, each, depth // taps)
        how = how._replace(kernel=(1, *how.kernel[1:]))

    def work(numbers: Iterator[int]) -> None:
        buffers, columns = Buffers(xp), _Columns(xp, input, how, groups, merged)
        for number in numbers:
            b = blocks[number]
            if merged:
                found = buffers.take("found", (1, groups, each, b.many * places), out.dtype)
            else:
                found = out[b.first : b.last, :, :, b.top * wide : b.bottom * wide]
            seen = columns.of(b._replace(bottom=b.bottom + (taps - 1) * step))
            width = found.shape[3]
            xp.matmul(rows[0], seen[..., :width], out=found)
            for tap in range(1, taps):
                begin = tap * step * wide
                one = buffers.take("one", found.shape, out.dtype)
                found += xp.matmul(rows[tap], seen[..., begin : begin + width], out=one)
            if add is not None:
                found += add
            if merged:
                out[b.first : b.last] = xp.moveaxis(found.reshape(groups, each, b.many, places), 2, 0)

    share(xp, len(blocks), n * groups * depth * places, work)
    return out.reshape(n, o, *size)


def convolve_weight(xp: Any, g: Any, input: Any, how: How, groups: int) -> Any:
    """The gradient of `convolve` for its weight, from its result's gradient [N, O, ...]."""
    n, o, *size = g.shape
    each, channels = o // groups, input.shape[1] // groups
    depth, places, wide = channels * numel(how.kernel), numel(size), numel(size[1:])
    given = g.reshape(n, groups, each, places)
    blocks = _blocks(xp, n, size, groups * depth)
    merged, last = places < LEAST, channels >= LEAST_RUN
    lanes = list(_even(len(blocks), -(-len(blocks) // sums_of(o * depth))))
    sums = xp.zeros((len(lanes), groups, each, depth), g.dtype)

    def work(numbers: Iterator[int]) -> None:
        buffers, columns = Buffers(xp), _Columns(xp, input, how, groups, merged)
        for number in numbers:
            for at in range(*lanes[number]):
                b = blocks[at]
                if merged:
                    rows = buffers.take("rows", (groups, each, b.many, places), g.dtype)
                    rows[...] = given[b.first : b.last].transpose(1, 2, 0, 3)
                    rows = rows.reshape(1, groups, each, b.many * places)
                else:
                    rows = given[b.first : b.last, :, :, b.top * wide : b.bottom * wide]
                seen = columns.turned(b) if last else columns.of(b).swapaxes(2, 3)
                one = buffers.take("one", (rows.shape[0], groups, each, depth), g.dtype)
                for found in xp.matmul(rows, seen, out=one):
                    sums[number] += found

    share(xp, len(lanes), n * groups * depth * places, work)
    found = sums.sum(axis=0)
    if last:
        return xp.moveaxis(found.reshape(o, *how.kernel, channels), -1, 1)
    return found.reshape(o, channels, *how.kernel)


def convolve_transposed(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any,
    how: How,
    size: Sequence[int],
    groups: int,
    fold_flat: FoldFlat | None = None,
    fold: Fold | None = None,
) -> Any:
    """The transpose of `convolve`: [N, C, ...] with a weight [C, O / groups, *kernel] to [N, O, *size].

    `fold_flat` and `fold` sum columns, in flat planes and in others, if there is a faster way than NumPy.
    """
    n, c, *places = input.shape
    inner, each, taps = c // groups, weight.shape[1], numel(how.kernel)
    whole = [s + 2 * p for s, p in zip(size, how.padding, strict=True)]
    crop = tuple(slice(p, p + s) for p, s in zip(how.padding, size, strict=True))
    # With rows zero-padded to the result's length, whole planes can be summed. That needs a reordered weight.
    flat = all(s == 1 for s in how.stride) and numel(whole[1:]) <= IDLE * numel(places[1:])
    flat = flat and n * numel(places) >= REORDER * inner
    wide = [places[0], *whole[1:]] if flat else places
    width = numel(wide)
    if flat:
        rows = xp.ascontiguousarray(weight.reshape(groups, inner, each, taps).transpose(0, 3, 2, 1))
    else:
        rows = weight.reshape(groups, inner, each * taps).swapaxes(1, 2)
    out = xp.empty((n, groups, each, *size), input.dtype)
    if xp is np:
        images = -(-LEAST // width)
        channels = max(-(-LEAST_ROWS // taps), CACHED // max(groups * taps * images * width, 1))
    else:
        images, channels = max(1, ON_GPU // max(groups * each * taps * width, 1)), max(each, 1)
    parts = [(*a, *b) for a in _even(n, images) for b in _even(each, channels)]
    add = None if bias is None else bias.reshape(groups, each, 1, *(1 for _ in size))
    steps = [d * numel(whole[t + 1 :]) for t, d in enumerate(how.dilation)]
    shifts = [sum(map(mul, at, steps)) for at in product(*map(range, how.kernel))]
    inside = tuple(slice(p) for p in places)

    def work(numbers: Iterator[int]) -> None:
        buffers = Buffers(xp)
        for number in numbers:
            first, last, low, high = parts[number]
            many = last - first
            if many == 1 and not flat:
                right = input[first]
            else:
                right = buffers.filled("right", (c, many, *wide), input.dtype)
                right[(_ALL, _ALL, *inside)] = xp.moveaxis(input[first:last], 0, 1)
            right = right.reshape(groups, inner, many * width)
            columns = buffers.take("columns", (groups, (high - low) * taps, many * width), input.dtype)
            if flat:
                left = rows[:, :, low:high].reshape(groups, taps * (high - low), inner)
            else:
                left = rows[:, low * taps : high * taps]
            xp.matmul(left, right, out=columns)
            if flat:
                columns = columns.reshape(groups, taps, high - low, many, width)
                found = (fold_flat or _fold_flat)(columns, shifts, numel(whole), buffers)
            else:
                columns = columns.reshape(groups * (high - low), *how.kernel, many, *wide)
                found = (fold or _fold)(columns, how, whole, buffers)
            found = found.reshape(groups, high - low, many, *whole)[(_ALL, _ALL, _ALL, *crop)]
            target = xp.moveaxis(out[first:last, :, low:high], 0, 2)
            if add is None:
                target[...] = found
            else:
                xp.add(found, add[:, low:high], out=target)

    share(xp, len(parts), n * groups * each * taps * width, work)
    return out.reshape(n, groups * each, *size)


def _fold(columns: Any, how: How, whole: Sequence[int], buffers: Buffers) -> Any:
    """Columns [channels, *kernel, images, *positions] summed at their places: [channels, images, *whole].

    With stride 1, dimensions are summed one after another, so most sums are over long rows.
    """
    dims = len(whole)
    kernel, stride, _, dilation = how
    places = columns.shape[2 + dims :]
    if stride[0] != 1:
        found = buffers.filled("fold", (columns.shape[0], columns.shape[1 + dims], *whole), columns.dtype)
        for at in product(*map(range, kernel)):
            part = found[(_ALL, _ALL, *map(cell, at, dilation, stride, places))]
            part += columns[(_ALL, *at)]
        return found
    x = columns
    for d, k in enumerate(kernel):
        if k == 1 and places[d] == whole[d]:
            x = x[:, 0]
            continue
        shape = [x.shape[0], *x.shape[2:]]
        shape[1 + dims] = whole[d]
        found = buffers.filled(f"fold{d}", shape, x.dtype)
        for tap in range(k):
            part = found[(*(_ALL,) * (1 + dims), cell(tap, dilation[d], stride[d], places[d]))]
            part += x[:, tap]
        x = found
    return x


def _fold_flat(columns: Any, shifts: Sequence[int], size: int, buffers: Buffers) -> Any:
    """Columns [groups, taps, channels, images, positions] summed in flat planes of `size`, each tap from its
    shift: [groups, channels, images, size].
    """
    groups, _, channels, many, width = columns.shape
    found = buffers.filled("fold", (groups, channels, many, size), columns.dtype)
    for tap, begin in enumerate(shifts):
        part = found[..., begin : begin + width]
        part += columns[:, tap, ..., : size - begin]
    return found
