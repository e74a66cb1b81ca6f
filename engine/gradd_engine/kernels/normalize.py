"""Layer norm and its gradients, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import floating, ready
from .native import BOOL, DOUBLE, REORDER, compiled, wide


@compiled(2, 1, 1, DOUBLE, 2, 1, 1, fastmath=REORDER)
def _layer(a: Any, weight: Any, bias: Any, eps: float, out: Any, means: Any, rstds: Any) -> None:
    wide()
    rows, n = a.shape
    number = a.dtype.type
    count, least = number(n), number(eps)
    for i in range(rows):
        row, result = a[i], out[i]
        total = number(0)
        for j in range(n):
            total += row[j]
        mean = total / count
        spread = number(0)
        for j in range(n):
            away = row[j] - mean
            spread += away * away
        rstd = number(1) / np.sqrt(spread / count + least)
        means[i], rstds[i] = mean, rstd
        if weight.size and bias.size:
            for j in range(n):
                result[j] = (row[j] - mean) * rstd * weight[j] + bias[j]
        elif weight.size:
            for j in range(n):
                result[j] = (row[j] - mean) * rstd * weight[j]
        else:
            for j in range(n):
                result[j] = (row[j] - mean) * rstd + (bias[j] if bias.size else number(0))


@compiled(2, 2, 1, 1, 1, BOOL, 2, 1, 1, fastmath=REORDER)
def _layer_backward(
    g: Any, a: Any, means: Any, rstds: Any, weight: Any, inner: bool, out: Any, for_weight: Any, for_bias: Any
) -> None:
    """Gradients for the input if `inner`, and for weight and bias unless their outputs are empty."""
    wide()
    rows, n = a.shape
    number = a.dtype.type
    count = number(n)
    for j in range(for_weight.size):
        for_weight[j] = 0
    for j in range(for_bias.size):
        for_bias[j] = 0
    for i in range(rows):
        slope, row = g[i], a[i]
        mean, rstd = means[i], rstds[i]
        if inner:
            result = out[i]
            total = along = number(0)
            if weight.size:
                for j in range(n):
                    s = slope[j] * weight[j]
                    total += s
                    along += s * ((row[j] - mean) * rstd)
            else:
                for j in range(n):
                    total += slope[j]
                    along += slope[j] * ((row[j] - mean) * rstd)
            total /= count
            along /= count
            if weight.size:
                for j in range(n):
                    result[j] = (slope[j] * weight[j] - total - (row[j] - mean) * rstd * along) * rstd
            else:
                for j in range(n):
                    result[j] = (slope[j] - total - (row[j] - mean) * rstd * along) * rstd
        if for_weight.size:
            for j in range(n):
                for_weight[j] += slope[j] * ((row[j] - mean) * rstd)
        if for_bias.size:
            for j in range(n):
                for_bias[j] += slope[j]


def _native_layer_norm(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, bias: Any, normalized_shape: Any, eps: float) -> Any:
        given = [t for t in (weight, bias) if t is not None]
        if not floating(input) or not input.size or any(t.dtype is not input.dtype for t in given):
            return plain(xp, input, weight, bias, normalized_shape=normalized_shape, eps=eps)
        a, none = ready(input), np.empty(0, input.dtype)
        outer = input.ndim - len(normalized_shape)
        kept = input.shape[:outer] + (1,) * len(normalized_shape)
        out, mean, rstd = np.empty_like(a), np.empty(kept, a.dtype), np.empty(kept, a.dtype)
        rows = a.reshape(mean.size, -1)
        _layer(
            rows, none if weight is None else ready(weight).reshape(-1),
            none if bias is None else ready(bias).reshape(-1), float(eps), out.reshape(rows.shape),
            mean.reshape(-1), rstd.reshape(-1),
        )  # fmt: skip
        return out, mean, rstd

    return kernel


def _native_layer_norm_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Any,
        normalized_shape: Any, eps: float,
    ) -> Any:  # fmt: skip
        given = [grad, mean, rstd, *([] if weight is None else [weight])]
        if not floating(input) or not input.size or any(t.dtype is not input.dtype for t in given):
            return plain(xp, grad, input, mean, rstd, weight, wanted, normalized_shape, eps)
        none = np.empty(0, input.dtype)
        shape = input.shape[input.ndim - len(normalized_shape) :]
        outs = [
            np.empty(s, input.dtype) if yes else None
            for s, yes in zip((input.shape, shape, shape), wanted, strict=True)
        ]
        rows = ready(input).reshape(mean.size, -1)
        inner, for_weight, for_bias = (none if o is None else o.reshape(-1) for o in outs)
        _layer_backward(
            ready(grad).reshape(rows.shape), rows, ready(mean).reshape(-1), ready(rstd).reshape(-1),
            none if weight is None else ready(weight).reshape(-1), wanted[0],
            inner.reshape(rows.shape) if wanted[0] else rows[:0], for_weight, for_bias,
        )  # fmt: skip
        return [o for o in outs if o is not None]

    return kernel


KERNELS = {
    "native_layer_norm": _native_layer_norm,
    "native_layer_norm_backward": _native_layer_norm_backward,
}
