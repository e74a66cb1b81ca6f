"""Launches of device kernels on the current stream."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .sources import KERNELS, source_of, together

if TYPE_CHECKING:
    from collections.abc import Sequence

#: how NVRTC compiles them
OPTIONS = ("-std=c++17",)
#: blocks of a launch whose threads take strides
MOST_BLOCKS = 4096
#: threads of a block for what is computed element by element
THREADS = 128
WARP = 32
#: elements for which a block gets as many threads as it can have
LONG = 1 << 15


@cache
def _module(xp: Any, source: str, types: str) -> Any:
    return xp.RawModule(
        code=source_of(source), options=OPTIONS, name_expressions=together(source, types), backend="nvrtc"
    )


@cache
def _function(xp: Any, name: str, types: str) -> Any:
    kernel = KERNELS[name]
    return _module(xp, kernel.source, types).get_function(kernel.expression(types))


def launch(xp: Any, name: str, types: str, grid: Sequence[int], threads: int, *given: Any) -> None:
    """Start a kernel made for `types`: arrays are dense and row-major, None is no array, and numbers are
    Python's.
    """
    _function(xp, name, types)((*grid, 1, 1)[:3], (threads, 1, 1), given)


def each(xp: Any, name: str, types: str, count: int, *given: Any) -> None:
    """Start a kernel whose threads stride over `count` elements."""
    if count:
        blocks = min(MOST_BLOCKS, -(-count // THREADS))
        launch(xp, name, types, (blocks,), THREADS if count > WARP else WARP, *given)


def flat(xp: Any, name: str, types: str, count: int, *given: Any) -> None:
    """Start a kernel that has a thread for each of `count` elements."""
    if count:
        launch(xp, name, types, (-(-count // THREADS),), THREADS, *given)


def rows(xp: Any, name: str, types: str, count: int, length: int, *given: Any) -> None:
    """Start a kernel whose blocks stride over `count` rows of `length` elements."""
    if count:
        launch(xp, name, types, (min(count, 1 << 16),), row_threads(length), *given)


def row_threads(length: int) -> int:
    """Threads of a block that has a row: whole warps, each thread with a few elements of a long row."""
    return min(256, max(WARP, -(-length // (4 * WARP)) * WARP))


def sum_threads(length: int) -> int:
    """The same for a block that has a channel of a whole batch: there may be fewer blocks than the device has
    processors.
    """
    return 1024 if length >= LONG else row_threads(length)


def kind(a: Any) -> str:
    """The character of an array's dtype in `TYPES`."""
    return "E" if a.dtype.name == "bfloat16" else _SAME.get(a.dtype.char, a.dtype.char)


#: characters of the same size
_SAME = {"l": "q", "?": "B"}


def dense(xp: Any, a: Any) -> Any:
    """`a`, or a row-major copy; None stays None."""
    return a if a is None or a.flags.c_contiguous else xp.ascontiguousarray(a)


def empty(xp: Any, shape: Any, dtype: Any) -> Any:
    """A row-major array; contents undefined."""
    return xp.empty(shape, np.dtype(dtype))


_SIGN = 1 << 63


def signed(number: int) -> int:
    """64 bits as the signed number that has them: a random key's, for a kernel."""
    return (number & ((1 << 64) - 1) ^ _SIGN) - _SIGN


class DeviceKeys:
    """Random keys of int64 (n, 2) in a device's memory, `many` of them from `at` on: a captured graph finds
    others there each time.
    """

    def __init__(self, keys: Any, at: int, many: int = 1) -> None:
        self.keys, self.at, self.many = keys, at, many

    @property
    def array(self) -> Any:
        """Their numbers."""
        return self.keys[self.at : self.at + self.many]


def key_arguments(key: Any) -> tuple[Any, int, int]:
    """What a kernel that draws gets of a random key: the memory it is in, or None and its two numbers."""
    if isinstance(key, DeviceKeys):
        return key.array, 0, 0
    seed, step = key
    return None, signed(seed), signed(step)
