"""Attention on the device, in tiles, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import numel
from .launch import dense, empty, launch, rows
from .sources import REALS

#: what `attention.cu` calls these; features of a head that fit, by the dtype's size
SIDE, THREADS = 16, 128
MOST_BYTES = 512
MOST_HEADS = 65535
_NAMES = (
    "rows",
    "columns",
    "features",
    "outs",
    "inner",
    "outer_step",
    "head_step",
    "row_step",
    "step",
    "causal",
)
_GEOMETRY = np.dtype([(name, np.int64) for name in _NAMES])


def _takes(mask: Any, *arrays: Any) -> bool:
    a = arrays[0]
    return (
        a.dtype.char in REALS
        and all(b.dtype == a.dtype for b in arrays)
        and max(b.shape[-1] for b in arrays) * a.itemsize <= MOST_BYTES
        and 0 < numel(a.shape[:-2]) <= MOST_HEADS
        and all(b.size for b in arrays)
        # the heads' dimensions that a mask may step through
        and (mask is None or (a.ndim <= 4 and mask.dtype in (np.dtype(bool), a.dtype)))
    )


def _geometry(query: Any, key: Any, value: Any, mask: Any, causal: bool) -> Any:
    """The sizes, and how far apart a mask's elements are: 0 where it is broadcast."""
    made = np.zeros(1, _GEOMETRY)
    batch = query.shape[:-2]
    steps = [0, 0, 0, 0]
    if mask is not None:
        step = 1
        for d in range(1, mask.ndim + 1):
            if mask.shape[-d] > 1:
                steps[-d] = step
            step *= mask.shape[-d]
    made[0] = (
        query.shape[-2], key.shape[-2], query.shape[-1], value.shape[-1], batch[-1] if batch else 1, *steps,
        int(causal),
    )  # fmt: skip
    return made


def _blocks(positions: int, heads: int) -> tuple[int, int]:
    return -(-positions // SIDE), heads


def _attend(plain: Any) -> Any:
    def kernel(xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> Any:
        if not _takes(mask, query, key, value):
            return plain(xp, query, key, value, mask, causal=causal, scale=scale)
        out, _ = _forward(xp, query, key, value, mask, causal, scale, False)
        return out

    return kernel


def _forward(
    xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, logs: bool
) -> tuple[Any, Any]:
    out = empty(xp, (*query.shape[:-1], value.shape[-1]), query.dtype)
    sums = empty(xp, query.shape[:-1], query.dtype) if logs else None
    types = query.dtype.char + ("B" if mask is None or mask.dtype.kind == "b" else query.dtype.char)
    launch(
        xp, "attend", types, _blocks(query.shape[-2], numel(query.shape[:-2])), THREADS, dense(xp, query),
        dense(xp, key), dense(xp, value), dense(xp, mask), out, sums,
        _geometry(query, key, value, mask, causal), float(scale),
    )  # fmt: skip
    return out, sums


def _attend_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float
    ) -> Any:
        if not _takes(mask, query, key, value, grad):
            return plain(xp, grad, query, key, value, mask, causal=causal, scale=scale)
        g, query, key, value, mask = (dense(xp, t) for t in (grad, query, key, value, mask))
        out, logs = _forward(xp, query, key, value, mask, causal, scale, True)
        heads, dtype = numel(query.shape[:-2]), query.dtype
        alongs = empty(xp, logs.shape, dtype)
        rows(
            xp, "row_products", dtype.char, logs.size, out.shape[-1], g, out, alongs, logs.size, out.shape[-1]
        )
        types = dtype.char + ("B" if mask is None or mask.dtype.kind == "b" else dtype.char)
        found = [empty(xp, t.shape, dtype) for t in (query, key, value)]
        given = (g, query, key, value, mask, logs, alongs)
        how = (_geometry(query, key, value, mask, causal), float(scale))
        blocks = _blocks(query.shape[-2], heads)
        launch(xp, "attend_query", types, blocks, THREADS, *given, found[0], *how)
        blocks = _blocks(key.shape[-2], heads)
        launch(xp, "attend_key", types, blocks, THREADS, *given, *found[1:], *how)
        return tuple(found)

    return kernel


NATIVE = {"attend": _attend, "attend_backward": _attend_backward}
