"""softmax and log_softmax over the last dimension, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import alike, by_rows, floating, ready
from .maths import exp_sum, largest
from .native import REORDER, compiled, wide


@compiled(2, 2, fastmath=REORDER)
def _softmax(a: Any, out: Any) -> None:
    wide()
    zero, one = a.dtype.type(0), a.dtype.type(1)
    for i in range(a.shape[0]):
        row, result = a[i], out[i]
        top = largest(row)
        total = zero
        for j in range(row.size):
            e = exp_sum(row[j] - top, zero)
            result[j] = e
            total += e
        share = one / total
        for j in range(row.size):
            result[j] *= share


@compiled(2, 2, fastmath=REORDER)
def _safe_softmax(a: Any, out: Any) -> None:
    wide()
    zero, one = a.dtype.type(0), a.dtype.type(1)
    for i in range(a.shape[0]):
        row, result = a[i], out[i]
        top = largest(row)
        if np.isinf(top):
            top = zero
        total = zero
        for j in range(row.size):
            e = exp_sum(row[j] - top, zero)
            result[j] = e
            total += e
        share = one / (one if total == zero else total)
        for j in range(row.size):
            # inf / inf is nan, as with division
            result[j] = result[j] / total if np.isinf(total) else result[j] * share


@compiled(2, 2, fastmath=REORDER)
def _log_softmax(a: Any, out: Any) -> None:
    wide()
    zero = a.dtype.type(0)
    for i in range(a.shape[0]):
        row, result = a[i], out[i]
        top = largest(row)
        total = zero
        for j in range(row.size):
            total += exp_sum(row[j] - top, zero)
        log = np.log(total)
        for j in range(row.size):
            result[j] = (row[j] - top) - log


@compiled(2, 2, 2, fastmath=REORDER)
def _softmax_backward(g: Any, result: Any, out: Any) -> None:
    wide()
    for i in range(g.shape[0]):
        slope, row, found = g[i], result[i], out[i]
        along = g.dtype.type(0)
        for j in range(row.size):
            along += slope[j] * row[j]
        for j in range(row.size):
            found[j] = row[j] * (slope[j] - along)


@compiled(2, 2, 2, fastmath=REORDER)
def _log_softmax_backward(g: Any, result: Any, out: Any) -> None:
    wide()
    zero = g.dtype.type(0)
    for i in range(g.shape[0]):
        slope, row, found = g[i], result[i], out[i]
        total = zero
        for j in range(row.size):
            total += slope[j]
        for j in range(row.size):
            found[j] = slope[j] - exp_sum(row[j], zero) * total


def _last(a: Any, dim: int) -> bool:
    """Whether `dim` is the last dimension of a non-empty array."""
    return a.ndim > 0 and a.size > 0 and dim in (-1, a.ndim - 1)


def _forward(fn: Any) -> Any:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, dim: int) -> Any:
            if not floating(a) or not _last(a, dim):
                return plain(xp, a, dim)
            a = ready(a)
            out = np.empty_like(a)
            n = a.shape[-1]
            by_rows(fn, a.reshape(-1, n), out.reshape(-1, n))
            return out

        return kernel

    return native


def _backward(fn: Any) -> Any:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, g: Any, result: Any, dim: int) -> Any:
            if not alike(g, result) or not _last(g, dim):
                return plain(xp, g, result, dim)
            g, result = ready(g), ready(result)
            out = np.empty_like(g)
            n = g.shape[-1]
            by_rows(fn, g.reshape(-1, n), result.reshape(-1, n), out.reshape(-1, n))
            return out

        return kernel

    return native


def _safe(plain: Any) -> Any:
    over_last = _forward(_safe_softmax)(lambda xp, a, dim: plain(xp, a))
    return lambda xp, a: over_last(xp, a, -1)


KERNELS = {
    "log_softmax_backward": _backward(_log_softmax_backward),
    "log_softmax_kernel": _forward(_log_softmax),
    "safe_softmax": _safe,
    "softmax_backward": _backward(_softmax_backward),
    "softmax_kernel": _forward(_softmax),
}
