"""Convolutions, their transposes and the gradients of their weights on the device, without columns in memory."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data import numel
from .launch import dense, each, empty, flat, launch, row_threads
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: what `convolutions.cu` calls these
THREADS, NINE = 256, 9
#: what 32 bits number
MOST = 1 << 31
#: a group with fewer channels of the result would leave tiles empty
FEW = 4
#: blocks that a device is to have, and the fewest sums that a part is for if it has not
ENOUGH, LEAST = 256, 512
#: the most sums that a block makes
LENGTH = 1 << 30
_FIELDS = ("size", "places", "taps", "factor", "divisor", "offset", "dilation", "every")
_AXIS = np.dtype([(name, np.int64) for name in _FIELDS])
_OTHERS = ("images", "groups", "inner", "each", "row", "step", "parts")
_CONVOLUTION = np.dtype([("axes", _AXIS, 3), *[(name, np.int64) for name in _OTHERS]])
#: an axis that is missing
_UNIT = (1, 1, 1, 1, 1, 0, 1, 1)


class Form(NamedTuple):
    """A kernel that makes tiles of these sizes."""

    name: str
    rows: int
    columns: int


FEW_FORM, USUAL, LARGE = Form("_few", 16, 128), Form("", 64, 64), Form("_large", 128, 128)
WEIGHT_FEW = Form("_few", 16, 64)


class Task(NamedTuple):
    """A convolution: numbers of images and groups, and of channels in a group of the input and of the result."""

    axes: Sequence[tuple[int, ...]]
    images: int
    groups: int
    inner: int
    each: int
    row: int
    step: int

    def told(self, parts: int) -> Any:
        """What a kernel is told."""
        made = np.zeros(1, _CONVOLUTION)
        made[0] = ([_UNIT] * (3 - len(self.axes)) + list(self.axes), *self[1:], parts)
        return made




def _axes(
    size: Sequence[int], places: Sequence[int], taps: Sequence[int], stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int],
) -> list[tuple[int, ...]]:  # fmt: skip
    """Of a convolution from images of `size`."""
    return [
        (n, m, k, s, 1, -p, d, 1)
        for n, m, k, s, p, d in zip(size, places, taps, stride, padding, dilation, strict=True)
    ]


def _transposed(axes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [(m, n, k, 1, s, -p, -d, s // gcd(s, d)) for n, m, k, s, _, p, d, _ in axes]


def _takes(axes: Sequence[tuple[int, ...]], weights: int, *arrays: Any) -> bool:
    """Whether there are three axes at most, and 32 bits number the weights and a padded image's cells."""
    dtype = arrays[0].dtype
    padded = numel([n - 2 * p for n, _, _, _, _, p, _, _ in axes])
    return (
        len(axes) <= 3
        and dtype.char in REALS
        and all(a is None or (a.dtype == dtype and a.size > 0) for a in arrays)
        and all(0 < n < MOST for n in (padded, weights))
    )


def _parts(blocks: int, length: int) -> int:
    """In how many parts sums are made: in several if the result has few blocks, or they are very long."""
    return max(1, min(-(-ENOUGH // blocks), length // LEAST), -(-length // LENGTH))


def _blocks(form: Form, height: int, width: int) -> int:
    return -(-height // form.rows) * -(-width // form.columns)


def _form(few: Form, height: int, width: int, many: int) -> Form:
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


def _convolved(xp: Any, input: Any, weight: Any, bias: Any, out: Any, task: Task) -> Any:
    """`out`, whose axes are those of the task."""
    types, given = out.dtype.char, [dense(xp, t) for t in (input, weight, bias)]
    channels, whole = task.groups * task.each, numel(out.shape[2:])
    if task.each < FEW:
        flat(xp, "convolve_each", types, out.size, *given, out, task.told(1))
        return out
    rests = numel([min(divisor, places) for _, places, _, _, divisor, *_ in task.axes])
    width = task.images * numel([-(-places // divisor) for _, places, _, _, divisor, *_ in task.axes])
    many = task.groups * rests
    form = _form(FEW_FORM, task.each, width, many)
    blocks = _blocks(form, task.each, width) * many
    parts = _parts(blocks, task.inner * numel(weight.shape[2:]) // rests)
    sums = _room(xp, parts, out)
    how = task.told(parts)
    launch(xp, f"convolve{form.name}", types, (blocks * parts,), THREADS, *given, out, sums, how)
    return _joined(xp, sums, given[2], out, channels, whole)


def _convolution(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int], groups: int,
    ) -> Any:  # fmt: skip
        size, taps = input.shape[2:], weight.shape[2:]
        places = _places(size, taps, stride, padding, dilation)
        axes = _axes(size, places, taps, stride, padding, dilation)
        if not _takes(axes, weight.size, input, weight, bias):
            return plain(xp, input, weight, bias, stride, padding, dilation, groups)
        o, inner = weight.shape[:2]
        step = numel(taps)
        task = Task(axes, input.shape[0], groups, inner, o // groups, inner * step, step)
        out = empty(xp, (input.shape[0], o, *places), input.dtype)
        return _convolved(xp, input, weight, bias, out, task)

    return kernel


def _convolution_transpose(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, size: Sequence[int], stride: Sequence[int],
        padding: Sequence[int], dilation: Sequence[int], groups: int,
    ) -> Any:  # fmt: skip
        taps = weight.shape[2:]
        axes = _axes(size, input.shape[2:], taps, stride, padding, dilation)
        if not _takes(axes, weight.size, input, weight, bias) or not numel(size):
            return plain(xp, input, weight, bias, size, stride, padding, dilation, groups)
        c, each_ = weight.shape[:2]
        row = numel(taps)
        task = Task(_transposed(axes), input.shape[0], groups, c // groups, each_, row, each_ * row)
        out = empty(xp, (input.shape[0], groups * each_, *size), input.dtype)
        return _convolved(xp, input, weight, bias, out, task)

    return kernel


def _convolution_weight(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int], groups: int,
    ) -> Any:  # fmt: skip
        n, o, *places = grad.shape
        inner, each_ = input.shape[1] // groups, o // groups
        axes = _axes(input.shape[2:], places, kernel, stride, padding, dilation)
        depth, length = inner * numel(kernel), n * numel(places)
        if not _takes(axes, o * depth, grad, input):
            return plain(xp, grad, input, kernel, stride, padding, dilation, groups)
        out, types = empty(xp, (o, inner, *kernel), grad.dtype), grad.dtype.char
        if each_ < FEW:
            name, blocks, threads = "_each", o * inner * -(-numel(kernel) // NINE), row_threads(length)
        else:
            form = _form(WEIGHT_FEW, each_, depth, groups * max(1, length // LEAST))
            name, blocks, threads = form.name, _blocks(form, each_, depth) * groups, THREADS
        parts = _parts(blocks, length)
        sums = _room(xp, parts, out)
        how = Task(axes, n, groups, inner, each_, 0, 0).told(parts)
        given = (dense(xp, grad), dense(xp, input), out, sums, how)
        launch(xp, f"convolve_weight{name}", types, (blocks * parts,), threads, *given)
        return _joined(xp, sums, None, out, 1, 1)

    return kernel


def _places(
    size: Sequence[int], taps: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int],
) -> list[int]:  # fmt: skip
    """How often a window fits along each axis."""
    return [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, taps, stride, padding, dilation, strict=True)
    ]


NATIVE = {
    "convolution": _convolution,
    "convolution_transpose": _convolution_transpose,
    "convolution_weight": _convolution_weight,
}
