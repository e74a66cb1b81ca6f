"""Compiled kernels for images read at places, channel by channel, and for the gradient of a table's rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating, ready
from .native import INDICES, INT64, compiled
from .places import check_at, each_sample


@compiled(2, INDICES, 2, 2)
def _read(x: Any, at: Any, weight: Any, out: Any) -> None:
    taps, points = weight.shape
    for c in range(x.shape[0]):
        row, found = x[c], out[c]
        found[:] = 0
        for t in range(taps):
            share, begin = weight[t], t * points
            for p in range(points):
                found[p] += share[p] * row[at[begin + p]]


@compiled(2, INDICES, 2, 2)
def _add(g: Any, at: Any, weight: Any, out: Any) -> None:
    taps, points = weight.shape
    for c in range(g.shape[0]):
        slope, found = g[c], out[c]
        found[:] = 0
        for t in range(taps):
            share, begin = weight[t], t * points
            for p in range(points):
                found[at[begin + p]] += share[p] * slope[p]


@compiled(2, 2, INDICES, 2)
def _weigh(g: Any, x: Any, at: Any, out: Any) -> None:
    taps, points = out.shape
    out[:] = 0
    for c in range(g.shape[0]):
        slope, row = g[c], x[c]
        for t in range(taps):
            found, begin = out[t], t * points
            for p in range(points):
                found[p] += slope[p] * row[at[begin + p]]


@compiled(2, INDICES, INT64, 2)
def _add_rows(g: Any, index: Any, skipped: int, out: Any) -> None:
    out[:] = 0
    for i in range(index.size):
        if index[i] != skipped:
            row, found = g[i], out[index[i]]
            for j in range(row.size):
                found[j] += row[j]


def _reading(plain: Any) -> Any:
    def kernel(xp: Any, x: Any, at: Any, weight: Any) -> Any:
        if not floating(x):
            return plain(xp, x, at, weight)
        check_at(at, x.shape[2])
        x, flat, weight = ready(x), ready(at).reshape(len(at), -1), ready(weight)
        out = np.empty((*x.shape[:2], weight.shape[2]), x.dtype)
        each_sample(np, len(x), out.size * weight.shape[1], lambda i: _read(x[i], flat[i], weight[i], out[i]))
        return out

    return kernel


def _adding(plain: Any) -> Any:
    def kernel(xp: Any, g: Any, at: Any, weight: Any, size: int) -> Any:
        if not floating(g):
            return plain(xp, g, at, weight, size)
        check_at(at, size)
        g, flat, weight = ready(g), ready(at).reshape(len(at), -1), ready(weight)
        out = np.empty((*g.shape[:2], size), g.dtype)
        each_sample(np, len(g), g.size * weight.shape[1], lambda i: _add(g[i], flat[i], weight[i], out[i]))
        return out

    return kernel


def _weighing(plain: Any) -> Any:
    def kernel(xp: Any, g: Any, x: Any, at: Any) -> Any:
        if not floating(g):
            return plain(xp, g, x, at)
        check_at(at, x.shape[2])
        g, x, flat = ready(g), ready(x), ready(at).reshape(len(at), -1)
        out = np.empty(at.shape, g.dtype)
        each_sample(np, len(g), g.size * at.shape[1], lambda i: _weigh(g[i], x[i], flat[i], out[i]))
        return out

    return kernel


def _embedding(plain: Any) -> Any:
    def kernel(
        xp: Any, g: Any, index: Any, rows: int, padding_idx: int | None, scale_grad_by_freq: bool
    ) -> Any:
        if not floating(g) or scale_grad_by_freq or not g.size:
            return plain(xp, g, index, rows, padding_idx, scale_grad_by_freq)
        flat = ready(index.astype(np.int64, copy=False)).reshape(-1)
        if int(flat.max()) >= rows or int(flat.min()) < 0:
            raise IndexError("index out of range in self")
        out = np.empty((rows, g.shape[-1]), g.dtype)
        _add_rows(ready(g).reshape(flat.size, -1), flat, -1 if padding_idx is None else padding_idx, out)
        return out

    return kernel


KERNELS = {
    "add_places": _adding,
    "embedding_backward": _embedding,
    "read_places": _reading,
    "weigh_places": _weighing,
}
