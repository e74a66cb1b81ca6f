"""Windows over images [N, C, H, W] or [C, H, W], and their maxima. 1-dim forms are those of one row.

Source: https://pytorch.org/docs/stable/nn.functional.html#pooling-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..layout import Meta, numel
from ..op import LINEAR, op
from ..surface import public
from .images import image_strides, windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..op import Op
    from ..tensor import Tensor


def two(value: Any, name: str, what: str) -> list[int]:
    """Height and width, where one number may stand for both."""
    found = [value] if isinstance(value, int) else list(value)
    if len(found) not in (1, 2):
        raise RuntimeError(f"{name}: {what} must either be a single int, or a tuple of two ints")
    return found * 2 if len(found) == 1 else found


def strides_of(value: Any, kernel: list[int], name: str) -> list[int]:
    """The strides, the kernel's size where none are given."""
    if value is None or (not isinstance(value, int) and not len(value)):
        return kernel
    return two(value, name, "stride")


def _positions(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows: in ceil mode also one that begins inside and ends outside."""
    free = size + 2 * pad - dilation * (kernel - 1) - 1
    found = (free + (stride - 1 if ceil_mode else 0)) // stride + 1
    return found - 1 if ceil_mode and (found - 1) * stride >= size + pad else found


def check_windows(
    input: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> None:
    """RuntimeError in PyTorch's words where windows do not fit images."""
    if any(k <= 0 for k in kernel):
        raise RuntimeError(
            f"kernel size should be greater than zero, but got kH: {kernel[0]} kW: {kernel[1]}"
        )
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"stride should be greater than zero, but got dH: {stride[0]} dW: {stride[1]}")
    if any(d <= 0 for d in dilation):
        raise RuntimeError(
            f"dilation should be greater than zero, but got dilationH: {dilation[0]} dilationW: {dilation[1]}"
        )
    for k, p, d in zip(kernel, padding, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
    if input.ndim not in (3, 4) or not numel(input.shape[-3:]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(input.shape)}"
        )


def out_shape(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[int, ...]:
    """The images' shape after one value a window; RuntimeError where there is no window."""
    c, h, w = shape[-3:]
    found = [
        _positions(*each, ceil_mode) for each in zip((h, w), kernel, stride, padding, dilation, strict=True)
    ]
    if any(n < 1 for n in found):
        raise RuntimeError(
            f"Given input size: ({c}x{h}x{w}). Calculated output size: "
            f"({c}x{max(found[0], 0)}x{max(found[1], 0)}). Output size is too small"
        )
    return (*shape[:-2], *found)


def padded(
    xp: Any, x: Any, out: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any, fill: Any
) -> Any:
    """The images with padding, to the right as far as the last windows reach."""
    sides = []
    for size, n, k, s, p, d in zip(x.shape[-2:], out, kernel, stride, padding, dilation, strict=True):
        reach = (n - 1) * s + d * (k - 1) + 1
        sides.append((p, max(reach - size - p, 0)))
    return xp.pad(x, [(0, 0)] * (x.ndim - 2) + sides, constant_values=fill)


# -- maxima ----------------------------------------------------------------------------------------


def _max_infer(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Meta]:
    if input.ndim not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    check_windows(input, kernel_size, stride, padding, dilation)
    if input.dtype.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise NotImplementedError(f"\"max_pool2d\" not implemented for '{input.dtype.title}'")
    shape = out_shape(input.shape, kernel_size, stride, padding, dilation, ceil_mode)
    strides = image_strides(shape, input)
    return [Meta(shape, input.dtype, strides), Meta(shape, dtypes.int64, strides)]


def _lowest(xp: Any, dtype: Any) -> Any:
    return -xp.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _max(
    xp: Any,
    input: Any,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> tuple[Any, Any]:
    h, w = input.shape[-2:]
    how = (kernel_size, stride, padding, dilation)
    out = [_positions(*each, ceil_mode) for each in zip((h, w), *how, strict=True)]
    x = padded(xp, input, out, *how, _lowest(xp, input.dtype))
    seen = windows(xp, x, kernel_size, stride, dilation)[..., : out[0], : out[1]]
    lead = input.shape[:-2]
    at = seen.reshape(*lead, kernel_size[0] * kernel_size[1], *out).argmax(axis=-3)
    rows, columns = at // kernel_size[1], at % kernel_size[1]
    # Where all are -inf the first window cell, which may lie in the padding, wins: it is moved inside.
    y = xp.arange(out[0])[:, None] * stride[0] - padding[0] + rows * dilation[0]
    z = xp.arange(out[1])[None, :] * stride[1] - padding[1] + columns * dilation[1]
    index = xp.clip(y, 0, h - 1) * w + xp.clip(z, 0, w - 1)
    return _pick(xp, input, index), index


def _pick(xp: Any, x: Any, index: Any) -> Any:
    """The elements of each plane at flat indices into it."""
    n = numel(x.shape[:-2])
    planes = x.reshape(n, numel(x.shape[-2:]))
    found = xp.take_along_axis(planes, index.reshape(n, numel(index.shape[-2:])), axis=1)
    return found.reshape(index.shape)


max_pick: Op = op(
    "max_pool2d_pick(Tensor input, Tensor indices)",
    infer=lambda input, indices: Meta(tuple(indices.shape), input.dtype, tuple(indices.strides)),
    impl=_pick,
    vjp={"input": lambda g, input_meta, indices: max_backward(g, indices, size=list(input_meta.shape[-2:]))},
    jvp=LINEAR,
    namespace="-",
    doc="The elements of each plane [H, W] at flat `indices` into it.",
)


def _max_backward(xp: Any, grad: Any, indices: Any, size: Sequence[int]) -> Any:
    n = numel(grad.shape[:-2])
    flat = xp.zeros((n, size[0] * size[1]), grad.dtype)
    rows = xp.arange(n)[:, None]
    places = numel(grad.shape[-2:])
    xp.add.at(flat, (rows, indices.reshape(n, places)), grad.reshape(n, places))
    return flat.reshape(*grad.shape[:-2], *size)


max_backward: Op = op(
    "max_pool2d_backward(Tensor grad, Tensor indices, *, int[] size)",
    infer=lambda grad, indices, size: Meta((*grad.shape[:-2], *size), grad.dtype),
    impl=_max_backward,
    vjp={"grad": lambda g, indices: max_pick(g, indices)},
    jvp=LINEAR,
    namespace="-",
    doc="Adds a gradient into planes of `size` [H, W] at flat `indices`.",
)

max_with_indices: Op = op(
    "max_pool2d_with_indices(Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, "
    "bool ceil_mode)",
    infer=_max_infer,
    impl=_max,
    many=True,
    differentiable=(True, False),
    vjp={"input": lambda g, input_meta, out1: max_backward(g, out1, size=list(input_meta.shape[-2:]))},
    jvp=lambda input_t, out1: [max_pick(input_t, out1), None],
    node="MaxPool2DWithIndicesBackward0",
    namespace="-",
    doc="Maxima of windows and their flat indices into each plane; the first of equal ones.",
)


def _max_pool2d(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, Any]:
    kernel = two(kernel_size, "max_pool2d", "kernel_size")
    return max_with_indices(  # type: ignore[no-any-return]
        input,
        kernel,
        strides_of(stride, kernel, "max_pool2d"),
        two(padding, "max_pool2d", "padding"),
        two(dilation, "max_pool2d", "dilation"),
        ceil_mode,
    )


def _max_pool1d(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, Any]:
    if input.ndim not in (2, 3):
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(input.shape)}"
        )
    k, p, d = (one(v) for v in (kernel_size, padding, dilation))
    s = k if stride is None or stride == () or stride == [] else one(stride)
    out, index = max_with_indices(input.unsqueeze(-2), [1, k], [1, s], [0, p], [1, d], ceil_mode)
    return out.squeeze(-2), index.squeeze(-2)


def one(value: Any) -> int:
    """The number, or the only one of a sequence."""
    return value if isinstance(value, int) else int(value[0])


_MAX = "int[] kernel_size, int[]? stride=None, int[] padding=0, int[] dilation=1, bool ceil_mode=False"


def _declare(name: str, fn: Callable[..., tuple[Any, Any]]) -> tuple[Op, Op]:
    """The maxima alone, and those with their indices."""
    alone = op(
        f"{name}(Tensor input, {_MAX})",
        composite=lambda input, **how: fn(input, **how)[0],
        namespace="-",
        doc=f"Maxima of windows (torch.nn.functional.{name}).",
    )
    both = op(
        f"{name}_indexed(Tensor input, {_MAX})",
        composite=fn,
        namespace="-",
        doc=f"Maxima of windows and their flat indices (torch.nn.functional.{name}, return_indices=True).",
    )
    return alone, both


max2d, max2d_indices = _declare("max_pool2d", _max_pool2d)
max1d, max1d_indices = _declare("max_pool1d", _max_pool1d)


@public("nn.functional")
def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool2d."""
    pool = max2d_indices if return_indices else max2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


@public("nn.functional")
def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """See torch.nn.functional.max_pool1d."""
    pool = max1d_indices if return_indices else max1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)
