"""Compiled copies of transposed matrices, and batches of products that threads share by matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import FEW, floating
from .native import INT64, compiled
from .threads import LOAD, share

if TYPE_CHECKING:
    from collections.abc import Iterator

#: rows and columns of what is copied at a time, so that both sides stay in the cache
_TILE = 64
#: fewer rows or columns are left to NumPy
_LEAST = 32
#: into how many parts large work is cut
_PARTS = 16
#: elements of two matrices whose product is better shared by BLAS
_LARGE = 1 << 22


@compiled(2, INT64, INT64, 2)
def _transpose(a: Any, first: int, last: int, out: Any) -> None:
    """Columns of `a` from `first` to `last` as rows of `out`.

    A square goes through memory of its own, since rows of both arrays may be a power of two apart, and of
    such lines a cache keeps only a few: so each is read, and written, as a whole.
    """
    rows = a.shape[0]
    # a column more, for the same reason
    square = np.empty((64, 65), a.dtype)
    for left in range(first, last, 64):
        right = min(left + 64, last)
        for top in range(0, rows, 64):
            bottom = min(top + 64, rows)
            if right - left == 64 and bottom - top == 64:
                for i in range(64):
                    line = a[top + i, left:right]
                    for j in range(64):
                        square[i, j] = line[j]
                for j in range(64):
                    line = out[left + j, top:bottom]
                    for i in range(64):
                        line[i] = square[i, j]
                continue
            for j in range(left, right):
                line = out[j, top:bottom]
                for i in range(line.size):
                    line[i] = a[top + i, j]


def _copy(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, memory_format: str) -> Any:
        if a.ndim != 2 or a.size < FEW or not floating(a) or min(a.shape) < _LEAST or not a.T.flags.carray:
            return plain(xp, a, memory_format=memory_format)
        rows = a.shape[0]
        out, given = np.empty(a.shape, a.dtype), a.T
        if a.size < 2 * LOAD:
            _transpose(given, 0, rows, out)
            return out
        step = -(-rows // (_PARTS * _TILE)) * _TILE

        def work(numbers: Iterator[int]) -> None:
            for number in numbers:
                _transpose(given, number * step, min((number + 1) * step, rows), out)

        share(np, -(-rows // step), a.size, work)
        return out

    return kernel


def _products(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, b: Any) -> Any:
        many = len(a)
        load = a.size + b.size
        # BLAS would wake its threads for every matrix
        if not floating(a) or a.dtype is not b.dtype or many < 2 or load < 2 * LOAD or load > many * _LARGE:
            return plain(xp, a, b)
        out = np.empty((many, a.shape[1], b.shape[2]), a.dtype)
        step = -(-many // _PARTS)

        def work(numbers: Iterator[int]) -> None:
            for number in numbers:
                some = slice(number * step, (number + 1) * step)
                np.matmul(a[some], b[some], out=out[some])

        share(np, -(-many // step), load, work)
        return out

    return kernel


KERNELS = {"bmm": _products, "contiguous_copy": _copy}
