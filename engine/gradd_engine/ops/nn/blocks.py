"""Sliding blocks of images as columns (unfold), and columns summed into images (fold).

Both are linear, and each is the other's gradient.
Source: https://pytorch.org/docs/stable/generated/torch.nn.Unfold.html
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, numel
from ...declare import LINEAR, kernel, public
from ...graph import TURN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...data import DType
    from ...schema import Op
    from ...tensor import Tensor

    Pair = Sequence[int]


def _pair(value: Any, what: str) -> list[int]:
    """Height and width from a pair, or from one number for both."""
    found = [value] * 2 if isinstance(value, int) else list(value)
    if len(found) != 2:
        raise RuntimeError(f"It is expected {what} equals to 2, but got size {len(found)}")
    return found


def _check(kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> None:
    for what, name, (h, w) in (
        ("kernel size", "kernel", kernel_size),
        ("stride", "stride", stride),
        ("dilation", "dilation", dilation),
    ):
        if h <= 0 or w <= 0:
            raise RuntimeError(
                f"{what} should be greater than zero, but got {name}_height: {h} {name}_width: {w}"
            )
    if min(padding) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}"
        )


def _positions(size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> list[int]:
    """The number of blocks along height and width."""
    return [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel_size, dilation, padding, stride, strict=True)
    ]


def _kind(dtype: DType, kernel: str, truths: bool) -> DType:
    if dtype.category < dtypes.FLOAT and not (truths and dtype is dtypes.bool_):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title}'")
    return dtype


def _shown(pair: Pair) -> str:
    return f"({pair[0]}, {pair[1]})"


def _how(kernel_size: Pair, dilation: Pair, padding: Pair) -> str:
    return f"kernel_size={_shown(kernel_size)}, dilation={_shown(dilation)}, padding={_shown(padding)}"


def _columns_infer(input: Tensor, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Meta:
    _check(kernel_size, dilation, padding, stride)
    shape = tuple(input.shape)
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(shape)}"
        )
    found = _positions(shape[-2:], kernel_size, dilation, padding, stride)
    if min(found) < 1:
        raise RuntimeError(
            f"Given input with spatial size {_shown(shape[-2:])}, "
            f"{_how(kernel_size, dilation, padding)}, calculated shape of the array of sliding blocks "
            f"as {_shown(found)}, but its components must be at least one."
        )
    rows = shape[-3] * kernel_size[0] * kernel_size[1]
    return Meta((*shape[:-3], rows, found[0] * found[1]), _kind(input.dtype, "im2col_out_cpu", True))


def _cells(kernel_size: Pair, dilation: Pair, stride: Pair, found: Pair) -> Iterator[tuple[int, int, Any]]:
    """Each cell of a block, with its places in all blocks of a padded image."""
    for i, j in product(range(kernel_size[0]), range(kernel_size[1])):
        yield i, j, (
            ...,
            *(
                slice(at * d, at * d + s * (n - 1) + 1, s)
                for at, d, s, n in zip((i, j), dilation, stride, found, strict=True)
            ),
        )  # fmt: skip


def _columns(xp: Any, input: Any, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Any:
    found = _positions(input.shape[-2:], kernel_size, dilation, padding, stride)
    sides = [(0, 0)] * (input.ndim - 2) + [(p, p) for p in padding]
    padded = xp.pad(input, sides)
    out = xp.empty((*input.shape[:-2], *kernel_size, *found), input.dtype)
    for i, j, where in _cells(kernel_size, dilation, stride, found):
        out[..., i, j, :, :] = padded[where]
    rows = input.shape[-3] * kernel_size[0] * kernel_size[1]
    return out.reshape(*input.shape[:-3], rows, found[0] * found[1])


def _images_infer(
    input: Tensor, output_size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> Meta:
    _check(kernel_size, dilation, padding, stride)
    shape = tuple(input.shape)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    cells = kernel_size[0] * kernel_size[1]
    # PyTorch numbers the dimensions of columns as if there were always a batch
    if shape[-2] % cells:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[-2]} and kernel_size={_shown(kernel_size)}."
        )
    found = _positions(output_size, kernel_size, dilation, padding, stride)
    if found[0] * found[1] != shape[-1] or min(found) < 1:
        raise RuntimeError(
            f"Given output_size={_shown(output_size)}, {_how(kernel_size, dilation, padding)}, "
            f"stride={_shown(stride)}, expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {found[0]} * {found[1]} = {found[0] * found[1]}, "
            f"but got input.size(2)={shape[-1]}."
        )
    made = (*shape[:-2], shape[-2] // cells, *output_size)
    return Meta(made, _kind(input.dtype, "col2im_out_cpu", False))


def _images(
    xp: Any, input: Any, output_size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> Any:
    found = _positions(output_size, kernel_size, dilation, padding, stride)
    channels = input.shape[-2] // (kernel_size[0] * kernel_size[1])
    blocks = input.reshape(*input.shape[:-2], channels, *kernel_size, *found)
    (h, w), (above, left) = output_size, padding
    padded = xp.zeros((*input.shape[:-2], channels, h + 2 * above, w + 2 * left), input.dtype)
    for i, j, where in _cells(kernel_size, dilation, stride, found):
        padded[where] += blocks[..., i, j, :, :]
    return padded[..., above : above + h, left : left + w]


def _blocks_cost(input: Tensor, size: Pair, kernel_size: Pair, padding: Pair) -> tuple[int, int]:
    """A step per cell of a block, and the padded planes."""
    planes = numel(input.shape[:-2])
    padded = planes * numel([n + 2 * p for n, p in zip(size, padding, strict=True)])
    return TURN * numel(kernel_size) + padded, padded * input.dtype.itemsize


_HOW = "int[] kernel_size, int[] dilation, int[] padding, int[] stride"

columns: Op = kernel(
    f"im2col(Tensor input, *, {_HOW}) -> Tensor",
    infer=_columns_infer,
    impl=_columns,
    cost=lambda input, kernel_size, dilation, padding, stride: _blocks_cost(
        input, input.shape[-2:], kernel_size, padding
    ),
    vjp=lambda g, input_meta, kernel_size, dilation, padding, stride: images(
        g,
        output_size=list(input_meta.shape[-2:]),
        kernel_size=kernel_size,
        dilation=dilation,
        padding=padding,
        stride=stride,
    ),
    jvp=LINEAR,
    node="Im2ColBackward0",
    namespace="-",
    outside=True,
    doc="The blocks of [N, C, H, W] or [C, H, W] as columns [N, C * cells per block, blocks].",
    raises=False,
)

images: Op = kernel(
    f"col2im(Tensor input, *, int[] output_size, {_HOW}) -> Tensor",
    infer=_images_infer,
    impl=_images,
    cost=lambda input, output_size, kernel_size, dilation, padding, stride: _blocks_cost(
        input, output_size, kernel_size, padding
    ),
    vjp=lambda g, kernel_size, dilation, padding, stride: columns(
        g, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
    ),
    jvp=LINEAR,
    node="Col2ImBackward0",
    namespace="-",
    outside=True,
    doc="Columns of blocks summed into images [N, C, *output_size], or without N.",
    raises=False,
)


@public("nn.functional")
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """See torch.nn.functional.unfold."""
    return columns(
        input,
        kernel_size=_pair(kernel_size, "kernel_size"),
        dilation=_pair(dilation, "dilation"),
        padding=_pair(padding, "padding"),
        stride=_pair(stride, "stride"),
    )


@public("nn.functional")
def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Blocks given as columns, summed into an image of `output_size` (torch.nn.functional.fold)."""
    return images(
        input,
        output_size=_pair(output_size, "output_size"),
        kernel_size=_pair(kernel_size, "kernel_size"),
        dilation=_pair(dilation, "dilation"),
        padding=_pair(padding, "padding"),
        stride=_pair(stride, "stride"),
    )
