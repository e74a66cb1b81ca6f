"""Sums and means over leading or last dimensions, over all, or over all but the second; norms; running sums.

Long sums are added in blocks, and the blocks in float64: closer than NumPy's sums in pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel, wrap_dims
from .arrays import FEW, floating, ready
from .native import BOOL, DOUBLES, REORDER, compiled, wide
from .threads import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: from so many elements a compiled sum is quicker than NumPy's
_LEAST = 1 << 12
#: elements of a block
_BLOCK = 1 << 10
#: elements that a thread adds at a time
_SHARE = 1 << 16


@compiled(2, 1)
def _columns(a: Any, out: Any) -> None:
    # Row by row, as NumPy adds; four at a time for fewer passes over the result.
    wide()
    rows, n = a.shape
    for j in range(n):
        out[j] = 0
    whole = rows - rows % 4
    for i in range(0, whole, 4):
        first, second, third, fourth = a[i], a[i + 1], a[i + 2], a[i + 3]
        for j in range(n):
            out[j] = (((out[j] + first[j]) + second[j]) + third[j]) + fourth[j]
    for i in range(whole, rows):
        row = a[i]
        for j in range(n):
            out[j] += row[j]


@compiled(2, BOOL, DOUBLES, fastmath=REORDER)
def _rows(a: Any, squares: bool, out: Any) -> None:
    """The sums of rows, or of their squares."""
    wide()
    rows, n = a.shape
    for i in range(rows):
        # as a sum of nothing but -0.0 is
        total = -0.0
        for begin in range(0, n, 1024):
            block = a[i, begin : begin + 1024]
            part = a.dtype.type(-0.0)
            if squares:
                for j in range(block.size):
                    part += block[j] * block[j]
            else:
                for j in range(block.size):
                    part += block[j]
            total += part
        out[i] = total


@compiled(2, BOOL, 2)
def _running(a: Any, back: bool, out: Any) -> None:
    """Running sums of rows, from the end if `back`; eight rows at once, as an addition waits for the last."""
    rows, n = a.shape
    zero = a.dtype.type(0)
    at, step = (n - 1, -1) if back else (0, 1)
    whole = rows - rows % 8
    for i in range(0, whole, 8):
        t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = zero
        for k in range(n):
            j = at + step * k
            t0 += a[i, j]
            t1 += a[i + 1, j]
            t2 += a[i + 2, j]
            t3 += a[i + 3, j]
            t4 += a[i + 4, j]
            t5 += a[i + 5, j]
            t6 += a[i + 6, j]
            t7 += a[i + 7, j]
            out[i, j] = t0
            out[i + 1, j] = t1
            out[i + 2, j] = t2
            out[i + 3, j] = t3
            out[i + 4, j] = t4
            out[i + 5, j] = t5
            out[i + 6, j] = t6
            out[i + 7, j] = t7
    for i in range(whole, rows):
        total = zero
        for k in range(n):
            j = at + step * k
            total += a[i, j]
            out[i, j] = total


def _of_rows(a: Any, rows: int, squares: bool) -> Any:
    """The sums of the rows of a row-major array in float64; long ones are shared by threads."""
    n = a.size // rows
    if a.size < 4 * _SHARE:
        out = np.empty(rows)
        _rows(a.reshape(rows, n), squares, out)
        return out
    # a row is as many parts as are even, of a size that depends on its own alone
    parts = -(-n // _SHARE)
    while n % parts:
        parts += 1
    if n // parts < _BLOCK and n > _SHARE:
        parts = 1
    flat, found = a.reshape(rows * parts, n // parts), np.empty(rows * parts)
    step = max(1, _SHARE // (n // parts))

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            some = slice(number * step, (number + 1) * step)
            _rows(flat[some], squares, found[some])

    share(np, -(-len(flat) // step), a.size, work)
    return found if parts == 1 else found.reshape(rows, parts).sum(axis=1)


def _summed(a: Any, dims: Any, keepdim: bool, squares: bool = False) -> Any:
    """The sum over `dims` in float64, or in the array's own type over leading ones; None where the plain
    kernel has to do it.
    """
    if not floating(a) or a.size < _LEAST or not a.flags.carray:
        return None
    over = sorted(wrap_dims(dims, a.ndim))
    shape = tuple(1 if d in over else n for d, n in enumerate(a.shape))
    shape = shape if keepdim else tuple(n for d, n in enumerate(a.shape) if d not in over)
    last = a.ndim - len(over)
    if over == list(range(last, a.ndim)):
        return _of_rows(a, numel(a.shape[:last]), squares).reshape(shape)
    if squares:
        return None
    if over == list(range(len(over))):
        out = np.empty(shape, a.dtype)
        _columns(a.reshape(-1, out.size), out.reshape(-1))
        return out
    if over == [0, *range(2, a.ndim)]:
        return _of_rows(a, a.shape[0] * a.shape[1], False).reshape(a.shape[:2]).sum(axis=0).reshape(shape)
    return None


def _stored(found: Any, a: Any) -> Any:
    return found.astype(a.dtype, copy=False)


def _sum(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
        found = _summed(a, dim, keepdim)
        return plain(xp, a, dim, keepdim, dtype) if found is None else _stored(found, a)

    return kernel


def _mean(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
        found = _summed(a, dim, keepdim)
        if found is None:
            return plain(xp, a, dim, keepdim, dtype)
        total = _stored(found, a)
        return total / a.dtype.type(a.size // max(found.size, 1))

    return kernel


def _norm(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
        found = _summed(a, dim, keepdim, True) if ord == 2 else None
        return plain(xp, a, ord, dim, keepdim, dtype) if found is None else np.sqrt(_stored(found, a))

    return kernel


def _sum_to_size(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, size: Any) -> Any:
        kept = tuple(size)
        while kept and kept[0] == 1:
            kept = kept[1:]
        if not floating(a):
            return plain(xp, a, size)
        if not kept or a.shape[a.ndim - len(kept) :] != kept:
            return _to_channels(plain, xp, a, size)
        out = np.empty(size, a.dtype)
        n = numel(kept)
        if n:
            _columns(ready(a).reshape(-1, n), out.reshape(-1))
        return out

    return kernel


def _to_channels(plain: Any, xp: Any, a: Any, size: Sequence[int]) -> Any:
    """Sums to [1, C, 1, ...], the gradients of biases of convolutions."""
    if a.ndim > 2 and len(size) == a.ndim and size[1] == a.shape[1] and numel(size) == size[1]:
        found = _summed(a, [0, *range(2, a.ndim)], True)
        if found is not None:
            return _stored(found, a)
    return plain(xp, a, size)


def _running_sum(back: bool) -> Callable[..., Any]:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, dim: int, **more: Any) -> Any:
            if not floating(a) or a.ndim < 1 or dim % a.ndim != a.ndim - 1 or a.size < FEW:
                return plain(xp, a, dim, **more)
            a = ready(a)
            rows, n = a.size // a.shape[-1], a.shape[-1]
            out = np.empty(a.shape, a.dtype)
            given, found = a.reshape(rows, n), out.reshape(rows, n)
            step = max(8, _SHARE // n // 8 * 8)

            def work(numbers: Iterator[int]) -> None:
                for number in numbers:
                    some = slice(number * step, (number + 1) * step)
                    _running(given[some], back, found[some])

            share(np, -(-rows // step), a.size, work)
            return out

        return kernel

    return native


KERNELS = {
    "cumsum": _running_sum(False),
    "cumsum_back": _running_sum(True),
    "mean": _mean,
    "sum": _sum,
    "sum_to_size": _sum_to_size,
    "vector_norm": _norm,
}
