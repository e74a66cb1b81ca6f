"""Elements moved between channels and space, and channels between groups.

Source: https://pytorch.org/docs/stable/nn.functional.html#vision-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta
from ...declare import LINEAR, kernel
from ..shared import image_strides

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


def _check(name: str, input: Tensor, factor: int, what: str) -> None:
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} "
            "dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


def _shuffled(input: Tensor, upscale_factor: int) -> Meta:
    r = upscale_factor
    _check("pixel_shuffle", input, r, "upscale_factor")
    c, h, w = input.shape[-3:]
    if c % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={c} is not divisible by {r * r}"
        )
    shape = (*input.shape[:-3], c // (r * r), h * r, w * r)
    return Meta(shape, input.dtype, image_strides(shape, input))


def _unshuffled(input: Tensor, downscale_factor: int) -> Meta:
    r = downscale_factor
    _check("pixel_unshuffle", input, r, "downscale_factor")
    c, h, w = input.shape[-3:]
    for name, d, n in (("height", -2, h), ("width", -1, w)):
        if n % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({d})={n}"
                f" is not divisible by {r}"
            )
    shape = (*input.shape[:-3], c * r * r, h // r, w // r)
    return Meta(shape, input.dtype, image_strides(shape, input))


def _shuffle(xp: Any, x: Any, upscale_factor: int) -> Any:
    r, (c, h, w), n = upscale_factor, x.shape[-3:], x.ndim - 3
    cells = x.reshape(*x.shape[:-3], c // (r * r), r, r, h, w)
    apart = cells.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return apart.reshape(*x.shape[:-3], c // (r * r), h * r, w * r)


def _unshuffle(xp: Any, x: Any, downscale_factor: int) -> Any:
    r, (c, h, w), n = downscale_factor, x.shape[-3:], x.ndim - 3
    cells = x.reshape(*x.shape[:-3], c, h // r, r, w // r, r)
    together = cells.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return together.reshape(*x.shape[:-3], c * r * r, h // r, w // r)


pixel_shuffle: Op = kernel(
    "pixel_shuffle(Tensor input, int upscale_factor) -> Tensor",
    infer=_shuffled,
    impl=_shuffle,
    vjp=lambda g, upscale_factor: pixel_unshuffle(g, upscale_factor),
    jvp=LINEAR,
    namespace="|nn.functional",
    doc="[*, C r², H, W] to [*, C, H r, W r]: channels become the elements of cells "
    "(torch.nn.functional.pixel_shuffle).",
    raises=False,
)

pixel_unshuffle: Op = kernel(
    "pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor",
    infer=_unshuffled,
    impl=_unshuffle,
    vjp=lambda g, downscale_factor: pixel_shuffle(g, downscale_factor),
    jvp=LINEAR,
    namespace="|nn.functional",
    doc="[*, C, H r, W r] to [*, C r², H, W]: the elements of cells become channels "
    "(torch.nn.functional.pixel_unshuffle).",
    raises=False,
)


def _dealt(input: Tensor, groups: int) -> Meta:
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if input.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and {groups} "
            "groups."
        )
    return Meta(tuple(input.shape), input.dtype, image_strides(input.shape, input))


def _deal(xp: Any, x: Any, groups: int) -> Any:
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


channel_shuffle: Op = kernel(
    "channel_shuffle(Tensor input, int groups) -> Tensor",
    infer=_dealt,
    impl=_deal,
    vjp=lambda g, input_meta, groups: channel_shuffle(g, max(input_meta.shape[1] // groups, 1)),
    jvp=LINEAR,
    namespace="|nn.functional",
    doc="[N, C, *] with the channels of `groups` taken in turn (torch.nn.functional.channel_shuffle).",
    raises=False,
)
