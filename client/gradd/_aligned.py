"""Arrays aligned for every numeric library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

#: bytes: a cache line, and the widest vector
ALIGNMENT = 64
#: unused pieces of ALIGNMENT bytes of the current block
_lines: list[np.ndarray[Any, Any]] = []


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Like np.empty, but aligned to ALIGNMENT; NumPy aligns to 16."""
    size = math.prod(shape) * dtype.itemsize
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -_address(room) % ALIGNMENT
    return room[start : start + size].view(dtype).reshape(shape)


def aligned(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself if its memory is aligned, else an aligned read-only copy."""
    nbytes = values.nbytes
    out: np.ndarray[Any, Any]
    if nbytes <= ALIGNMENT:
        # Fast path for scalars such as a loss.
        out = np.ndarray(values.shape, values.dtype, _line())
    elif _address(values) % ALIGNMENT == 0:
        return values
    else:
        out = empty(values.shape, values.dtype)
    out[...] = values
    out.flags.writeable = False
    return out


def _line() -> np.ndarray[Any, Any]:
    while True:
        try:
            line: np.ndarray[Any, Any] = _lines.pop()  # atomic
            return line
        except IndexError:
            block = empty([64 * ALIGNMENT], np.dtype(np.uint8))
            _lines.extend(block[i : i + ALIGNMENT] for i in range(0, block.nbytes, ALIGNMENT))


def _address(array: np.ndarray[Any, Any]) -> int:
    found: int = array.__array_interface__["data"][0]
    return found
