"""The negative log likelihood of class indices, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating, ready
from .native import BOOL, INDICES, INT64, compiled


@compiled(2, INDICES, 1, INT64, 1, 1)
def _nll(rows: Any, target: Any, weight: Any, ignored: int, losses: Any, sums: Any) -> int:
    """Losses, if `losses` is not empty; sums of losses and weights. Returns the first bad row, or -1."""
    loss = total = 0.0
    classes = rows.shape[1]
    for i in range(target.size):
        at = target[i]
        each = share = rows.dtype.type(0)
        if at != ignored:
            if at < 0 or at >= classes:
                return i
            share = weight[at] if weight.size else rows.dtype.type(1)
            each = -rows[i, at] * share
        if losses.size:
            losses[i] = each
        loss += each
        total += share
    sums[0] = loss
    sums[1] = total
    return -1


@compiled(1, BOOL, INDICES, 1, INT64, 2)
def _nll_backward(g: Any, shared: bool, target: Any, weight: Any, ignored: int, out: Any) -> int:
    """`g` is each row's gradient, or one for all if `shared`. Return the first bad row, or -1."""
    classes = out.shape[1]
    for i in range(target.size):
        row = out[i]
        for j in range(classes):
            row[j] = 0
        at = target[i]
        if at != ignored:
            if at < 0 or at >= classes:
                return i
            slope = g[0 if shared else i]
            row[at] = -(weight[at] * slope) if weight.size else -slope
    return -1


def _prepared(target: Any, weight: Any, like: Any) -> tuple[Any, Any]:
    index = target if target.dtype.char == "l" else target.astype(np.int64)
    return ready(index).reshape(-1), np.empty(0, like.dtype) if weight is None else ready(weight)


def _checked(target: Any, bad: int) -> None:
    if bad >= 0:
        raise IndexError(f"Target {int(target[bad])} is out of bounds.")


def _forward(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, target: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
        if not floating(input) or input.ndim != 2 or not input.size:
            return plain(xp, input, target, weight, reduction, ignore_index)
        index, shares = _prepared(target, weight, input)
        losses = np.empty(len(input) if reduction == "none" else 0, input.dtype)
        sums = np.empty(2, input.dtype)
        _checked(index, _nll(ready(input), index, shares, ignore_index, losses, sums))
        loss, total = sums[0], sums[1]
        if reduction == "none":
            return losses, total
        return loss / total if reduction == "mean" else loss, total

    return kernel


def _backward(plain: Any) -> Any:
    def kernel(
        xp: Any, g: Any, target: Any, weight: Any, total: Any, shape: Any, reduction: str, ignore_index: int
    ) -> Any:
        if not floating(g) or len(shape) != 2 or 0 in shape:
            return plain(xp, g, target, weight, total, shape, reduction, ignore_index)
        index, shares = _prepared(target, weight, g)
        if reduction == "mean":
            g = np.asarray(g / total, g.dtype)
        out = np.empty(shape, g.dtype)
        each = ready(g).reshape(-1)
        _checked(index, _nll_backward(each, reduction != "none", index, shares, ignore_index, out))
        return out

    return kernel


KERNELS = {"nll_loss_backward": _backward, "nll_loss_flat": _forward}
