"""Writes and sums by index on the device: in the order of their places, so that every run gives the same
bits. One launch; sums over large tables sort their indices first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import noting, numel
from .indexing import TABLE, only, outside
from .launch import dense, empty, kind, launch
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: what `scattering.cu` calls these: places of a block, and its threads
PLACES, THREADS = 2048, 128
MOST_BLOCKS = 1 << 16
#: reads of indices by all blocks from which sorting them is quicker
LONG = 1 << 26
#: results beside each other for which a block reads elements
SIDE = 32


def _width(inner: int, most: int) -> int:
    """The least power of two that is not below `inner`, or `most`."""
    return min(most, 1 << (inner - 1).bit_length())


def _parts(outer: int, n: int, inner: int, width: int) -> int:
    """How many blocks share results."""
    return outer * -(-inner // width) * -(-n // (PLACES // width))


def _base(xp: Any, a: Any) -> tuple[Any, int]:
    """A dense array and 0; or the number of which `a` is made, and 1."""
    if a.size > 1 and not any(a.strides):
        return a[(0,) * a.ndim], 1
    return dense(xp, a), 0


def _takes(index: Any, *arrays: Any) -> bool:
    a = arrays[0]
    return (
        a.dtype.char in REALS
        and all(b.dtype == a.dtype and b.size for b in arrays)
        and kind(index) in "qi"
        and index.size > 0
    )


def _add(
    xp: Any, word: Any, base: Any, source: Any, index: Any, shape: Sequence[int], dim: int, *,
    wraps: bool = False, sets: bool = False, padding: int | None = None, scaled: bool = False,
    alpha: float = 1.0,
) -> Any:  # fmt: skip
    """Slices added, or written, at a vector of indices along a dimension; `word` is about wrong ones."""
    outer, n, inner, many = numel(shape[:dim]), shape[dim], numel(shape[dim + 1 :]), index.size
    width = _width(inner, THREADS)
    blocks, order, at = _parts(outer, n, inner, width), None, dense(xp, index).reshape(-1)
    if blocks * many > LONG:
        if wraps:
            at = xp.where(at < 0, at + n, at)
        order, wraps = xp.argsort(at, kind="stable"), False
    out = empty(xp, shape, source.dtype)
    held, single = (None, 0) if base is None else _base(xp, base)
    launch(
        xp, "add_slices", kind(source) + kind(at), (min(blocks, MOST_BLOCKS),), THREADS, held,
        dense(xp, source), at, order, out, word, blocks, n, inner, many, width, single, int(wraps), int(sets),
        -1 if padding is None else int(padding), int(scaled), float(alpha),
    )  # fmt: skip
    return out


def _embedding_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, g: Any, index: Any, rows: int, padding_idx: int | None, scale_grad_by_freq: bool
    ) -> Any:
        if not _takes(index, g) or not rows:
            return plain(xp, g, index, rows, padding_idx, scale_grad_by_freq)
        shape = (rows, g.shape[-1])
        with noting(xp, rows, IndexError, TABLE, "embedding") as word:
            return _add(xp, word, None, g, index, shape, 0, padding=padding_idx, scaled=scale_grad_by_freq)

    return kernel


def _index_add(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, source: Any, dim: int, alpha: Any) -> Any:
        if not _takes(index, a, source) or not a.ndim or isinstance(alpha, complex):
            return plain(xp, a, index, source, dim, alpha)
        d = dim % a.ndim
        with noting(xp, a.shape[d], RuntimeError, outside(d, a.shape[d]), "index_add") as word:
            return _add(xp, word, a, source, index, a.shape, d, alpha=alpha)

    return kernel


def _index_put_add(plain: Any) -> Any:
    def kernel(xp: Any, g: Any, indices: Sequence[Any], size: Sequence[int]) -> Any:
        d = only(indices)
        if d is None or not _takes(indices[d], g):
            return plain(xp, g, indices, size)
        with noting(xp, size[d], IndexError, outside(0, size[d]), "indexing") as word:
            return _add(xp, word, None, g, indices[d], tuple(size), d, wraps=True)

    return kernel


def _index_write(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, indices: Sequence[Any], values: Any, accumulate: bool) -> Any:
        d = only(indices)
        if d is None or not _takes(indices[d], a, values):
            return plain(xp, a, indices, values, accumulate)
        source = xp.broadcast_to(values, (*a.shape[:d], *indices[d].shape, *a.shape[d + 1 :]))
        with noting(xp, a.shape[d], IndexError, outside(0, a.shape[d]), "indexing") as word:
            return _add(xp, word, a, source, indices[d], a.shape, d, wraps=True, sets=not accumulate)

    return kernel


def _index_copy(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, source: Any, dim: int) -> Any:
        if not _takes(index, a, source) or not a.ndim:
            return plain(xp, a, index, source, dim)
        d = dim % a.ndim
        with noting(
            xp, a.shape[d], IndexError, f"index_copy_(): {outside(d, a.shape[d])}", "index_copy"
        ) as word:
            return _add(xp, word, a, source, index, a.shape, d, wraps=True, sets=True)

    return kernel


def _put(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, index: Any, source: Any, accumulate: bool) -> Any:
        if not _takes(index, a, source):
            return plain(xp, a, index, source, accumulate)
        flat = a if a.ndim == 1 else dense(xp, a).reshape(-1)
        text = f"out of range: tried to access index {{}} on a tensor of {a.size} elements."
        with noting(xp, a.size, IndexError, text, "put") as word:
            out = _add(xp, word, flat, source, index, (a.size,), 0, wraps=True, sets=not accumulate)
        return out.reshape(a.shape)

    return kernel


def _write(
    xp: Any, name: str, base: Any, source: Any, index: Any, shape: Sequence[int], dim: int,
    number: float = 0.0, adds: bool = False,
) -> Any:  # fmt: skip
    """Elements of `source`, or a number, written or added at an index that has the array's sizes but along
    `dim`.
    """
    outer, n, inner = numel(shape[:dim]), shape[dim], numel(shape[dim + 1 :])
    with noting(xp, n, RuntimeError, outside(dim, n), name) as word:
        if adds and outer == inner == 1:
            return _add(xp, word, base, source, index, shape, dim)
        out, width = empty(xp, shape, base.dtype if source is None else source.dtype), _width(inner, SIDE)
        blocks = _parts(outer, n, inner, width)
        held, single = (None, 0) if base is None else _base(xp, base)
        launch(
            xp, "scatter", kind(out) + kind(index), (min(blocks, MOST_BLOCKS),), THREADS, held,
            dense(xp, source), dense(xp, index), out, word, blocks, n, inner, index.size // (outer * inner),
            width, single, int(adds), number,
        )  # fmt: skip
        return out


def _scatter(name: str, adds: bool) -> Callable[[Any], Any]:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, index: Any, src: Any, dim: int) -> Any:
            many = isinstance(src, xp.ndarray)
            d = dim % a.ndim if a.ndim else 0
            fits = a.ndim == index.ndim > 0 and all(
                k == d or m == n for k, (m, n) in enumerate(zip(index.shape, a.shape, strict=True))
            )
            if not fits or not _takes(index, a, *([src] if many else [])) or (many and src.ndim != a.ndim):
                return plain(xp, a, index, src, dim)
            if not many:
                return _write(xp, name, a, None, index, a.shape, d, float(src))
            source = src[tuple(slice(0, k) for k in index.shape)]
            return _write(xp, name, a, source, index, a.shape, d, adds=adds)

        return kernel

    return native


def _place(plain: Any) -> Any:
    def kernel(xp: Any, g: Any, index: Any, dim: int, keepdim: bool, size: Sequence[int]) -> Any:
        if not size or not _takes(index, g):
            return plain(xp, g, index, dim, keepdim, size)
        return _write(xp, "place", None, g, index, tuple(size), dim % len(size))

    return kernel


NATIVE = {
    "embedding_backward": _embedding_backward,
    "index_add": _index_add,
    "index_copy": _index_copy,
    "index_put_add": _index_put_add,
    "index_write": _index_write,
    "place": _place,
    "put": _put,
    "scatter": _scatter("scatter", False),
    "scatter_add": _scatter("scatter_add", True),
}
