"""Reads by index on the device.

What a kernel finds out of bounds it notes in a word, which is read where somebody waits anyway (`noting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import noting, numel
from .launch import dense, each, empty, kind
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: what is said of an index that is no row of a table
TABLE = "index out of range in self"


def _takes(a: Any, index: Any) -> bool:
    return a.dtype.char in REALS and kind(index) in "qi" and a.size > 0 and index.size > 0


def _slices(
    xp: Any, op: str, a: Any, index: Any, dim: int, shape: Any, text: str = TABLE, wraps: bool = False
) -> Any:
    n, inner = a.shape[dim], numel(a.shape[dim + 1 :])
    out = empty(xp, shape, a.dtype)
    with noting(xp, n, IndexError, text, op) as word:
        each(
            xp, "take_slices", a.dtype.char + kind(index), out.size, dense(xp, a), dense(xp, index), out,
            word, out.size, n, inner, index.size, int(wraps),
        )  # fmt: skip
    return out


def outside(dim: int, n: int) -> str:
    """What is said of an index that is none of a dimension."""
    return f"index {{}} is out of bounds for dimension {dim} with size {n}"


def only(indices: Sequence[Any]) -> int | None:
    """The dimension that alone has an index; None if several have."""
    given = [d for d, index in enumerate(indices) if index is not None]
    return given[0] if len(given) == 1 else None


def _index(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, indices: Sequence[Any]) -> Any:
        d = only(indices)
        if d is None or not _takes(a, indices[d]):
            return plain(xp, a, indices)
        shape = (*a.shape[:d], *indices[d].shape, *a.shape[d + 1 :])
        return _slices(xp, "indexing", a, indices[d], d, shape, outside(0, a.shape[d]), True)

    return kernel


def _embedding(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, **attrs: Any) -> Any:
        if not _takes(weight, input):
            return plain(xp, input, weight, **attrs)
        return _slices(xp, "embedding", weight, input, 0, (*input.shape, weight.shape[1]))

    return kernel


def _index_select(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, dim: int) -> Any:
        if not _takes(a, index) or not a.ndim:
            return plain(xp, a, index, dim)
        dim %= a.ndim
        return _slices(xp, "index_select", a, index, dim, (*a.shape[:dim], index.size, *a.shape[dim + 1 :]))

    return kernel


def _gathered(xp: Any, op: str, a: Any, index: Any, d: int, shape: Any) -> Any:
    """The elements of an index that has the array's sizes but along `d`."""
    n, inner = a.shape[d], numel(a.shape[d + 1 :])
    out = empty(xp, shape, a.dtype)
    with noting(xp, n, RuntimeError, outside(d, n), op) as word:
        each(
            xp, "gather", a.dtype.char + kind(index), out.size, dense(xp, a), dense(xp, index), out, word,
            out.size, n, inner, index.size * n // a.size,
        )  # fmt: skip
    return out


def _gather(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, dim: int) -> Any:
        d = dim % a.ndim if a.ndim else 0
        same = a.ndim == index.ndim and all(
            k == d or m == n for k, (m, n) in enumerate(zip(index.shape, a.shape, strict=True))
        )
        if not _takes(a, index) or not a.ndim or not same:
            return plain(xp, a, index, dim)
        return _gathered(xp, "gather", a, index, d, index.shape)

    return kernel


def _pick(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, dim: int, keepdim: bool) -> Any:
        if not _takes(a, index) or not a.ndim:
            return plain(xp, a, index, dim, keepdim)
        return _gathered(xp, "pick", a, index, dim % a.ndim, index.shape)

    return kernel


NATIVE: dict[str, Callable[[Any], Any]] = {
    "embedding": _embedding,
    "gather": _gather,
    "index": _index,
    "index_select": _index_select,
    "pick": _pick,
}
