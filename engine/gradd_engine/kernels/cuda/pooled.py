"""Maxima over windows on the device, and their gradient: the same bits in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import noting, numel
from ..images_pool import out_shape
from .launch import dense, each, empty, rows
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence

_WINDOWS = np.dtype([(name, np.int64, 2) for name in ("kernel", "stride", "padding", "dilation")])


def _max(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int], ceil_mode: bool,
    ) -> Any:  # fmt: skip
        how = (kernel_size, stride, padding, dilation)
        if input.dtype.char not in REALS or not input.size:
            return plain(xp, input, *how, ceil_mode)
        shape = out_shape(input.shape, *how, ceil_mode)
        out, places = empty(xp, shape, input.dtype), empty(xp, shape, np.int64)
        windows = np.zeros(1, _WINDOWS)
        windows[0] = how
        each(
            xp, "max_pool", input.dtype.char, out.size, dense(xp, input), out, places, windows, out.size,
            *input.shape[-2:], *shape[-2:],
        )  # fmt: skip
        return out, places

    return kernel


def _backward(plain: Any) -> Any:
    def kernel(xp: Any, grad: Any, indices: Any, size: Sequence[int]) -> Any:
        if grad.dtype.char not in REALS or not grad.size or not numel(size):
            return plain(xp, grad, indices, size)
        planes, whole = numel(grad.shape[:-2]), numel(size)
        out = empty(xp, (*grad.shape[:-2], *size), grad.dtype)
        text = f"index {{}} is outside of a plane of {whole} elements"
        with noting(xp, whole, RuntimeError, text, "max_pool2d") as word:
            rows(
                xp, "max_pool_backward", grad.dtype.char, planes, whole, dense(xp, grad), dense(xp, indices),
                out, word, planes, grad.size // planes, whole,
            )  # fmt: skip
        return out

    return kernel


NATIVE = {"max_pool2d_backward": _backward, "max_pool2d_with_indices": _max}
