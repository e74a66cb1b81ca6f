"""Means over windows on the device, of a given size or to a given number of them, and their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import numel
from ..images_pool import out_shape
from .launch import dense, empty, flat
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: elements of a plane that 32 bits number
MOST = 1 << 31
_ALONG = np.dtype([(name, np.int64) for name in ("size", "places", "kernel", "stride", "padding")])
_MEANS = np.dtype([("axes", _ALONG, 3), ("divisor", np.int64), ("padded", np.int64)])


def _takes(
    given: Any, size: Sequence[int], places: Sequence[int], windows: Sequence[Sequence[int]] = ()
) -> bool:
    return (
        given.dtype.char in REALS
        and given.size > 0
        and all(0 < numel(planes) < MOST for planes in (size, places))
        # also what comes of adding
        and max((max(size) + 2 * max(each) for each in windows), default=0) < MOST // 2
    )


def _means(
    size: Sequence[int], places: Sequence[int], windows: Sequence[Sequence[int]], divisor: int = 0,
    padded: bool = False,
) -> Any:  # fmt: skip
    """What a kernel is told: axes that are missing have one cell and one window."""
    made = np.zeros(1, _MEANS)
    axes = list(zip(size, places, *windows, strict=True))
    made[0] = ([(1, 1, 1, 1, 0)] * (3 - len(axes)) + axes, divisor, padded)
    return made


def _started(xp: Any, name: str, given: Any, planes: Sequence[int], means: Any) -> Any:
    lead = given.shape[: given.ndim - len(planes)]
    out = empty(xp, (*lead, *planes), given.dtype)
    flat(xp, name, given.dtype.char, out.size, dense(xp, given), out, means, numel(lead))
    return out


def _average(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        ceil_mode: bool, count_include_pad: bool, divisor_override: int | None,
    ) -> Any:  # fmt: skip
        windows, dims = (kernel_size, stride, padding), len(kernel_size)
        size = input.shape[-dims:]
        places = out_shape(input.shape, *windows, (1,) * dims, ceil_mode)[-dims:]
        if not _takes(input, size, places, windows):
            return plain(xp, input, *windows, ceil_mode, count_include_pad, divisor_override)
        means = _means(size, places, windows, divisor_override or 0, count_include_pad)
        return _started(xp, "average", input, places, means)

    return kernel


def _average_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, size: Sequence[int], kernel_size: Sequence[int], stride: Sequence[int],
        padding: Sequence[int], ceil_mode: bool, count_include_pad: bool, divisor_override: int | None,
    ) -> Any:  # fmt: skip
        windows, places = (kernel_size, stride, padding), grad.shape[-len(size) :]
        if not _takes(grad, size, places, windows):
            return plain(xp, grad, size, *windows, ceil_mode, count_include_pad, divisor_override)
        means = _means(size, places, windows, divisor_override or 0, count_include_pad)
        return _started(xp, "average_backward", grad, size, means)

    return kernel


def _parts(dims: int) -> Sequence[Sequence[int]]:
    """Windows without a size of their own."""
    return [(0,) * dims] * 3


def _adaptive(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, output_size: Sequence[int]) -> Any:
        dims = len(output_size)
        size = input.shape[-dims:]
        if not _takes(input, size, output_size):
            return plain(xp, input, output_size)
        return _started(xp, "average", input, output_size, _means(size, output_size, _parts(dims)))

    return kernel


def _adaptive_backward(plain: Any) -> Any:
    def kernel(xp: Any, grad: Any, size: Sequence[int]) -> Any:
        dims = len(size)
        places = grad.shape[-dims:]
        if not _takes(grad, size, places):
            return plain(xp, grad, size)
        return _started(xp, "average_backward", grad, size, _means(size, places, _parts(dims)))

    return kernel


NATIVE = {
    "adaptive_avg_pool2d_backward": _adaptive_backward,
    "adaptive_avg_pool2d_windows": _adaptive,
    "adaptive_avg_pool3d_backward": _adaptive_backward,
    "adaptive_avg_pool3d_windows": _adaptive,
    "avg_pool2d_backward": _average_backward,
    "avg_pool2d_windows": _average,
    "avg_pool3d_backward": _average_backward,
    "avg_pool3d_windows": _average,
}
