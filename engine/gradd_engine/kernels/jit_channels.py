"""Compiled batch and group norm, and what their gradients are made of, on rows of one channel of one image.

Sums of a row are in float64 once it is done, and those of a channel's or group's rows are added in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import numel
from .arrays import floating, ready
from .native import DOUBLES, REORDER, compiled, wide
from .threads import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: elements of a row from which rows are worth it
_LONG = 16
#: elements that a thread takes at a time
_SHARE = 1 << 16


@compiled(2, DOUBLES, fastmath=REORDER)
def _totals(a: Any, out: Any) -> None:
    wide()
    for i in range(a.shape[0]):
        row, total = a[i], a.dtype.type(0)
        for j in range(row.size):
            total += row[j]
        out[i] = total


@compiled(2, 1, DOUBLES, fastmath=REORDER)
def _spreads(a: Any, mean: Any, out: Any) -> None:
    """Sums of squared distances from the means."""
    wide()
    for i in range(a.shape[0]):
        row, middle, total = a[i], mean[i], a.dtype.type(0)
        for j in range(row.size):
            away = row[j] - middle
            total += away * away
        out[i] = total


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


@compiled(2, 1, 1, 1, 1, 2)
def _affine(a: Any, mean: Any, rstd: Any, weight: Any, bias: Any, out: Any) -> None:
    wide()
    for i in range(a.shape[0]):
        row, found, middle, scale, times, plus = a[i], out[i], mean[i], rstd[i], weight[i], bias[i]
        for j in range(row.size):
            found[j] = (row[j] - middle) * scale * times + plus


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


def _statistics(x: _Rows, eps: float) -> tuple[Any, Any, Any]:
    """Mean, biased variance and reciprocal deviation of each kept one."""
    sums = np.empty(len(x.rows))
    _by_rows(_totals, x.rows, sums)
    mean = x.means(sums)
    _by_rows(_spreads, x.rows, x.each(mean), sums)
    variance = x.means(sums)
    number = x.rows.dtype.type
    return mean, variance, number(1) / np.sqrt(variance + number(eps))


def _scaled(a: Any, mean: Any, rstd: Any, weight: Any, bias: Any, repeats: int) -> Any:
    """Rows of the channels of images, standardised by a mean and deviation each, times weight plus bias."""
    rows = ready(a).reshape(a.shape[0] * a.shape[1], -1)
    times, plus = (
        np.tile(np.full(a.shape[1], fill, a.dtype) if t is None else ready(t).reshape(-1), a.shape[0])
        for t, fill in ((weight, 1), (bias, -0.0))
    )
    out = np.empty(a.shape, a.dtype)
    own = mean if repeats == 1 else np.repeat(mean, repeats)
    scale = rstd if repeats == 1 else np.repeat(rstd, repeats)
    _by_rows(_affine, rows, own, scale, times, plus, out.reshape(rows.shape))
    return out


def _alike(a: Any, *others: Any) -> bool:
    return all(t is None or t.dtype is a.dtype for t in others)


def _batch_norm(plain: Any) -> Any:
    def kernel(
        xp: Any, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, momentum: float,
        eps: float,
    ) -> Any:  # fmt: skip
        x = None
        if input.ndim > 2 and _alike(input, weight, bias):
            x = _fitting(input, (0, *range(2, input.ndim)))
        if x is None:
            return plain(
                xp, input, weight, bias, running_mean, running_var, momentum=momentum, eps=eps
            )  # fmt: skip
        mean, variance, rstd = _statistics(x, eps)
        unbiased = variance * (x.count / max(x.count - 1, 1))
        for kept, new in ((running_mean, mean), (running_var, unbiased)):
            if kept is not None:
                kept[...] = kept * (1 - momentum) + new * momentum
        shape = (1, -1) + (1,) * (input.ndim - 2)
        out = _scaled(input, x.each(mean), x.each(rstd), weight, bias, 1)
        return out, mean.reshape(shape), rstd.reshape(shape)

    return kernel


def _group_norm(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, bias: Any, num_groups: int, eps: float) -> Any:
        n, channels = input.shape[:2]
        if input.size < _LONG * n * channels or not input.size or not _alike(input, weight, bias):
            return plain(xp, input, weight, bias, num_groups=num_groups, eps=eps)
        x = _fitting(input.reshape(n, num_groups, -1), (2,))
        if x is None:
            return plain(xp, input, weight, bias, num_groups=num_groups, eps=eps)
        mean, _, rstd = _statistics(x, eps)
        out = _scaled(input, mean, rstd, weight, bias, channels // num_groups)
        return out, mean.reshape(n, num_groups, 1), rstd.reshape(n, num_groups, 1)

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
