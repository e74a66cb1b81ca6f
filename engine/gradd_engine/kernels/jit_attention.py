"""Compiled rows of attention: the softmax of scores and its slopes, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating, ready
from .attention import attend, attend_backward
from .maths import exp_sum, largest
from .native import BOOL, INT64, REAL, REORDER, compiled, wide

#: up to so many products of a query and a key one loop is quicker than BLAS for each step
_FEW = 1 << 16


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


@compiled(3, 3, 3, BOOL, REAL, REAL, 3, fastmath=REORDER)
def _attend(query: Any, key: Any, value: Any, causal: bool, left: Any, right: Any, out: Any) -> None:
    """Attention of few positions. What is hidden has a part in sums, with 0, as if there were a mask."""
    wide()
    heads, rows, features = query.shape
    columns = key.shape[1]
    number = query.dtype.type
    scores, scaled = np.empty((heads, rows, columns), query.dtype), np.empty(features, query.dtype)
    for h in range(heads):
        for r in range(rows):
            row = query[h, r]
            for j in range(features):
                scaled[j] = row[j] * left
            for c in range(columns):
                other, total = key[h, c], number(0)
                for j in range(features):
                    total += scaled[j] * (other[j] * right)
                scores[h, r, c] = total + number(-np.inf) if causal and c > r else total
    _softmax(scores, columns)
    for h in range(heads):
        for r in range(rows):
            found = out[h, r]
            for j in range(found.size):
                found[j] = 0
            for c in range(columns):
                weight, row = scores[h, r, c], value[h, c]
                for j in range(found.size):
                    found[j] += weight * row[j]


def _attention(plain: Any) -> Any:
    def kernel(xp: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float) -> Any:
        if not floating(query) or any(t.dtype is not query.dtype for t in (key, value)):
            return plain(xp, query, key, value, mask, causal=causal, scale=scale)
        if mask is None and 0 < query.size * key.shape[-2] <= _FEW and value.shape[-1] <= key.shape[-1]:
            root, number = abs(scale) ** 0.5, query.dtype.type
            out = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
            q, k, v = (ready(t).reshape(-1, *t.shape[-2:]) for t in (query, key, value))
            left, right = number(root if scale >= 0 else -root), number(root)
            _attend(q, k, v, causal, left, right, out.reshape(-1, *out.shape[-2:]))
            return out
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
