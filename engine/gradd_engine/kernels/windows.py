"""Shared by kernels on images: windows as views, and reusable memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import numel

if TYPE_CHECKING:
    from collections.abc import Sequence


class Buffers:
    """A thread's scratch memory: arrays taken under the same name share memory and overwrite each other."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._flat: dict[str, Any] = {}

    def take(self, name: str, shape: Sequence[int], dtype: Any) -> Any:
        """An array of this shape, uninitialised."""
        size = numel(shape)
        flat = self._flat.get(name)
        if flat is None or flat.size < size or flat.dtype != dtype:
            flat = self._flat[name] = self._xp.empty(size, dtype)
        return flat[:size].reshape(shape)

    def filled(self, name: str, shape: Sequence[int], dtype: Any, value: Any = 0) -> Any:
        """An array of this shape, filled with `value`."""
        found = self.take(name, shape, dtype)
        found.fill(value)
        return found


def windows(
    xp: Any, x: Any, first: int, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Any:
    """A view with the spatial dimensions, from dimension `first`, turned into (*kernel, *positions): each
    window at each position.
    """
    end = first + len(kernel)
    space, inner = x.shape[first:end], x.strides[first:end]
    places = [
        (s - d * (k - 1) - 1) // t + 1 for s, k, t, d in zip(space, kernel, stride, dilation, strict=True)
    ]
    strides = (
        *x.strides[:first],
        *(s * d for s, d in zip(inner, dilation, strict=True)),
        *(s * t for s, t in zip(inner, stride, strict=True)),
        *x.strides[end:],
    )
    shape = (*x.shape[:first], *kernel, *places, *x.shape[end:])
    return xp.lib.stride_tricks.as_strided(x, shape, strides)


def cell(at: int, dilation: int, stride: int, places: int) -> slice:
    """The slice of a dimension under the `at`-th cell of a window, over all positions."""
    begin = at * dilation
    return slice(begin, begin + (places - 1) * stride + 1, stride)
