"""Padding and nearest-neighbour resizing of images.

Source: https://pytorch.org/docs/stable/nn.functional.html#vision-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, preserved_strides
from ...declare import LINEAR, kernel, public
from ..shared import fits, image_strides, stored

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


@public("nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """See torch.nn.functional.pad; only mode "constant"."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.ndim}"
        )
    if mode in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"padding mode {mode} is not there yet")
    if mode != "constant":
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return constant_pad(input, list(pad), 0 if value is None else value)


# -- nearest neighbours ----------------------------------------------------------------------------


def _nearest_infer(input: Tensor, size: Sequence[int], steps: Sequence[float]) -> Meta:
    if any(n <= 0 for n in size) or any(n == 0 for n in input.shape[2:]):
        names = "DHW"[-len(size) :]
        have, want = (
            ", ".join(f"{a}: {n}" for a, n in zip(names, some, strict=True))
            for some in (input.shape[2:], size)
        )
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({have}) output ({want})"
        )
    if input.shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )
    if input.dtype.title != "Byte" and not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"upsample_nearest\" not implemented for '{input.dtype.title}'")
    shape = (*input.shape[:2], *size)
    return Meta(shape, input.dtype, image_strides(shape, input))


def _sources(size: int, out: int, step: float) -> Any:
    """The source index of each result, rounded in float32 as in PyTorch."""
    return np.minimum(np.floor(np.arange(out, dtype=np.float32) * np.float32(step)), size - 1).astype(
        np.int64
    )


def _mesh(xp: Any, sizes: Sequence[int], outs: Sequence[int], steps: Sequence[float]) -> tuple[Any, ...]:
    found = [_sources(*each) for each in zip(sizes, outs, steps, strict=True)]
    return tuple(xp.asarray(a) for a in np.ix_(*found))


def _nearest(xp: Any, input: Any, size: Sequence[int], steps: Sequence[float]) -> Any:
    return input[(slice(None), slice(None), *_mesh(xp, input.shape[2:], size, steps))]


def _nearest_transposed(xp: Any, grad: Any, size: Sequence[int], steps: Sequence[float]) -> Any:
    found = xp.zeros((*grad.shape[:2], *size), grad.dtype)
    xp.add.at(found, (slice(None), slice(None), *_mesh(xp, size, grad.shape[2:], steps)), grad)
    return found


nearest: Op = kernel(
    "upsample_nearest(Tensor input, *, int[] size, float[] steps) -> Tensor",
    infer=_nearest_infer,
    impl=_nearest,
    vjp=lambda g, input_meta, steps: nearest_transposed(g, size=list(input_meta.shape[2:]), steps=steps),
    jvp=LINEAR,
    node=lambda attrs: f"UpsampleNearest{len(attrs['size'])}DBackward0",
    namespace="-",
    outside=True,
    doc="[N, C, ...] resized to `size`: result i is read at floor(i * step).",
    raises=False,
)

nearest_transposed: Op = kernel(
    "upsample_nearest_backward(Tensor grad, *, int[] size, float[] steps) -> Tensor",
    infer=lambda grad, size, steps: Meta((*grad.shape[:2], *size), grad.dtype),
    impl=_nearest_transposed,
    vjp=lambda g, grad_meta, steps: nearest(g, size=list(grad_meta.shape[2:]), steps=steps),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The gradient of nearest-neighbour resizing, added into images of `size`.",
    raises=False,
)

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


@public("nn.functional")
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """See torch.nn.functional.interpolate; only mode "nearest"."""
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    space = list(input.shape[2:])
    wanted, steps = _resized(space, size, scale_factor, bool(recompute_scale_factor))
    if mode == "nearest" and input.ndim in (3, 4, 5):
        return nearest(input, size=wanted, steps=steps)
    if mode in _MODES.split(" | ") and mode != "nearest":
        raise NotImplementedError(f"interpolate: mode {mode} is not there yet")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: "
        f"{_MODES} (got {mode})"
    )


def _resized(space: list[int], size: Any, scale: Any, recompute: bool) -> tuple[list[int], list[float]]:
    """The new size, and the step in the source between neighbouring results."""
    if size is not None and scale is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale is None:
        raise ValueError("either size or scale_factor should be defined")
    many, given = ("output size", size) if scale is None else ("scale_factor", scale)
    if isinstance(given, (list, tuple)) and len(given) != len(space):
        raise ValueError(
            "Input and "
            + ("output" if scale is None else "scale_factor")
            + " must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{space} and {many} of {'' if scale is None else 'shape '}{given}. Please provide input tensor "
            "in (N, C, d1, d2, ...,dK) format and "
            + ("output size in (o1, o2, ...,oK)" if scale is None else "scale_factor in (s1, s2, ...,sK)")
            + " format."
        )
    each = list(given) if isinstance(given, (list, tuple)) else [given] * len(space)
    if scale is None:
        wanted = [int(n) for n in each]
        return wanted, [s / n if n else 0.0 for s, n in zip(space, wanted, strict=True)]
    wanted = [int(s * f) for s, f in zip(space, each, strict=True)]
    if recompute:
        return wanted, [s / n if n else 0.0 for s, n in zip(space, wanted, strict=True)]
    return wanted, [1.0 / f for f in each]
