"""Compiled batch and group norm, and what their gradients are made of, on rows of one channel of one image.

Sums of a row are in float64 once it is done, and those of a channel's or group's rows are added in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .native import DOUBLE, DOUBLES, INT64, REORDER, compiled, wide
from .threads import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: elements of a row from which rows are worth it
_LONG = 16
#: elements that a thread takes at a time
_SHARE = 1 << 16


@compiled(2, 2, 1, 1, DOUBLES, DOUBLES, fastmath=REORDER)
def _slopes(g: Any, a: Any, mean: Any, rstd: Any, totals: Any, alongs: Any) -> None:
    """Sums of the gradient, and of its products with the standardised input."""
    wide()
    for i in range(a.shape[0]):
        slope, row, middle = g[i], a[i], mean[i]
        total = along = a.dtype.type(0)
        for j in range(row.size):
            total += slope[j]
            along += slope[j] * ((row[j] - middle) * rstd[i])
        totals[i], alongs[i] = total, along


@compiled(2, 1, 1, INT64, INT64, INT64, INT64, INT64, DOUBLE, 1, 1, 1, 2, fastmath=REORDER)
def _normalise(
    a: Any, weight: Any, bias: Any, begin: int, end: int, apart: int, step: int, count: int, eps: float,
    means: Any, variances: Any, rstds: Any, out: Any,
) -> None:  # fmt: skip
    """Rows standardised by the statistics of each from `begin` to `end`, times weight plus bias.

    The rows of number k are `count` from ``k * apart`` on, each `step` after the last. Between the passes
    they stay in the cache.
    """
    wide()
    number = a.dtype.type
    channels = weight.size
    size = count * a.shape[1]
    for k in range(begin, end):
        whole = 0.0
        for r in range(count):
            row, total = a[k * apart + r * step], number(0)
            for j in range(row.size):
                total += row[j]
            whole += total
        mean = number(whole / size)
        whole = 0.0
        for r in range(count):
            row, total = a[k * apart + r * step], number(0)
            for j in range(row.size):
                away = row[j] - mean
                total += away * away
            whole += total
        variance = number(whole / size)
        rstd = number(1) / np.sqrt(variance + number(eps))
        means[k], variances[k], rstds[k] = mean, variance, rstd
        for r in range(count):
            i = k * apart + r * step
            row, found = a[i], out[i]
            times = rstd * weight[i % channels] if channels else rstd
            plus = bias[i % bias.size] if bias.size else number(0)
            for j in range(row.size):
                found[j] = (row[j] - mean) * times + plus


@compiled(2, 1, 1, 2)
def _standard(a: Any, mean: Any, rstd: Any, out: Any) -> None:
    wide()
    for i in range(a.shape[0]):
        row, found, middle, scale = a[i], out[i], mean[i], rstd[i]
        for j in range(row.size):
            found[j] = (row[j] - middle) * scale


@compiled(2, 2, 1, 1, 1, 1, 1, 2)
def _back(g: Any, a: Any, mean: Any, rstd: Any, weight: Any, total: Any, along: Any, out: Any) -> None:
    wide()
    for i in range(a.shape[0]):
        slope, row, found = g[i], a[i], out[i]
        middle, scale, less, part, times = mean[i], rstd[i], total[i], along[i], weight[i]
        for j in range(row.size):
            found[j] = (slope[j] * times - less - (row[j] - middle) * scale * part) * scale


def _by_rows(fn: Callable[..., None], first: Any, *others: Any) -> None:
    """Call ``fn`` on shares of the rows of all arrays."""
    rows, n = first.shape
    step = max(1, _SHARE // n)
    if rows <= step:
        fn(first, *others)
        return

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            some = slice(number * step, (number + 1) * step)
            fn(first[some], *[a[some] for a in others])

    share(np, -(-rows // step), first.size, work)


class _Rows:
    """What the rows of an array [outer, kept, inner] have in common: one statistic for all rows of a `kept`.

    `kept` may be all there is before `inner`, with an `outer` of 1.
    """

    def __init__(self, a: Any, outer: int, kept: int) -> None:
        self.outer, self.kept = outer, kept
        self.rows = ready(a).reshape(outer * kept, -1)
        self.count = max(a.size // kept, 1)

    def each(self, statistic: Any) -> Any:
        """A statistic of each kept one, as one for each row."""
        flat = np.ascontiguousarray(statistic, self.rows.dtype).reshape(-1)
        return np.tile(flat, self.outer) if self.outer > 1 else flat

    def means(self, sums: Any) -> Any:
        """The mean of each kept one from its rows' sums in float64."""
        together = sums.reshape(self.outer, self.kept).sum(axis=0) if self.outer > 1 else sums
        return (together / self.count).astype(self.rows.dtype)


def _fitting(a: Any, dims: Any) -> _Rows | None:
    """The rows of a float array with statistics over `dims`: the last, or all but the second; else None."""
    over = sorted(d % a.ndim for d in dims) if a.ndim else []
    if not floating(a) or not a.size or not over:
        return None
    last = a.ndim - len(over)
    if over == list(range(last, a.ndim)):
        outer, kept = 1, numel(a.shape[:last])
    elif over == [0, *range(2, a.ndim)]:
        outer, kept = a.shape[:2]
    else:
        return None
    return _Rows(a, outer, kept) if a.size >= _LONG * outer * kept else None


def _normalised(
    rows: Any, weight: Any, bias: Any, units: int, apart: int, step: int, eps: float
) -> tuple[Any, Any, Any, Any]:
    """What `_normalise` makes of all rows: the results, then mean, variance and reciprocal deviation of each
    of the `units`."""
    none = np.empty(0, rows.dtype)
    weight, bias = (none if t is None else ready(t) for t in (weight, bias))
    out, kept = np.empty(rows.shape, rows.dtype), np.empty((3, units), rows.dtype)
    mean, variance, rstd = kept
    count = len(rows) // units
    many = max(1, _SHARE // max(rows.size // units, 1))
    if units <= many:
        _normalise(rows, weight, bias, 0, units, apart, step, count, eps, mean, variance, rstd, out)
        return out, mean, variance, rstd

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            begin, end = number * many, min((number + 1) * many, units)
            _normalise(rows, weight, bias, begin, end, apart, step, count, eps, mean, variance, rstd, out)

    share(np, -(-units // many), rows.size, work)
    return out, mean, variance, rstd


def _alike(a: Any, *others: Any) -> bool:
    return all(t is None or t.dtype is a.dtype for t in others)


def _fits(input: Any, *others: Any) -> bool:
    """Whether channels of images are rows that are worth it, of a float type that the others have."""
    n, channels = input.shape[:2]
    long = input.ndim > 2 and input.size and input.size >= _LONG * n * channels
    return bool(long and floating(input) and _alike(input, *others))


def _batch_norm(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, momentum: float,
        eps: float,
    ) -> Any:  # fmt: skip
        if input.ndim < 2 or not _fits(input, weight, bias):
            return plain(
                xp, input, weight, bias, running_mean, running_var, momentum=momentum, eps=eps
            )  # fmt: skip
        n, channels = input.shape[:2]
        rows = ready(input).reshape(n * channels, -1)
        out, mean, variance, rstd = _normalised(rows, weight, bias, channels, 1, channels, eps)
        if running_mean is not None:
            running_mean[...] = running_mean * (1 - momentum) + mean * momentum
        if running_var is not None:
            count = input.size // channels
            running_var[...] = (
                running_var * (1 - momentum) + variance * (count / max(count - 1, 1)) * momentum
            )
        shape = (1, channels) + (1,) * (input.ndim - 2)
        return out.reshape(input.shape), mean.reshape(shape), rstd.reshape(shape)

    return kernel


def _group_norm(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, bias: Any, num_groups: int, eps: float) -> Any:
        n, channels = input.shape[:2]
        if not _fits(input, weight, bias):
            return plain(xp, input, weight, bias, num_groups=num_groups, eps=eps)
        rows = ready(input).reshape(n * channels, -1)
        out, mean, _, rstd = _normalised(rows, weight, bias, n * num_groups, channels // num_groups, 1, eps)
        kept = (n, num_groups, 1)
        return out.reshape(input.shape), mean.reshape(kept), rstd.reshape(kept)

    return kernel


def _standardized(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, mean: Any, rstd: Any, dims: Any, eps: float) -> Any:
        x = _fitting(input, dims) if _alike(input, mean, rstd) else None
        if x is None:
            return plain(xp, input, mean, rstd, dims=dims, eps=eps)
        out = np.empty(input.shape, input.dtype)
        _by_rows(_standard, x.rows, x.each(mean), x.each(rstd), out.reshape(x.rows.shape))
        return out

    return kernel


def _standardize_backward(plain: Any) -> Any:
    def kernel(xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, dims: Any, eps: float) -> Any:
        x = _fitting(input, dims) if _alike(input, grad, mean, rstd) else None
        if x is None:
            return plain(xp, grad, input, mean, rstd, dims=dims, eps=eps)
        g, own, scale = ready(grad).reshape(x.rows.shape), x.each(mean), x.each(rstd)
        totals, alongs = np.empty(len(g)), np.empty(len(g))
        _by_rows(_slopes, g, x.rows, own, scale, totals, alongs)
        total, along = x.each(x.means(totals)), x.each(x.means(alongs))
        out = np.empty(input.shape, input.dtype)
        ones = np.ones(len(g), g.dtype)
        _by_rows(_back, g, x.rows, own, scale, ones, total, along, out.reshape(g.shape))
        return out

    return kernel


def _backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Any, groups: int,
        eps: float,
    ) -> Any:  # fmt: skip
        n, channels = input.shape[:2]
        a = input.reshape(n, groups, -1) if groups and input.size else input
        x = None
        if input.size >= _LONG * n * channels and _alike(input, grad, mean, rstd, weight):
            x = _fitting(a, (2,) if groups else (0, *range(2, a.ndim)))
        if x is None:
            return plain(xp, grad, input, mean, rstd, weight, wanted=wanted, groups=groups, eps=eps)
        rows = x.rows.reshape(n * channels, -1)
        g = ready(grad).reshape(rows.shape)
        each = channels // groups if groups else 1
        own, scale = (np.repeat(x.each(t), each) if each > 1 else x.each(t) for t in (mean, rstd))
        totals, alongs = np.empty(len(g)), np.empty(len(g))
        _by_rows(_slopes, g, rows, own, scale, totals, alongs)
        found = []
        if wanted[0]:
            times = np.ones(len(g), g.dtype) if weight is None else np.tile(ready(weight), n)
            less, part = (
                x.each(x.means((sums * times).reshape(-1, each).sum(axis=1) if each > 1 else sums * times))
                for sums in (totals, alongs)
            )
            if each > 1:
                less, part = np.repeat(less, each), np.repeat(part, each)
            out = np.empty(input.shape, input.dtype)
            _by_rows(_back, g, rows, own, scale, times, less, part, out.reshape(g.shape))
            found.append(out)
        for sums, yes in ((alongs, wanted[1]), (totals, wanted[2])):
            if yes:
                found.append(sums.reshape(n, channels).sum(axis=0).astype(g.dtype))
        return found

    return kernel


KERNELS = {
    "channel_norm_backward": _backward,
    "native_batch_norm": _batch_norm,
    "native_group_norm": _group_norm,
    "standardize_backward": _standardize_backward,
    "standardized": _standardized,
}
