"""LDL decompositions of symmetric and Hermitian matrices by diagonal pivoting, as LAPACK writes them.

Source: J. R. Bunch and L. Kaufman, "Some stable methods for calculating inertia and solving symmetric linear
systems", 1977; https://netlib.org/lapack/explore-html (xSYTF2, xHETF2, xSYTRS). Pivots count from 1: p > 0
for a block of one row, which was swapped with row p, and -p twice for a block of two, of which the second
was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: where growth over two steps of one row is that over one step of two
_ALPHA = (1 + 17**0.5) / 8


def ldl(xp: Any, a: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    """L below the diagonal and D on it in one matrix, pivots, and for each matrix 0 or its zero pivot."""
    batch, n = a.shape[:-2], a.shape[-1]
    out = xp.tril(a).copy()
    pivots = np.zeros((*batch, n), np.int32)
    info = np.zeros(batch, np.int32)
    conjugates = hermitian and a.dtype.kind == "c"
    for at in np.ndindex(batch):
        info[at] = _factor(xp, out[at], pivots[at], conjugates)
    return xp.tril(out), xp.asarray(pivots), xp.asarray(info)


def _sizes(xp: Any, x: Any) -> Any:
    return xp.abs(x.real) + xp.abs(x.imag) if x.dtype.kind == "c" else xp.abs(x)


def _largest(xp: Any, x: Any) -> float:
    return float(_sizes(xp, x).max()) if x.size else 0.0


def _factor(xp: Any, a: Any, pivots: Any, conjugates: bool) -> int:
    """Write L and D over `a`; the number of the first zero pivot, or 0."""
    n, k, info = len(a), 0, 0
    while k < n:
        if conjugates:
            a[k, k] = a[k, k].real
        size, step, p = _largest(xp, a[k : k + 1, k]), 1, k
        below = _largest(xp, a[k + 1 :, k])
        if not max(size, below) > 0:
            info = info or k + 1
        else:
            if size < _ALPHA * below:
                step, p = _pivot(xp, a, k, size, below)
            last = k + step - 1
            if p != last:
                _swap(a, k, last, p, conjugates)
            (_one if step == 1 else _two)(xp, a, k, conjugates)
        pivots[k : k + step] = p + 1 if step == 1 else -(p + 1)
        k += step
    return info


def _pivot(xp: Any, a: Any, k: int, size: float, below: float) -> tuple[int, int]:
    """How many rows the next block has, and the row that is swapped into it."""
    at = k + 1 + int(xp.argmax(_sizes(xp, a[k + 1 :, k])))
    beside = max(_largest(xp, a[at, k:at]), _largest(xp, a[at + 1 :, at]))
    if size >= _ALPHA * below * (below / beside):
        return 1, k
    return (1 if _largest(xp, a[at : at + 1, at]) >= _ALPHA * beside else 2), at


def _swap(a: Any, k: int, q: int, p: int, conjugates: bool) -> None:
    """Swap rows and columns `q` < `p` of what is left, of which the lower triangle is there."""
    below = a[p + 1 :, q].copy()
    a[p + 1 :, q] = a[p + 1 :, p]
    a[p + 1 :, p] = below
    column, row = a[q + 1 : p, q].copy(), a[p, q + 1 : p].copy()
    a[q + 1 : p, q] = row.conj() if conjugates else row
    a[p, q + 1 : p] = column.conj() if conjugates else column
    if conjugates:
        a[p, q] = a[p, q].conj()
    first = a[q, q].copy()
    a[q, q] = a[p, p]
    a[p, p] = first
    if q > k:
        before = a[q, k].copy()
        a[q, k] = a[p, k]
        a[p, k] = before


def _less(a: Any, at: int, x: Any, y: Any, conjugates: bool) -> None:
    """Subtract ``x y^T`` (or ``x y^H``) from what is left from `at` on."""
    a[at:, at:] -= x @ (y.conj() if conjugates else y).T


def _one(xp: Any, a: Any, k: int, conjugates: bool) -> None:
    column = a[k + 1 :, k : k + 1]
    scaled = column / a[k, k]
    _less(a, k + 1, column, scaled, conjugates)
    a[k + 1 :, k] = scaled[:, 0]


def _two(xp: Any, a: Any, k: int, conjugates: bool) -> None:
    columns = a[k + 2 :, k : k + 2].copy()
    # rows times the inverse of the block: the block's transpose solved for columns
    scaled = _block_solved(xp, a, k, columns.T, conjugates, True).T
    _less(a, k + 2, columns, scaled, conjugates)
    a[k + 2 :, k : k + 2] = scaled


def _block_solved(xp: Any, a: Any, k: int, right: Any, conjugates: bool, transposed: bool) -> Any:
    """The two rows that the block of two rows at `k`, or its transpose, takes to `right`."""
    size = xp.abs(a[k + 1, k])  # not 0: it is the largest of its column
    low = a[k + 1, k] / size
    high = low.conj() if conjugates else low
    if transposed:
        low, high = high, low
    first, second = a[k, k] / size, a[k + 1, k + 1] / size
    if conjugates:
        first, second = first.real, second.real
    scale = (first * second - low * high) * size
    out = right.copy()
    out[0] = (second * right[0] - high * right[1]) / scale
    out[1] = (first * right[1] - low * right[0]) / scale
    return out


def solve(xp: Any, packed: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    """The solution of A X = B from what `ldl` gives for A. RuntimeError for what no pivots are."""
    out = b.copy()
    rows = np.asarray(pivots.get() if hasattr(pivots, "get") else pivots)
    conjugates = hermitian and packed.dtype.kind == "c"
    for at in np.ndindex(packed.shape[:-2]):
        _solve(xp, packed[at], _blocks(rows[at].tolist()), out[at], conjugates)
    return out


def _blocks(pivots: list[int]) -> list[tuple[int, int, int]]:
    """For each block its first row, its size, and the row that its last one was swapped with."""
    found, k = [], 0
    while k < len(pivots):
        p = pivots[k]
        size = 1 if p > 0 else 2
        if not k + size <= abs(p) <= len(pivots) or pivots[k : k + size] != [p] * size:
            raise RuntimeError(f"torch.linalg.ldl_solve: {pivots} are no pivots of ldl_factor")
        found.append((k, size, abs(p) - 1))
        k += size
    return found


def _solve(xp: Any, a: Any, blocks: list[tuple[int, int, int]], b: Any, conjugates: bool) -> None:
    for k, size, p in blocks:
        _exchange(b, k + size - 1, p)
        b[k + size :] -= a[k + size :, k : k + size] @ b[k : k + size]
        if size == 1:
            b[k] /= a[k, k].real if conjugates else a[k, k]
        else:
            b[k : k + 2] = _block_solved(xp, a, k, b[k : k + 2], conjugates, False)
    for k, size, p in reversed(blocks):
        below = a[k + size :, k : k + size]
        b[k : k + size] -= (below.conj() if conjugates else below).T @ b[k + size :]
        _exchange(b, k + size - 1, p)


def _exchange(b: Any, one: int, other: int) -> None:
    if one != other:
        kept = b[one].copy()
        b[one] = b[other]
        b[other] = kept
