"""Images resized: by their nearest elements, or by weighted sums of those around (linear, cubic, Lanczos).

Each dimension is resized by itself. All are linear, and each op and its transpose are each other's gradients.
Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, dtypes, numel
from ...declare import LINEAR, kernel
from ...graph import TURN
from ...kernels import Taps, resampled, transposed
from ..shared import image_strides

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema import Op
    from ...tensor import Tensor


def _resized_meta(input: Tensor | Meta, size: Sequence[int], steps: Sequence[float], kernel: str) -> Meta:
    """The geometry of images of `size`; RuntimeError if there are none, or nothing to make them of."""
    if input.ndim not in (3, 4, 5) or not len(size) == len(steps) == input.ndim - 2:
        raise RuntimeError(
            f"{kernel}: {list(size)} and {list(steps)} are no sizes and steps of {input.ndim}D input"
        )
    if any(n <= 0 for n in size) or any(n == 0 for n in input.shape[2:]):
        names = "DHW"[-len(size) :]
        have, want = (
            ", ".join(f"{a}: {n}" for a, n in zip(names, some, strict=True))
            for some in (input.shape[2:], size)
        )
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({have}) output ({want})"
        )
    if not all(0 <= s < math.inf for s in steps):
        raise RuntimeError(f"{kernel}: {list(steps)} are no steps")
    if input.shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )
    if input.dtype is not dtypes.uint8 and not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")
    shape = (*input.shape[:2], *size)
    return Meta(shape, input.dtype, image_strides(shape, input))


def _back_meta(
    grad: Tensor, size: Sequence[int], forward: Callable[[Meta, list[int]], Meta], name: str
) -> Meta:
    """The geometry of the images of `size` that a gradient is for."""
    shape = (*grad.shape[:2], *size)
    if grad.ndim < 3 or forward(Meta(shape, grad.dtype), list(grad.shape[2:])).shape != tuple(grad.shape):
        raise RuntimeError(
            f"{name}: a gradient of shape {list(grad.shape)} is not for images of {list(size)}"
        )
    return Meta(shape, grad.dtype)


# -- nearest neighbours ----------------------------------------------------------------------------


def _nearest_taps(size: int, out: int, step: float, exact: bool) -> Taps:
    """Where each result is read, rounded in float32 as in PyTorch."""
    places = np.arange(out, dtype=np.float32) + np.float32(0.5 if exact else 0.0)
    # compared as floats: a large step would be no integer any more
    found = np.minimum(np.floor(places * np.float32(step)), np.float32(size - 1)).astype(np.int64)
    return Taps(np.minimum(found, size - 1)[:, None])


def _nearest(xp: Any, input: Any, size: Sequence[int], steps: Sequence[float], exact: bool) -> Any:
    each = zip(input.shape[2:], size, steps, strict=True)
    return resampled(xp, input, [_nearest_taps(*one, exact) for one in each])


def _nearest_transposed(xp: Any, grad: Any, size: Sequence[int], steps: Sequence[float], exact: bool) -> Any:
    each = zip(size, grad.shape[2:], steps, strict=True)
    return resampled(xp, grad, [transposed(_nearest_taps(*one, exact), one[0]) for one in each])


def _spread_cost(outs: Sequence[int], sizes: Sequence[int], taps: Sequence[int]) -> tuple[int, int]:
    """A step for each element that others are made of, and the tables: an index and a weight for each."""
    return TURN * sum(taps), 32 * sum(n * k for n, k in zip((*outs, *sizes), (*taps, *taps), strict=True))


def _nearest_cost(size: Sequence[int], out: Sequence[int]) -> tuple[int, int]:
    # as many results as an element has on average, the last perhaps all of them
    return _spread_cost(out, size, [min(n, n // max(s, 1) + 2) for s, n in zip(size, out, strict=True)])


nearest: Op = kernel(
    "upsample_nearest(Tensor input, *, int[] size, float[] steps, bool exact=False) -> Tensor",
    infer=lambda input, size, steps, exact: _resized_meta(input, size, steps, "upsample_nearest"),
    impl=_nearest,
    cost=lambda input, size, steps, exact: (0, 32 * sum(size)),
    vjp=lambda g, input_meta, steps, exact: nearest_transposed(
        g, size=list(input_meta.shape[2:]), steps=steps, exact=exact
    ),
    jvp=LINEAR,
    node=lambda attrs: f"UpsampleNearest{'Exact' if attrs['exact'] else ''}{len(attrs['size'])}DBackward0",
    namespace="-",
    outside=True,
    doc="[N, C, ...] resized to `size`: result i is read at floor(i * step), or floor((i + 0.5) * step).",
    raises=False,
    autocast={"cuda": "float32"},
)

nearest_transposed: Op = kernel(
    "upsample_nearest_backward(Tensor grad, *, int[] size, float[] steps, bool exact=False) -> Tensor",
    infer=lambda grad, size, steps, exact: _back_meta(
        grad,
        size,
        lambda of, out: _resized_meta(of, out, steps, "upsample_nearest"),
        "upsample_nearest_backward()",
    ),
    impl=_nearest_transposed,
    cost=lambda grad, size, steps, exact: _nearest_cost(size, grad.shape[2:]),
    vjp=lambda g, grad_meta, steps, exact: nearest(
        g, size=list(grad_meta.shape[2:]), steps=steps, exact=exact
    ),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The gradient of nearest-neighbour resizing, added into images of `size`.",
    raises=False,
)

# -- weighted sums ---------------------------------------------------------------------------------


def _linear(x: Any) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def _cubic(x: Any, a: float) -> Any:
    """Keys' kernel of parameter `a`."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(x: Any) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


#: kernel names: half the width, and the node of two dimensions
_FILTERS = {"linear": 1, "cubic": 2, "lanczos": 3}
_NODES = {"linear": "Bilinear", "cubic": "Bicubic", "lanczos": "Lanczos"}
_KERNELS = {"linear": "compute_indices_weights_linear", "cubic": "compute_indices_weights_cubic"}


def _filter(how: str, x: Any, antialias: bool) -> Any:
    if how == "linear":
        return _linear(x)
    return _lanczos(x) if how == "lanczos" else _cubic(x, -0.5 if antialias else -0.75)


def _plain_taps(size: int, out: int, step: float, how: str, corners: bool) -> Taps:
    """A few neighbours; beyond the border is the border."""
    center = np.arange(out) * step if corners else (np.arange(out) + 0.5) * step - 0.5
    # a step may be any number: no place is further than just outside
    center = np.clip(center, 0 if how == "linear" else -2, size + 1)
    half = _FILTERS[how]
    begin = np.floor(center) - (half - 1)
    index = begin[:, None] + np.arange(2 * half)
    weight = _filter(how, index - center[:, None], False)
    return Taps(np.clip(index, 0, size - 1).astype(np.int64), weight)


def _wide_taps(size: int, out: int, step: float, how: str) -> Taps:
    """All the elements that a result of a smaller image covers, as Pillow has it."""
    wide = max(step, 1.0)
    support = _FILTERS[how] * wide
    center = np.clip((np.arange(out) + 0.5) * step, 0, 2 * size)
    first = np.maximum(np.trunc(center - support + 0.5), 0)
    last = np.minimum(np.trunc(center + support + 0.5), size)
    count = int(np.max(last - first, initial=1))
    index = first[:, None] + np.arange(max(count, 1))
    weight = _filter(how, (index - center[:, None] + 0.5) / wide, True)
    weight = np.where(index < last[:, None], weight, 0)
    total = weight.sum(1, keepdims=True)
    weight = np.divide(weight, total, out=np.zeros_like(weight), where=total != 0)
    return Taps(np.clip(index, 0, size - 1).astype(np.int64), weight)


def _taps(
    sizes: Sequence[int],
    outs: Sequence[int],
    how: str,
    corners: bool,
    antialias: bool,
    steps: Sequence[float],
) -> list[Taps]:
    return [
        _wide_taps(*one, how) if antialias else _plain_taps(*one, how, corners)
        for one in zip(sizes, outs, steps, strict=True)
    ]


def _counts(sizes: Sequence[int], how: str, antialias: bool, steps: Sequence[float]) -> list[int]:
    """The taps of each dimension, at most."""
    half = _FILTERS[how]
    if not antialias:
        return [2 * half] * len(sizes)
    return [min(n, math.ceil(half * min(max(s, 1.0), n)) * 2 + 1) for n, s in zip(sizes, steps, strict=True)]


def _weighted_infer(
    input: Tensor | Meta,
    size: Sequence[int],
    how: str,
    corners: bool,
    antialias: bool,
    steps: Sequence[float],
) -> Meta:
    if how not in _FILTERS or (how == "lanczos" and not antialias):
        raise RuntimeError(f"upsample_weighted(): there is no filter {how!r}, antialias {antialias}")
    return _resized_meta(input, size, steps, "compute_index_ranges_weights" if antialias else _KERNELS[how])


def _weighted(
    xp: Any,
    input: Any,
    size: Sequence[int],
    how: str,
    corners: bool,
    antialias: bool,
    steps: Sequence[float],
) -> Any:
    each = _taps(input.shape[2:], size, how, corners, antialias, steps)
    if input.dtype != np.uint8:
        return resampled(xp, input, each)
    return xp.clip(xp.rint(resampled(xp, input.astype(np.float32), each)), 0, 255).astype(np.uint8)


def _weighted_transposed(
    xp: Any,
    grad: Any,
    size: Sequence[int],
    how: str,
    corners: bool,
    antialias: bool,
    steps: Sequence[float],
) -> Any:
    each = _taps(size, grad.shape[2:], how, corners, antialias, steps)
    return resampled(xp, grad, [transposed(taps, n) for taps, n in zip(each, size, strict=True)])


def _weighted_cost(
    sizes: Sequence[int], outs: Sequence[int], how: str, antialias: bool, steps: Sequence[float], item: int
) -> tuple[int, int]:
    counts = _counts(sizes, how, antialias, steps)
    # an element may have its part in this many results, or in all
    back = [
        min(n, int(min(k / max(s, 1e-9), n)) + n // max(m, 1) + 2)
        for m, n, k, s in zip(sizes, outs, counts, steps, strict=True)
    ]
    work, tables = _spread_cost(outs, sizes, [max(k, b) for k, b in zip(counts, back, strict=True)])
    return work, tables + item


_HOW = "int[] size, str how, bool corners, bool antialias, float[] steps"


def _node(attrs: dict[str, Any]) -> str:
    dims, how = len(attrs["size"]), attrs["how"]
    if dims != 2:
        return "UpsampleLinear1DBackward0" if dims == 1 else "UpsampleTrilinear3DBackward0"
    return f"Upsample{_NODES[how]}2D{'Aa' if attrs['antialias'] else ''}Backward0"


weighted: Op = kernel(
    f"upsample_weighted(Tensor input, *, {_HOW}) -> Tensor",
    infer=_weighted_infer,
    impl=_weighted,
    cost=lambda input, size, how, corners, antialias, steps: _weighted_cost(
        input.shape[2:],
        size,
        how,
        antialias,
        steps,
        8 * max(numel(input.shape), numel([*input.shape[:2], *size])),
    ),
    vjp=lambda g, input_meta, how, corners, antialias, steps: weighted_transposed(
        g,
        size=list(input_meta.shape[2:]),
        how=how,
        corners=corners,
        antialias=antialias,
        steps=steps,
    ),
    jvp=LINEAR,
    node=_node,
    namespace="-",
    outside=True,
    doc="[N, C, ...] resized to `size` by a filter, `how`: linear, cubic or lanczos. `steps` are distances "
    "of neighbouring results in elements of the input; with `corners` the first is the first element.",
    raises=False,
    autocast={"cuda": "float32"},
)

weighted_transposed: Op = kernel(
    f"upsample_weighted_backward(Tensor grad, *, {_HOW}) -> Tensor",
    infer=lambda grad, size, **how: _back_meta(
        grad, size, lambda of, out: _weighted_infer(of, out, **how), "upsample_weighted_backward()"
    ),
    impl=_weighted_transposed,
    cost=lambda grad, size, how, corners, antialias, steps: _weighted_cost(
        size,
        grad.shape[2:],
        how,
        antialias,
        steps,
        8 * max(numel(grad.shape), numel([*grad.shape[:2], *size])),
    ),
    vjp=lambda g, grad_meta, how, corners, antialias, steps: weighted(
        g,
        size=list(grad_meta.shape[2:]),
        how=how,
        corners=corners,
        antialias=antialias,
        steps=steps,
    ),
    jvp=LINEAR,
    namespace="-",
    outside=True,
    doc="The gradient of resizing by a filter, added into images of `size`.",
    raises=False,
)
