"""Arrays whose memory begins where every library of numbers takes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

#: bytes: a cache line, and the widest vector
ALIGNMENT = 64
#: pieces of ALIGNMENT bytes that nobody has yet, of one block at a time
_lines: list[np.ndarray[Any, Any]] = []


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """As np.empty, at a multiple of ALIGNMENT; NumPy's own begin at one of 16."""
    size = math.prod(shape) * dtype.itemsize
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -_address(room) % ALIGNMENT
    return room[start : start + size].view(dtype).reshape(shape)


def aligned(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array itself where its memory is known to be aligned, else a copy, read-only."""
    nbytes = values.nbytes
    out: np.ndarray[Any, Any]
    if nbytes <= ALIGNMENT:
        # The loss of a step: an array of its own and its address would take longer than all the rest.
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
            line: np.ndarray[Any, Any] = _lines.pop()  # atomic: no two threads get one
            return line
        except IndexError:
            block = empty([64 * ALIGNMENT], np.dtype(np.uint8))
            _lines.extend(block[i : i + ALIGNMENT] for i in range(0, block.nbytes, ALIGNMENT))


def _address(array: np.ndarray[Any, Any]) -> int:
    found: int = array.__array_interface__["data"][0]
    return found
