"""Compiled element-wise kernels that choose or bound: where, masked_fill, clamp, leaky_relu; and exp and
the slopes of squares.

NumPy's own take a branch for each element of a mask, or several passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import numel
from .arrays import FEW, alike, by_pieces, floating, ready, unary
from .maths import exp_sum
from .native import BYTES, REAL, compiled, wide


@compiled(1, 1)
def _exp(a: Any, out: Any) -> None:
    wide()
    zero = a.dtype.type(0)
    for i in range(a.size):
        out[i] = exp_sum(a[i], zero)


@compiled(1, REAL, 1)
def _leaky(a: Any, slope: Any, out: Any) -> None:
    zero = a.dtype.type(0)
    for i in range(a.size):
        out[i] = a[i] if a[i] > zero else a[i] * slope


@compiled(1, REAL, REAL, 1)
def _clamp(a: Any, low: Any, high: Any, out: Any) -> None:
    for i in range(a.size):
        # nan is neither below nor above
        x = low if a[i] < low else a[i]
        out[i] = high if x > high else x


@compiled(BYTES, 1, 1, 1)
def _choose(mask: Any, a: Any, b: Any, out: Any) -> None:
    for i in range(mask.size):
        out[i] = a[i] if mask[i] else b[i]


@compiled(BYTES, 1, REAL, 1)
def _choose_or(mask: Any, a: Any, b: Any, out: Any) -> None:
    for i in range(mask.size):
        out[i] = a[i] if mask[i] else b


@compiled(BYTES, REAL, 1, 1)
def _fill(mask: Any, a: Any, b: Any, out: Any) -> None:
    for i in range(mask.size):
        out[i] = a if mask[i] else b[i]


@compiled(1, 1, 1, 1)
def _square_slopes(g: Any, a: Any, b: Any, out: Any) -> None:
    two = a.dtype.type(2)
    if g.size == a.size:
        for i in range(a.size):
            out[i] = (a[i] - b[i]) * two * g[i]
    else:
        one = g[0]
        for i in range(a.size):
            out[i] = (a[i] - b[i]) * two * one


def _chosen(mask: Any, a: Any, b: Any) -> Any:
    """np.where of a mask and two of one float type, each an array of one shape or a single number; None where
    they are something else."""
    like = a if np.ndim(a) else b
    shape = np.shape(like)
    if mask.dtype.kind != "b" or numel(shape) < FEW or mask.ndim > len(shape) or not floating(like):
        return None
    if not all(_alike(x, like) for x in (a, b)):
        return None
    if mask.shape != shape:
        if any(m not in (1, n) for m, n in zip(mask.shape[::-1], shape[::-1], strict=False)):
            return None
        mask = np.broadcast_to(mask, shape)
    bits, out = ready(mask).reshape(-1).view(np.uint8), np.empty(shape, like.dtype)
    flat = out.reshape(-1)
    if np.ndim(a) and np.ndim(b):
        by_pieces(_choose, bits, ready(a).reshape(-1), ready(b).reshape(-1), flat)
    elif np.ndim(a):
        one = like.dtype.type(b)
        by_pieces(lambda m, x, o: _choose_or(m, x, one, o), bits, ready(a).reshape(-1), flat)
    elif np.ndim(b):
        one = like.dtype.type(a)
        by_pieces(lambda m, x, o: _fill(m, one, x, o), bits, ready(b).reshape(-1), flat)
    else:
        return None
    return out


def _alike(x: Any, like: Any) -> bool:
    """Whether `x` is an array of the shape and dtype of `like`, or a real number that becomes one."""
    if np.ndim(x):
        return bool(x.shape == like.shape and x.dtype is like.dtype)
    return type(x) in (bool, int, float) or getattr(x, "dtype", None) is like.dtype


def _where(plain: Any) -> Any:
    def kernel(xp: Any, condition: Any, a: Any, b: Any) -> Any:
        found = _chosen(condition, a, b)
        return plain(xp, condition, a, b) if found is None else found

    return kernel


def _masked_fill(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, mask: Any, value: Any) -> Any:
        if floating(a) and not isinstance(value, complex) and np.ndim(value) == 0:
            number = np.asarray(value)
            found = _chosen(mask, number.astype(a.dtype), a) if number.dtype.kind in "fiub" else None
            if found is not None:
                return found
        return plain(xp, a, mask, value)

    return kernel


def _leaky_relu(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, negative_slope: float) -> Any:
        if a.size < FEW or not floating(a):
            return plain(xp, a, negative_slope)
        out = np.empty(a.shape, a.dtype)
        slope = a.dtype.type(negative_slope)
        by_pieces(lambda x, o: _leaky(x, slope, o), ready(a).reshape(-1), out.reshape(-1))
        return out

    return kernel


def _clamped(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, low: Any, high: Any) -> Any:
        ends = [end for end in (low, high) if end is not None]
        # a bound that is nan makes all nan
        if (
            a.size < FEW
            or not floating(a)
            or any(np.ndim(e) or e.dtype is not a.dtype or e != e for e in ends)
        ):
            return plain(xp, a, low, high)
        out, number = np.empty(a.shape, a.dtype), a.dtype.type
        least, most = number(-np.inf if low is None else low), number(np.inf if high is None else high)
        by_pieces(lambda x, o: _clamp(x, least, most, o), ready(a).reshape(-1), out.reshape(-1))
        return out

    return kernel


def _mse_backward(plain: Any) -> Any:
    def kernel(xp: Any, g: Any, a: Any, b: Any) -> Any:
        if a.size < FEW or not alike(a, b) or g.dtype is not a.dtype or g.shape not in ((), a.shape):
            return plain(xp, g, a, b)
        out, slopes = np.empty(a.shape, a.dtype), ready(g).reshape(-1)
        flat = ready(a).reshape(-1), ready(b).reshape(-1), out.reshape(-1)
        if g.ndim:
            by_pieces(_square_slopes, slopes, *flat)
        else:
            by_pieces(lambda x, y, o: _square_slopes(slopes, x, y, o), *flat)
        return out

    return kernel


KERNELS = {
    "clamp": _clamped,
    "exp": unary(_exp, FEW),
    "leaky_relu": _leaky_relu,
    "masked_fill": _masked_fill,
    "mse_loss_backward": _mse_backward,
    "where": _where,
}
