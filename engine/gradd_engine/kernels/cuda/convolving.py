"""Convolutions, their transposes and their weights' gradients on the device, without columns in memory."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data import numel
from .launch import dense, each, empty, flat, launch, row_threads
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: what the sources call these
THREADS, NINE = 256, 9
#: what 32 bits number
MOST = 1 << 31
#: a group with fewer channels of the result would leave tiles empty
FEW = 4
#: blocks that a device is to have, and the fewest sums that a part is for if it has not
ENOUGH, LEAST = 256, 512
#: the most sums that a block makes
LENGTH = 1 << 30


class ConvolutionAxis(NamedTuple):
    """An axis as `tiles.cuh` tells it; by default one that is missing."""

    size: int = 1
    places: int = 1
    taps: int = 1
    factor: int = 1
    divisor: int = 1
    offset: int = 0
    dilation: int = 1
    every: int = 1

    @property
    def transposed(self) -> ConvolutionAxis:
        """Of the transpose of a convolution."""
        size, places, taps, stride, _, offset, dilation, _ = self
        every = stride // gcd(stride, dilation)
        return ConvolutionAxis(places, size, taps, 1, stride, -offset, -dilation, every)


class TileForm(NamedTuple):
    """A kernel that makes tiles of these sizes."""

    name: str
    rows: int
    columns: int


FEW_FORM, USUAL, LARGE = TileForm("_few", 16, 128), TileForm("", 64, 64), TileForm("_large", 128, 128)
WEIGHT_FEW = TileForm("_few", 16, 64)


class ConvolutionTask(NamedTuple):
    """A convolution: its numbers of images and groups, of channels in a group of the input and of the result,
    and how far apart the weights of neighbouring ones are: of the result's and of the input's.
    """

    axes: Sequence[ConvolutionAxis]
    images: int
    groups: int
    inner: int
    each: int
    row: int
    step: int

    @property
    def rests(self) -> int:
        """How many convolutions it is made of: of places that meet the same taps."""
        return numel([min(a.divisor, a.places) for a in self.axes])

    @property
    def length(self) -> int:
        """The most that is summed."""
        return self.inner * numel([-(-a.taps // a.every) for a in self.axes])

    @property
    def width(self) -> int:
        """The most places that one of those has, in all images."""
        return self.images * numel([-(-a.places // a.divisor) for a in self.axes])

    def told(self, parts: int) -> Any:
        """What a kernel is told."""
        made = np.zeros(1, _CONVOLUTION)
        made[0] = ([ConvolutionAxis()] * (3 - len(self.axes)) + list(self.axes), *self[1:], parts)
        return made


_AXIS = np.dtype([(name, np.int64) for name in ConvolutionAxis._fields])
_NUMBERS = [(name, np.int64) for name in (*ConvolutionTask._fields[1:], "parts")]
_CONVOLUTION = np.dtype([("axes", _AXIS, 3), *_NUMBERS])


def _axes(
    size: Sequence[int], taps: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int],
) -> list[ConvolutionAxis]:  # fmt: skip
    """Of a convolution from images of `size`."""
    return [
        ConvolutionAxis(n, (n + 2 * p - d * (k - 1) - 1) // s + 1, k, s, 1, -p, d)
        for n, k, s, p, d in zip(size, taps, stride, padding, dilation, strict=True)
    ]


def _takes(axes: Sequence[ConvolutionAxis], weights: int, *arrays: Any) -> bool:
    """Whether there are three axes at most, and 32 bits are enough for what they have, a padded image's cells
    and the weights.
    """
    dtype = arrays[0].dtype
    padded = numel([a.size - 2 * a.offset for a in axes])
    return (
        len(axes) <= 3
        and dtype.char in REALS
        and all(a is None or (a.dtype == dtype and a.size > 0) for a in arrays)
        and all(0 < n < MOST for n in (padded, weights))
        and all(abs(n) < MOST for axis in axes for n in axis)
    )


def _parts(blocks: int, length: int) -> int:
    """In how many parts sums are made: in several if the result has few blocks, or they are very long."""
    return max(1, min(-(-ENOUGH // blocks), length // LEAST), -(-length // LENGTH))


def _blocks(form: TileForm, height: int, width: int) -> int:
    return -(-height // form.rows) * -(-width // form.columns)


def _form(few: TileForm, height: int, width: int, many: int) -> TileForm:
    """The form for `many` matrices of results."""
    if height <= few.rows:
        return few
    large = min(height, width) > USUAL.rows and _blocks(LARGE, height, width) * many >= ENOUGH
    return LARGE if large else USUAL


def _room(xp: Any, parts: int, out: Any) -> Any:
    """Where parts of sums go before they are joined."""
    if parts == 1:
        return None
    return empty(xp, (parts, *out.shape), np.float32 if out.dtype.itemsize == 2 else out.dtype)


def _joined(xp: Any, sums: Any, bias: Any, out: Any, channels: int, size: int) -> Any:
    if sums is not None:
        given = (sums, bias, out, sums.shape[0], out.size, channels, size)
        each(xp, "join_parts", out.dtype.char, out.size, *given)
    return out


def _convolved(xp: Any, input: Any, weight: Any, bias: Any, out: Any, task: ConvolutionTask) -> Any:
    """`out`, whose axes are those of the task."""
    types, given = out.dtype.char, [dense(xp, t) for t in (input, weight, bias)]
    if task.each < FEW and task.images * out.shape[1] < MOST:
        flat(xp, "convolve_each", types, out.size, *given, out, task.told(1))
        return out
    many = task.groups * task.rests
    form = _form(FEW_FORM, task.each, task.width, many)
    blocks = _blocks(form, task.each, task.width) * many
    parts = _parts(blocks, task.length)
    sums = _room(xp, parts, out)
    how = task.told(parts)
    launch(xp, f"convolve{form.name}", types, (blocks * parts,), THREADS, *given, out, sums, how)
    return _joined(xp, sums, given[2], out, out.shape[1], numel(out.shape[2:]))


def _convolution(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int], groups: int,
    ) -> Any:  # fmt: skip
        axes = _axes(input.shape[2:], weight.shape[2:], stride, padding, dilation)
        if not _takes(axes, weight.size, input, weight, bias):
            return plain(xp, input, weight, bias, stride, padding, dilation, groups)
        o, inner = weight.shape[:2]
        step = numel(weight.shape[2:])
        task = ConvolutionTask(axes, input.shape[0], groups, inner, o // groups, inner * step, step)
        out = empty(xp, (input.shape[0], o, *(a.places for a in axes)), input.dtype)
        return _convolved(xp, input, weight, bias, out, task)

    return kernel


def _convolution_transpose(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, size: Sequence[int], stride: Sequence[int],
        padding: Sequence[int], dilation: Sequence[int], groups: int,
    ) -> Any:  # fmt: skip
        axes = _axes(size, weight.shape[2:], stride, padding, dilation)
        if not _takes(axes, weight.size, input, weight, bias) or not numel(size):
            return plain(xp, input, weight, bias, size, stride, padding, dilation, groups)
        (n, c), high, row = input.shape[:2], weight.shape[1], numel(weight.shape[2:])
        axes = [a.transposed for a in axes]
        task = ConvolutionTask(axes, n, groups, c // groups, high, row, high * row)
        out = empty(xp, (n, groups * high, *size), input.dtype)
        return _convolved(xp, input, weight, bias, out, task)

    return kernel


def _convolution_weight(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int], groups: int,
    ) -> Any:  # fmt: skip
        n, o, *places = grad.shape
        inner, high = input.shape[1] // groups, o // groups
        axes = _axes(input.shape[2:], kernel, stride, padding, dilation)
        depth, length = inner * numel(kernel), n * numel(places)
        if not _takes(axes, o * depth, grad, input):
            return plain(xp, grad, input, kernel, stride, padding, dilation, groups)
        out, types = empty(xp, (o, inner, *kernel), grad.dtype), grad.dtype.char
        if high < FEW:
            name, blocks, threads = "_each", o * inner * -(-numel(kernel) // NINE), row_threads(length)
        else:
            form = _form(WEIGHT_FEW, high, depth, groups * max(1, length // LEAST))
            name, blocks, threads = form.name, _blocks(form, high, depth) * groups, THREADS
        parts = _parts(blocks, length)
        sums = _room(xp, parts, out)
        how = ConvolutionTask(axes, n, groups, inner, high, 0, 0).told(parts)
        given = (dense(xp, grad), dense(xp, input), out, sums, how)
        launch(xp, f"convolve_weight{name}", types, (blocks * parts,), threads, *given)
        return _joined(xp, sums, None, out, 1, 1)

    return kernel


NATIVE = {
    "convolution": _convolution,
    "convolution_transpose": _convolution_transpose,
    "convolution_weight": _convolution_weight,
}
