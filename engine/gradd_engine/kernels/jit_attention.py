"""Compiled rows of attention: the softmax of scores and its slopes, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating
from .attention import attend, attend_backward
from .maths import exp_sum, largest
from .native import INT64, REORDER, compiled, wide


@compiled(3, INT64, fastmath=REORDER)
def _softmax(scores: Any, sees: int) -> None:
    wide()
    zero, one = scores.dtype.type(0), scores.dtype.type(1)
    heads, rows, columns = scores.shape
    for h in range(heads):
        for r in range(rows):
            seen = min(sees + r + 1, columns)
            row = scores[h, r, :seen]
            top = largest(row)
            if np.isinf(top):
                top = zero
            total = zero
            for j in range(row.size):
                e = exp_sum(row[j] - top, zero)
                row[j] = e
                total += e
            share = one / (one if total == zero else total)
            if np.isinf(total):
                for j in range(row.size):
                    # inf / inf is nan, as with division
                    row[j] = row[j] / total
            else:
                for j in range(row.size):
                    row[j] *= share
            for j in range(seen, columns):
                scores[h, r, j] = zero


@compiled(3, 3, fastmath=REORDER)
def _slopes(weights: Any, slopes: Any) -> None:
    wide()
    heads, rows, _ = weights.shape
    for h in range(heads):
        for r in range(rows):
            weight, slope = weights[h, r], slopes[h, r]
            along = weights.dtype.type(0)
            for j in range(weight.size):
                along += weight[j] * slope[j]
            for j in range(weight.size):
                slope[j] = weight[j] * (slope[j] - along)


def _attention(plain: Any) -> Any:
    def kernel(xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> Any:
        if not floating(query) or any(t.dtype is not query.dtype for t in (key, value)):
            return plain(xp, query, key, value, mask, causal=causal, scale=scale)
        return attend(xp, query, key, value, mask, causal, scale, _softmax)

    return kernel


def _attention_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float
    ) -> Any:
        if not floating(query) or any(t.dtype is not query.dtype for t in (grad, key, value)):
            return plain(xp, grad, query, key, value, mask, causal=causal, scale=scale)
        return attend_backward(xp, grad, query, key, value, mask, causal, scale, _softmax, _slopes)

    return kernel


KERNELS = {"attend": _attention, "attend_backward": _attention_backward}
