"""Compiled kernels for elements and rows at indices: gather, scatter, and what is added at indices.

Each adds in the order of the indices, as NumPy does, whatever the number of threads: these share what is
written to, never the indices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .native import BOOL, INDICES, INT64, compiled
from .threads import LOAD, share, threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: columns that are worth a thread of their own
_COLUMNS = 128


@compiled(3, INDICES, 3)
def _gather(a: Any, index: Any, out: Any) -> bool:
    """Whether every index is one of the middle dimension."""
    outer, size, inner = a.shape
    places = out.shape[1]
    for o in range(outer):
        if inner == 1:
            given, found, at = a[o, :, 0], out[o, :, 0], index[o * places : (o + 1) * places]
            for p in range(places):
                # as unsigned, negative indices are large
                if np.uint64(at[p]) >= np.uint64(size):
                    return False
                found[p] = given[np.uint64(at[p])]
            continue
        for p in range(places):
            begin = (o * places + p) * inner
            at, row = index[begin : begin + inner], out[o, p]
            for i in range(inner):
                if np.uint64(at[i]) >= np.uint64(size):
                    return False
                row[i] = a[o, np.uint64(at[i]), i]
    return True


@compiled(3, INDICES, 3)
def _scatter(source: Any, index: Any, out: Any) -> bool:
    """The same as `_gather` says; the last of several stays."""
    outer, places, inner = source.shape
    size = out.shape[1]
    for o in range(outer):
        for p in range(places):
            begin = (o * places + p) * inner
            at, row = index[begin : begin + inner], source[o, p]
            for i in range(inner):
                if np.uint64(at[i]) >= np.uint64(size):
                    return False
                out[o, np.uint64(at[i]), i] = row[i]
    return True


@compiled(3, INDICES, 3)
def _scatter_add(source: Any, index: Any, out: Any) -> bool:
    """The same as `_gather` says."""
    outer, places, inner = source.shape
    size = out.shape[1]
    for o in range(outer):
        if inner == 1:
            given, found, at = source[o, :, 0], out[o, :, 0], index[o * places : (o + 1) * places]
            for p in range(places):
                if np.uint64(at[p]) >= np.uint64(size):
                    return False
                found[np.uint64(at[p])] += given[p]
            continue
        for p in range(places):
            begin = (o * places + p) * inner
            at, row = index[begin : begin + inner], source[o, p]
            for i in range(inner):
                if np.uint64(at[i]) >= np.uint64(size):
                    return False
                out[o, np.uint64(at[i]), i] += row[i]
    return True


@compiled(3, INDICES, INT64, INT64, BOOL, 3)
def _add_slices(source: Any, index: Any, first: int, last: int, wraps: bool, out: Any) -> bool:
    """Slices added at indices, columns from `first` to `last`; whether all are inside. If it `wraps`, a
    negative index counts from the end.
    """
    outer, places, _ = source.shape
    size = out.shape[1]
    for o in range(outer):
        for p in range(places):
            at = index[p]
            if wraps and at < 0:
                at += size
            if np.uint64(at) >= np.uint64(size):
                return False
            row, found = source[o, p, first:last], out[o, np.uint64(at), first:last]
            for i in range(row.size):
                found[i] += row[i]
    return True


def _added_slices(source: Any, index: Any, out: Any, wraps: bool) -> bool:
    """Add [outer, places, inner] to [outer, size, inner] at `index` [places]; whether all are inside."""
    inner = source.shape[2]
    parts = min(threads(), -(-inner // _COLUMNS)) if source.size >= 2 * LOAD else 1
    if parts < 2:
        return bool(_add_slices(source, index, 0, inner, wraps, out))
    step = -(-inner // parts)
    fits = [False] * parts

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            first = number * step
            fits[number] = _add_slices(source, index, first, min(first + step, inner), wraps, out)

    share(np, parts, source.size, work)
    return all(fits)


def _whole(index: Any) -> Any:
    """Indices as a row-major vector of int64."""
    return ready(index.astype(np.int64, copy=False)).reshape(-1)


def _matches(a: Any, index: Any, dim: int) -> bool:
    """Whether `index` names elements of every slice of `a` along `dim`, and there are some."""
    if not a.ndim or a.ndim != index.ndim or not index.size or not a.size:
        return False
    d = dim % a.ndim
    return bool(a.shape[:d] == index.shape[:d] and a.shape[d + 1 :] == index.shape[d + 1 :])


def _planes(shape: Sequence[int], dim: int) -> tuple[int, int, int]:
    """What is before `dim`, at it, and after it."""
    d = dim % len(shape)
    return numel(shape[:d]), shape[d], numel(shape[d + 1 :])


def _by_planes(fn: Callable[..., bool], moved: Any, index: Any, fixed: Any, gathers: bool) -> bool:
    """Call ``fn`` on shares of the outer dimension; whether all are inside."""
    outer, places, inner = (fixed if gathers else moved).shape
    each = places * inner
    if outer * each < 2 * LOAD:
        return bool(fn(moved, index, fixed))
    step = max(1, (1 << 15) // each)
    parts = -(-outer // step)
    bad: list[int] = []

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            some = slice(number * step, min((number + 1) * step, outer))
            if not fn(moved[some], index[some.start * each : some.stop * each], fixed[some]):
                bad.append(number)

    share(np, parts, outer * each, work)
    return not bad


def _own(a: Any) -> Any:
    """A row-major copy. Of one zero, expanded, it is memory that the system clears once it is touched."""
    if any(a.strides) or a[(0,) * a.ndim] != 0 or np.signbit(a[(0,) * a.ndim]):
        return np.array(a, order="C")
    return np.zeros(a.shape, a.dtype)


def _gathering(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, dim: int) -> Any:
        if not floating(a) or not _matches(a, index, dim):
            return plain(xp, a, index, dim)
        out = np.empty(index.shape, a.dtype)
        given, found = ready(a).reshape(_planes(a.shape, dim)), out.reshape(_planes(index.shape, dim))
        # the plain kernel says what is wrong with an index
        return out if _by_planes(_gather, given, _whole(index), found, True) else plain(xp, a, index, dim)

    return kernel


def _scattering(fn: Any) -> Callable[..., Any]:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, index: Any, src: Any, dim: int) -> Any:
            if not (floating(a) and _matches(a, index, dim) and getattr(src, "dtype", None) is a.dtype):
                return plain(xp, a, index, src, dim)
            out = _own(a)
            if src.ndim:
                source = ready(src[tuple(slice(0, n) for n in index.shape)])
            else:
                source = np.full(index.shape, src, a.dtype)
            given, found = (x.reshape(_planes(x.shape, dim)) for x in (source, out))
            fits = _by_planes(fn, given, _whole(index), found, False)
            return out if fits else plain(xp, a, index, src, dim)

        return kernel

    return native


def _index_add(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, source: Any, dim: int, alpha: Any) -> Any:
        if not floating(a) or not a.ndim or a.ndim != source.ndim or not source.size or not a.size:
            return plain(xp, a, index, source, dim, alpha)
        whole = source
        if alpha != 1:
            source = source * np.asarray(alpha).astype(source.dtype)
        out = np.array(a, order="C")
        given = ready(source)
        planes, found = given.reshape(_planes(given.shape, dim)), out.reshape(_planes(out.shape, dim))
        # the plain kernel says what is wrong with an index
        if _added_slices(planes, _whole(index), found, False):
            return out
        return plain(xp, a, index, whole, dim, alpha)

    return kernel


def _places(shape: Sequence[int], indices: Any) -> tuple[tuple[int, int, int], Any] | None:
    """Planes of a `shape` and places in their middle dimension; None where the indices are none of the usual
    ones (adjacent, no mask, inside if there are several)."""
    dims = [d for d, t in enumerate(indices) if t is not None]
    if not dims or dims[-1] - dims[0] >= len(dims) or not numel(shape):
        return None
    first, last = dims[0], dims[-1] + 1
    given = indices[first:last]
    if any(t.dtype.kind != "i" or not t.size for t in given):
        return None
    at = given[0]
    if len(given) > 1:
        for t, n in zip(given, shape[first:last], strict=True):
            if int(t.min()) < -n or int(t.max()) >= n:
                return None
        at = 0
        for t, n in zip(given, shape[first:last], strict=True):
            # a remainder counts negative indices from the end
            at = at * n + t.astype(np.int64, copy=False) % n
    return (numel(shape[:first]), numel(shape[first:last]), numel(shape[last:])), at


def _added(out: Any, indices: Any, values: Any) -> bool:
    """Add `values` at `indices` to `out`; False where that is left to the plain kernel."""
    found = _places(out.shape, indices)
    if found is None or values.dtype is not out.dtype:
        return False
    (outer, size, inner), at = found
    if values.size != outer * at.size * inner:
        lead = [t is not None for t in indices].index(True)
        after = out.shape[len(indices) :] if indices[-1] is not None else None
        if after is None:
            return False
        values = np.broadcast_to(values, (*out.shape[:lead], *at.shape, *after))
    source = ready(values).reshape(outer, at.size, inner)
    return _added_slices(source, _whole(at), out.reshape(outer, size, inner), True)


def _put_add(plain: Any) -> Any:
    def kernel(xp: Any, g: Any, indices: Any, size: Any) -> Any:
        if floating(g):
            out = np.zeros(tuple(size), g.dtype)
            if _added(out, indices, g):
                return out
        return plain(xp, g, indices, size)

    return kernel


def _write(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, indices: Any, values: Any, accumulate: bool) -> Any:
        if accumulate and floating(a):
            out = np.array(a, order="C")
            if _added(out, indices, values):
                return out
        return plain(xp, a, indices, values, accumulate)

    return kernel


KERNELS = {
    "gather": _gathering,
    "index_add": _index_add,
    "index_put_add": _put_add,
    "index_write": _write,
    "scatter": _scattering(_scatter),
    "scatter_add": _scattering(_scatter_add),
}
