"""Compiled sort and topk along a dimension.

A float32 is sorted as an integer: its order, with nan as the largest, and below it its place, so that ties
stay in order and NumPy's sort of integers, which has vectors, does the work. A short topk keeps its best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import FEW, floating, ready
from .native import BOOL, INDICES, INT64, SINGLES, compiled, inlined
from .threads import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: up to so many a topk keeps its best
_SHORT = 32
#: elements that a thread takes at a time
_SHARE = 1 << 15


@compiled(SINGLES, INT64, BOOL, INDICES)
def _pack(a: Any, row: int, descending: bool, out: Any) -> None:
    """Integers in the order of the elements of each row, their places in the lower half."""
    zero = np.float32(0)
    for begin in range(0, a.size, row):
        for j in range(row):
            # the sum makes -0.0 what it is equal to
            x = a[begin + j] + zero
            bits = np.float32(x).view(np.int32)
            key = np.int32(bits ^ np.int32(np.int32(bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))
            key = np.int32(0x7FFFFFFF) if x != x else key
            key = np.int32(~key) if descending else key
            out[begin + j] = (np.int64(key) << 32) | j


@compiled(SINGLES, INDICES, INT64, INT64, SINGLES, INDICES)
def _unpack(a: Any, packed: Any, row: int, count: int, values: Any, places: Any) -> None:
    """The first `count` of each sorted row: elements and their places."""
    at = 0
    for begin in range(0, a.size, row):
        for j in range(count):
            place = packed[begin + j] & 0xFFFFFFFF
            places[at] = place
            values[at] = a[begin + place]
            at += 1


@inlined
def _before(x: Any, y: Any, largest: bool) -> bool:
    if largest:
        return bool(x > y or (x != x and y == y))
    return bool(x < y or (y != y and x == x))


@compiled(2, BOOL, 2, INDICES)
def _best(a: Any, largest: bool, values: Any, places: Any) -> None:
    """The best of each row in order, the first of ties before the others; nan is the largest."""
    rows, n = a.shape
    count = values.shape[1]
    for i in range(rows):
        row, best, at = a[i], values[i], places[i * count : (i + 1) * count]
        for j in range(n):
            x = row[j]
            if j >= count:
                last = best[count - 1]
                if not _before(x, last, largest):
                    continue
            k = min(j, count - 1)
            while k > 0:
                y = best[k - 1]
                if not _before(x, y, largest):
                    break
                best[k], at[k] = y, at[k - 1]
                k -= 1
            best[k], at[k] = x, j


def _sort_rows(a: Any, descending: bool, values: Any, places: Any) -> None:
    """Each row sorted, as many of it as there is room for."""
    row, count = a.shape[1], values.shape[1]
    given = a.reshape(-1)
    packed = np.empty(given.size, np.int64)
    _pack(given, row, descending, packed)
    by_row = packed.reshape(-1, row)
    if count < row:
        by_row.partition(count - 1, axis=1)
        by_row[:, :count].sort(axis=1)
    else:
        by_row.sort(axis=1)
    _unpack(given, packed, row, count, values.reshape(-1), places)


def _by_rows(fn: Callable[[Any, bool, Any, Any], None], a: Any, flag: bool, count: int) -> tuple[Any, Any]:
    """What ``fn`` finds in rows [rows, n], `count` elements of each, and their places; by threads."""
    rows, n = a.shape
    values, places = np.empty((rows, count), a.dtype), np.empty((rows, count), np.int64)
    step = max(1, _SHARE // n)

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            some = slice(number * step, (number + 1) * step)
            fn(a[some], flag, values[some], places[some].reshape(-1))

    share(np, -(-rows // step), a.size, work)
    return values, places


def _along(a: Any, dim: int, fn: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, Any]:
    """Call ``fn`` on rows along `dim`, and give its results the dimension back."""
    moved = ready(a.swapaxes(dim, -1))
    found = fn(moved.reshape(-1, moved.shape[-1]))
    values, places = (x.reshape(*moved.shape[:-1], -1).swapaxes(dim, -1) for x in found)
    return values, places


def _sort(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, dim: int, descending: bool, stable: Any) -> Any:
        if a.dtype.char != "f" or not a.ndim or a.size < FEW or a.shape[dim] >= 1 << 31:
            return plain(xp, a, dim, descending, stable)
        return _along(a, dim, lambda rows: _by_rows(_sort_rows, rows, descending, rows.shape[1]))

    return kernel


def _topk(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, k: int, dim: int, largest: bool, sorted: bool) -> Any:
        if not floating(a) or not a.ndim or a.size < FEW or not k or a.shape[dim] >= 1 << 31:
            return plain(xp, a, k, dim, largest, sorted)
        if k <= _SHORT:
            return _along(a, dim, lambda rows: _by_rows(_best, rows, largest, k))
        if a.dtype.char != "f":
            return plain(xp, a, k, dim, largest, sorted)
        return _along(a, dim, lambda rows: _by_rows(_sort_rows, rows, largest, k))

    return kernel


KERNELS = {"sort": _sort, "topk": _topk}
