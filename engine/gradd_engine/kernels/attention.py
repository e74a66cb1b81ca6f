"""Scaled dot product attention in blocks of queries, and its gradients: never all scores at once.

A block has whole rows of scores, so its softmax is a plain one; the gradients compute it anew. If causal, a
block's keys end at its last query. Blocks depend on shapes alone, and what is added is added in their order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data import numel
from .threads import share
from .windows import Buffers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    #: softmax of rows of scores [heads, rows, columns] in place: row r sees columns up to the second + r
    Softmax = Callable[[Any, int], None]
    #: turns slopes of weights, both [heads, rows, columns], into slopes of scores, in place
    Slopes = Callable[[Any, Any], None]

#: elements in a block's scores: what fits a core's cache, or a share of a GPU's memory
CACHED, ON_GPU = 1 << 18, 1 << 26
#: least queries of a block, for the products' sake
LEAST = 64
#: into so many blocks of queries a causal sequence is cut, as half of all scores need not be computed
CAUSAL = 8


class Heads(NamedTuple):
    """What attention is over: arrays [heads, positions, features], scaled; a mask to add, or None."""

    query: Any
    key: Any
    value: Any
    mask: Any
    causal: bool


class Piece(NamedTuple):
    """Heads from `first` to `last`, queries from `top` to `bottom`, keys up to `end`."""

    first: int
    last: int
    top: int
    bottom: int
    end: int


def attention_room(many: int, rows: int, columns: int) -> int:
    """Elements of the scores that all threads together may have at once."""
    return min(many * rows * columns, 16 * max(CACHED, LEAST * columns))


def softmax_plain(xp: Any) -> Softmax:
    """The softmax of rows, by the array library; rows of only -inf give zeros."""

    def softmax(scores: Any, sees: int) -> None:
        _, rows, columns = scores.shape
        if sees < columns - 1:
            hidden = xp.arange(columns)[None, :] > (xp.arange(rows)[:, None] + sees)
            scores[:, hidden] = -np.inf
        top = scores.max(axis=-1, keepdims=True)
        scores -= xp.where(xp.isinf(top), 0, top)
        xp.exp(scores, out=scores)
        total = scores.sum(axis=-1, keepdims=True)
        scores /= xp.where(total == 0, 1, total)

    return softmax


def slopes_plain(weights: Any, slopes: Any) -> None:
    """The slopes of scores, by the array library."""
    slopes -= (weights * slopes).sum(axis=-1, keepdims=True)
    slopes *= weights


def _heads(
    xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, *others: Any
) -> Heads:
    """The arrays as `Heads`. Causal stays what is finite: otherwise what is hidden would be seen in sums."""
    many = numel(query.shape[:-2])
    # Both factors get the root of the scale, so that the product does not overflow.
    root = abs(scale) ** 0.5
    number = query.dtype.type
    q = (query * number(root if scale >= 0 else -root)).reshape(many, *query.shape[-2:])
    k = (key * number(root)).reshape(many, *key.shape[-2:])
    v = value.reshape(many, *value.shape[-2:])
    rows, columns = q.shape[1], k.shape[1]
    if causal and not all(_finite(xp, x) for x in (q, k, v, *others)):
        causal, mask = False, xp.tri(rows, columns, dtype=bool)
    if mask is not None:
        if mask.dtype.kind == "b":
            mask = xp.where(mask, number(0), number(-np.inf))
        mask = xp.broadcast_to(mask, (*query.shape[:-2], rows, columns))
        if not any(mask.strides[:-2]):
            mask = mask[(0,) * (mask.ndim - 2)]
    return Heads(q, k, v, mask, causal)


def _finite(xp: Any, x: Any) -> bool:
    """Whether all is finite; where squares overflow it says no, which costs time alone."""
    flat = x.reshape(-1)
    return math.isfinite(float(xp.dot(flat, flat)))


def _pieces(xp: Any, heads: Heads) -> list[list[Piece]]:
    """The blocks, in lists that share heads."""
    (many, rows, _), columns = heads.query.shape, heads.key.shape[1]
    room = CACHED if xp is np else ON_GPU
    step = min(rows, max(LEAST, room // columns))
    if heads.causal:
        step = min(step, max(LEAST, -(-rows // CAUSAL)))
    together = max(1, room // (step * columns))
    return [
        [
            Piece(
                first, min(first + together, many), top, min(top + step, rows),
                min(top + step, columns) if heads.causal else columns,
            )
            for top in range(0, rows, step)
        ]
        for first in range(0, many, together)
    ]  # fmt: skip


def _weights(
    xp: Any, heads: Heads, batch: tuple[int, ...], p: Piece, softmax: Softmax, buffers: Buffers
) -> Any:
    """The softmax of a block's scores."""
    some = slice(p.first, p.last)
    found = buffers.take("weights", (p.last - p.first, p.bottom - p.top, p.end), heads.query.dtype)
    xp.matmul(heads.query[some, p.top : p.bottom], heads.key[some, : p.end].swapaxes(1, 2), out=found)
    if heads.mask is not None and heads.mask.ndim == 2:
        found += heads.mask[p.top : p.bottom, : p.end]
    elif heads.mask is not None:
        for n in range(p.first, p.last):
            found[n - p.first] += heads.mask[np.unravel_index(n, batch)][p.top : p.bottom, : p.end]
    softmax(found, p.top if heads.causal else p.end)
    return found


def _each(xp: Any, parts: list[Any], load: int, work: Callable[[Iterator[int]], None]) -> None:
    """`share`, without its preparations where there is nothing to share."""
    if len(parts) == 1:
        work(iter((0,)))
    else:
        share(xp, len(parts), load, work)


def attend(
    xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, softmax: Softmax
) -> Any:
    """softmax(scale * query key^T + mask) value over the last two dimensions; the others are alike."""
    heads = _heads(xp, query, key, value, mask, causal, scale)
    batch = query.shape[:-2]
    out = xp.empty((len(heads.query), query.shape[-2], value.shape[-1]), query.dtype)
    pieces = [p for some in _pieces(xp, heads) for p in some]

    def work(numbers: Iterator[int]) -> None:
        buffers = Buffers(xp)
        for number in numbers:
            p = pieces[number]
            some = slice(p.first, p.last)
            weights = _weights(xp, heads, batch, p, softmax, buffers)
            xp.matmul(weights, heads.value[some, : p.end], out=out[some, p.top : p.bottom])

    _each(xp, pieces, len(out) * query.shape[-2] * key.shape[-2], work)
    return out.reshape(*query.shape[:-1], value.shape[-1])


def attend_backward(
    xp: Any, g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float,
    softmax: Softmax, slopes: Slopes,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of `attend` for query, key and value."""
    heads = _heads(xp, query, key, value, mask, causal, scale, g)
    batch = query.shape[:-2]
    slope = g.reshape(len(heads.query), *g.shape[-2:])
    outs = [xp.zeros(x.shape, x.dtype) for x in heads[:3]]
    for_query, for_key, for_value = outs
    lists = _pieces(xp, heads)

    def work(numbers: Iterator[int]) -> None:
        buffers = Buffers(xp)
        for number in numbers:
            for p in lists[number]:
                some, rows, columns = slice(p.first, p.last), slice(p.top, p.bottom), slice(p.end)
                weights = _weights(xp, heads, batch, p, softmax, buffers)
                part = buffers.take("value", for_value[some, columns].shape, query.dtype)
                for_value[some, columns] += xp.matmul(weights.swapaxes(1, 2), slope[some, rows], out=part)
                found = buffers.take("slopes", weights.shape, query.dtype)
                xp.matmul(slope[some, rows], heads.value[some, columns].swapaxes(1, 2), out=found)
                slopes(weights, found)
                xp.matmul(found, heads.key[some, columns], out=for_query[some, rows])
                part = buffers.take("key", for_key[some, columns].shape, query.dtype)
                for_key[some, columns] += xp.matmul(found.swapaxes(1, 2), heads.query[some, rows], out=part)

    _each(xp, lists, len(slope) * query.shape[-2] * key.shape[-2], work)
    root = query.dtype.type(abs(scale) ** 0.5)
    for_query *= root if scale >= 0 else -root
    for_key *= root
    return for_query.reshape(query.shape), for_key.reshape(key.shape), for_value.reshape(value.shape)
