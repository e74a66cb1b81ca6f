"""Arrays whose memory begins where every library of numbers takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

#: bytes: a cache line, and the widest vector
ALIGNMENT = 64


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """As np.empty, at a multiple of ALIGNMENT; NumPy's own begin at one of 16."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -_address(room) % ALIGNMENT
    return room[start : start + size].view(dtype).reshape(shape)


def aligned(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself where its memory is aligned, else a copy."""
    if _address(values) % ALIGNMENT == 0:
        return values
    out = empty(values.shape, values.dtype)
    out[...] = values
    return out


def _address(array: np.ndarray[Any, Any]) -> int:
    found: int = array.__array_interface__["data"][0]
    return found
