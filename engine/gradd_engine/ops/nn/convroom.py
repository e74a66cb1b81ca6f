"""What convolutions need beside inputs and results: buffers of their kernels on a host (see
kernels/images_conv.py). Those on a GPU have the size that its memory allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...data import numel
from ...graph import spread
from ...kernels.images_conv import CACHED, IDLE, LEAST, LEAST_ROWS, blocks_of, sums_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...data import Meta
    from ...tensor import Tensor

#: how many buffers of a kind are counted at most
THREADS = 4
#: bytes that are not worth asking for
_SMALL = 4 << 20


def _with(meta: Meta, nbytes: int, inputs: Sequence[Tensor]) -> Meta:
    """The meta of an op that needs `nbytes`, and copies of what expanded inputs stand for."""
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
    """Elements of a block's columns and of the rows of images that they are made of; how many blocks."""
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
    """Of a convolution."""
    if not numel(meta.shape) or not numel(weight.shape):
        return meta
    columns, seen, blocks = _columns(input, meta.shape[2:], weight.shape[2:], stride, padding, dilation)
    found = numel(meta.shape) // blocks
    return _with(meta, min(blocks, THREADS) * (columns + seen + found) * meta.dtype.itemsize, [input, weight])


def weight_room(
    meta: Meta,
    grad: Tensor,
    input: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Meta:
    """Of the gradient of a convolution for its weight."""
    if not numel(grad.shape) or not numel(meta.shape):
        return meta
    columns, seen, blocks = _columns(input, grad.shape[2:], kernel, stride, padding, dilation)
    sums = min(blocks, sums_of(numel(meta.shape)))
    each = columns + 2 * seen + numel(grad.shape) // blocks
    whole = (2 * sums + 2) * numel(meta.shape)
    return _with(meta, (sums * each + whole) * meta.dtype.itemsize, [grad, input])


def transpose_room(meta: Meta, input: Tensor, weight: Tensor, padding: Sequence[int], groups: int) -> Meta:
    """Of a transposed convolution."""
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
        meta, (min(parts, THREADS) * block + numel(weight.shape)) * meta.dtype.itemsize, [input, weight]
    )
