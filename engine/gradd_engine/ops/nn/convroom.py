"""Memory that convolutions need besides inputs and results, for kernel buffers on a host (see
kernels/images_conv.py). On a GPU the buffers adapt to the free memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data import numel
from ...graph import spread
from ...kernels import CACHED, IDLE, LEAST, LEAST_ROWS, blocks_of, sums_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...data import Meta
    from ...tensor import Tensor

#: at most this many buffers of a kind are counted
THREADS = 4
#: fewer bytes are not accounted for
_SMALL = 4 << 20


def _with(meta: Meta, nbytes: int, inputs: Sequence[Tensor]) -> Meta:
    """`meta` with room for `nbytes` and for copies of expanded inputs."""
    if nbytes > _SMALL:
        meta.room = nbytes + spread(inputs)
    return meta


def _columns(
    input: Tensor,
    size: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[int, int, int]:
    """The elements of a block's columns and of the image rows they come from, and the number of blocks."""
    n, c = input.shape[:2]
    images, rows, blocks = blocks_of(n, size, c * numel(kernel))
    high = (rows - 1) * stride[0] + dilation[0] * (kernel[0] - 1) + 1
    seen = c * images * high * numel([s + 2 * p for s, p in zip(input.shape[3:], padding[1:], strict=True)])
    return c * numel(kernel) * images * rows * numel(size[1:]), seen, blocks


def conv_room(
    meta: Meta,
    input: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Meta:
    """`meta` with the room for a convolution."""
    if not numel(meta.shape) or not numel(weight.shape):
        return meta
    columns, seen, blocks = _columns(input, meta.shape[2:], weight.shape[2:], stride, padding, dilation)
    found = numel(meta.shape) // blocks
    elements = min(blocks, THREADS) * (columns + seen + found) + numel(weight.shape)
    return _with(meta, elements * meta.dtype.itemsize, [input, weight])


def weight_room(
    meta: Meta,
    grad: Tensor,
    input: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Meta:
    """`meta` with the room for a convolution's weight gradient."""
    if not numel(grad.shape) or not numel(meta.shape):
        return meta
    columns, seen, blocks = _columns(input, grad.shape[2:], kernel, stride, padding, dilation)
    sums = min(blocks, sums_of(numel(meta.shape)))
    each = columns + 2 * seen + numel(grad.shape) // blocks
    whole = (2 * sums_of(numel(meta.shape)) + 2) * numel(meta.shape)
    return _with(meta, (sums * each + whole) * meta.dtype.itemsize, [grad, input])


def transpose_room(meta: Meta, input: Tensor, weight: Tensor, padding: Sequence[int], groups: int) -> Meta:
    """`meta` with the room for a transposed convolution."""
    if not numel(meta.shape) or not numel(weight.shape):
        return meta
    n, c, *places = input.shape
    each, taps = weight.shape[1], numel(weight.shape[2:])
    whole = [s + 2 * p for s, p in zip(meta.shape[2:], padding, strict=True)]
    width = numel(places)
    if numel(whole[1:]) <= IDLE * numel(places[1:]):
        width = max(width, places[0] * numel(whole[1:]))
    images = min(n, -(-LEAST // width))
    channels = min(each, max(-(-LEAST_ROWS // taps), CACHED // max(groups * taps * images * width, 1)))
    parts = -(-n // images) * -(-each // channels)
    block = c * images * width + groups * channels * images * (taps * width + 2 * numel(whole))
    return _with(
        meta, (min(parts, THREADS) * block + 2 * numel(weight.shape)) * meta.dtype.itemsize, [input, weight]
    )
