"""Reads by index on the device, and the gradient of a table's rows: the same bits in every run.

What a kernel finds out of bounds it notes in a word, which is read where somebody waits anyway (`told`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import numel, told
from .launch import dense, each, empty, kind
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Callable

_TABLE = "index out of range in self"


def _takes(a: Any, index: Any) -> bool:
    return a.dtype.char in REALS and kind(index) in "qi" and a.size > 0 and index.size > 0


def _slices(xp: Any, op: str, a: Any, index: Any, dim: int, shape: Any) -> Any:
    n, inner = a.shape[dim], numel(a.shape[dim + 1 :])
    out, word = empty(xp, shape, a.dtype), xp.zeros(2, xp.int64)
    each(
        xp, "take_slices", a.dtype.char + kind(index), out.size, dense(xp, a), dense(xp, index), out, word,
        out.size, n, inner, index.size,
    )  # fmt: skip
    told(word, n, IndexError, _TABLE, op)
    return out


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


def _gather(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, dim: int) -> Any:
        d = dim % a.ndim if a.ndim else 0
        same = a.ndim == index.ndim and all(
            k == d or m == n for k, (m, n) in enumerate(zip(index.shape, a.shape, strict=True))
        )
        if not _takes(a, index) or not a.ndim or not same:
            return plain(xp, a, index, dim)
        n, inner = a.shape[d], numel(a.shape[d + 1 :])
        out, word = empty(xp, index.shape, a.dtype), xp.zeros(2, xp.int64)
        each(
            xp, "gather", a.dtype.char + kind(index), out.size, dense(xp, a), dense(xp, index), out, word,
            out.size, n, inner, index.shape[d],
        )  # fmt: skip
        text = f"index {{}} is out of bounds for dimension {d} with size {n}"
        told(word, n, RuntimeError, text, "gather")
        return out

    return kernel


def _embedding_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, g: Any, index: Any, rows: int, padding_idx: int | None, scale_grad_by_freq: bool
    ) -> Any:
        if not _takes(g, index) or not rows:
            return plain(xp, g, index, rows, padding_idx, scale_grad_by_freq)
        flat, width = dense(xp, index).reshape(-1), g.shape[-1]
        order = xp.argsort(flat, kind="stable")
        out, word = xp.zeros((rows, width), g.dtype), xp.zeros(2, xp.int64)
        each(
            xp, "add_rows", g.dtype.char + kind(flat), g.size, dense(xp, g), flat, order, out, word,
            flat.size, width, rows, -1 if padding_idx is None else int(padding_idx), int(scale_grad_by_freq),
        )  # fmt: skip
        told(word, rows, IndexError, _TABLE, "embedding")
        return out

    return kernel


NATIVE: dict[str, Callable[[Any], Any]] = {
    "embedding": _embedding,
    "embedding_backward": _embedding_backward,
    "gather": _gather,
    "index_select": _index_select,
}
