"""Padding: with a constant, or with elements of the input (reflect, replicate, circular).

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, dtypes, numel, preserved_strides
from ...declare import LINEAR, kernel, public
from ...graph import TURN
from ...kernels import Taps, resampled, transposed
from ..shared import constant_in, fits, image_strides, stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op
    from ...tensor import Tensor

# -- constant padding ------------------------------------------------------------------------------


def _sides(pad: Sequence[int], ndim: int) -> list[tuple[int, int]]:
    """(before, after) for each dimension; `pad` starts with the last."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


def _pad_infer(input: Tensor, pad: Sequence[int], value: Any) -> Meta:
    fits(value, input.dtype)
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {input.ndim} dimensions."
        )
    shape = []
    for i, (size, (a, b)) in enumerate(zip(input.shape, _sides(pad, input.ndim), strict=True)):
        if size + min(a, 0) + min(b, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
        if size + a + b < 0:
            raise RuntimeError(
                f"The input size {size}, plus negative padding {a} and {b} resulted in a negative output "
                f"size, which is invalid. Check dimension {i} of your input."
            )
        shape.append(size + a + b)
    found = tuple(shape)
    if all(p <= 0 for p in pad):
        return Meta(found, input.dtype, preserved_strides(Meta(found, input.dtype, input.strides)))
    return Meta(found, input.dtype, image_strides(found, input))


def _pad(xp: Any, input: Any, pad: Sequence[int], value: Any) -> Any:
    sides = _sides(pad, input.ndim)
    kept = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(input.shape, sides, strict=True))
    grown = [(max(a, 0), max(b, 0)) for a, b in sides]
    return xp.pad(input[kept], grown, constant_values=stored(value, input.dtype))


constant_pad: Op = kernel(
    "constant_pad_nd(Tensor input, int[] pad, value Number value=0) -> Tensor",
    infer=_pad_infer,
    impl=_pad,
    vjp=lambda g, pad: constant_pad(g, [-p for p in pad]),
    jvp=lambda input_t, pad: constant_pad(input_t, pad),
    namespace="-",
    outside=True,
    doc="Dimensions, starting with the last, padded with `value`; negative numbers crop.",
    raises=False,
)


# -- padding with elements -------------------------------------------------------------------------

_NODES = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}


def _extended_size(size: int, before: int, after: int, mode: str, d: int, shape: Sequence[int]) -> int:
    """The size of dimension `d` of `shape` padded; RuntimeError in PyTorch's words if it cannot be."""
    if mode == "circular" and max(before, after) > size:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if mode == "reflect" and max(before, after) >= size:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
            f"padding ({before}, {after}) at dimension {d} of input {list(shape)}"
        )
    found = size + before + after
    if mode == "circular" and max(before, after, 0) > size + min(before, 0) + min(after, 0):
        raise RuntimeError("Negative padding value is resulting in an empty dimension")
    if found < 0:
        raise RuntimeError(
            f"input ({'x'.join(map(str, shape))}) is too small. Calculated size of dimension {d}: {found}"
        )
    return found


def _extend_infer(input: Tensor | Meta, pad: Sequence[int], mode: str) -> Meta:
    dims = len(pad) // 2
    if (
        mode not in (*_NODES, "circular")
        or len(pad) % 2
        or dims not in (1, 2, 3)
        or input.ndim - dims not in (1, 2)
    ):
        raise RuntimeError(f"pad_from_input(): {list(pad)} is no padding of {input.ndim}D input by {mode!r}")
    shape = tuple(input.shape)
    if mode != "circular":
        # all but the batch, which is before the channels
        if 0 in shape[input.ndim - dims - 1 :]:
            raise RuntimeError(
                f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and "
                f"other non-zero dimensions for input, but got: {list(shape)}"
            )
        if input.dtype is dtypes.bool_:
            raise NotImplementedError(
                f"\"{_NODES[mode][:-3].lower()}_pad{dims}d\" not implemented for 'Bool'"
            )
    sides = _sides(pad, input.ndim)
    last_first = [(d, shape[d], sides[d]) for d in reversed(range(input.ndim - dims, input.ndim))]
    sizes = [_extended_size(n, a, b, mode, d, shape) for d, n, (a, b) in last_first]
    found = (*shape[: input.ndim - dims], *reversed(sizes))
    strides = None if mode == "circular" else image_strides(found, input)
    return Meta(found, input.dtype, strides)


def _mirrored_infer(input: Tensor, pad: Sequence[int], mode: str) -> Meta:
    if mode not in _NODES:
        raise RuntimeError(f"pad_from_input(): there is no mode {mode!r}")
    return _extend_infer(input, pad, mode)


def _sources(size: int, before: int, after: int, mode: str) -> Taps:
    """Where each element of a padded dimension is from."""
    places = np.arange(-before, size + after)
    if mode == "replicate":
        places = np.clip(places, 0, max(size - 1, 0))
    elif mode == "reflect":
        places = np.abs(places)
        places = np.where(places >= size, 2 * (size - 1) - places, places)
    else:
        # what is cropped is cropped before the rest is wrapped around
        first, last = max(-before, 0), size - max(-after, 0)
        places = (places - first) % max(last - first, 1) + first
    return Taps(places[:, None])


def _taps(sizes: Sequence[int], pad: Sequence[int], mode: str) -> list[Taps]:
    dims = len(pad) // 2
    return [
        _sources(n, a, b, mode)
        for n, (a, b) in zip(sizes[len(sizes) - dims :], _sides(pad, dims), strict=True)
    ]


def _extended(xp: Any, input: Any, pad: Sequence[int], mode: str) -> Any:
    return resampled(xp, input, _taps(input.shape, pad, mode))


def _extended_cost(input: Tensor, pad: Sequence[int]) -> tuple[int, int]:
    """Where each element is from, however few there are: an empty batch has sizes, too."""
    dims = len(pad) // 2
    return 0, 32 * sum(n + a + b for n, (a, b) in zip(input.shape[-dims:], _sides(pad, dims), strict=True))


def _folded_infer(grad: Tensor, size: Sequence[int], pad: Sequence[int], mode: str) -> Meta:
    shape = (*grad.shape[: max(grad.ndim - len(size), 0)], *size)
    if len(size) != len(pad) // 2 or _extend_infer(Meta(shape, grad.dtype), pad, mode).shape != grad.shape:
        raise RuntimeError(
            f"pad_from_input_backward(): a gradient of shape {list(grad.shape)} is not that of {list(shape)} "
            f"padded by {list(pad)}"
        )
    return Meta(shape, grad.dtype)


def _folded(xp: Any, grad: Any, size: Sequence[int], pad: Sequence[int], mode: str) -> Any:
    back = [transposed(taps, n) for taps, n in zip(_taps(size, pad, mode), size, strict=True)]
    return resampled(xp, grad, back)


def _folded_cost(grad: Tensor, size: Sequence[int], pad: Sequence[int], mode: str) -> tuple[int, int]:
    """A step for each element that may end up in one place, and tables of these."""
    most = sum(abs(p) + 1 for p in pad)
    return TURN * most, 32 * numel(grad.shape[-1:]) * 3 + 24 * most * max(size, default=1)


extend: Op = kernel(
    "pad_from_input(Tensor input, *, int[] pad, str mode) -> Tensor",
    infer=_mirrored_infer,
    impl=_extended,
    cost=lambda input, pad, mode: _extended_cost(input, pad),
    # PyTorch saves the input, whose part in a second derivative is 0
    vjp=lambda g, input, pad, mode: constant_in(
        folded(g, size=list(input.shape[input.ndim - len(pad) // 2 :]), pad=pad, mode=mode), input
    ),
    jvp=LINEAR,
    node=lambda attrs: f"{_NODES[attrs['mode']]}{len(attrs['pad']) // 2}DBackward0",
    namespace="-",
    outside=True,
    doc='The last dimensions padded with elements of the input: mode "reflect" or "replicate".',
    raises=False,
    autocast={"cpu": "float32"},
)

wrapped: Op = kernel(
    "pad_circular(Tensor input, *, int[] pad) -> Tensor",
    infer=lambda input, pad: _extend_infer(input, pad, "circular"),
    impl=lambda xp, input, pad: _extended(xp, input, pad, "circular"),
    cost=_extended_cost,
    vjp=lambda g, input_meta, pad: folded(
        g, size=list(input_meta.shape[input_meta.ndim - len(pad) // 2 :]), pad=pad, mode="circular"
    ),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The last dimensions continued from their other ends.",
    raises=False,
)

folded: Op = kernel(
    "pad_from_input_backward(Tensor grad, *, int[] size, int[] pad, str mode) -> Tensor",
    infer=_folded_infer,
    impl=_folded,
    cost=_folded_cost,
    vjp=lambda g, pad, mode: wrapped(g, pad=pad) if mode == "circular" else extend(g, pad=pad, mode=mode),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The gradient of what was padded with its own elements, added into a tensor of `size`.",
    raises=False,
)


@public("nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """The last dimensions padded with a value, or with elements of the input."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad(input, list(pad), 0 if value is None else value)
    if mode not in (*_NODES, "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if (len(pad), input.ndim) not in ((2, 2), (2, 3), (4, 3), (4, 4), (6, 4), (6, 5)):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    return wrapped(input, pad=list(pad)) if mode == "circular" else extend(input, pad=list(pad), mode=mode)
