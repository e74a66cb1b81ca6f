"""Layer norm on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .launch import WARP, dense, each, empty, launch, rows
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: rows that a block sums into one, unless there are too many blocks
SHARE, MOST_SHARES = 256, 1024


def _alike(input: Any, *others: Any) -> bool:
    """Whether there is a kernel for the arrays, each of the input's dtype or None."""
    return (
        input.dtype.char in REALS
        and input.size > 0
        and all(t is None or t.dtype == input.dtype for t in others)
    )


def _forward(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, bias: Any, normalized_shape: Any, eps: float) -> Any:
        if not _alike(input, weight, bias):
            return plain(xp, input, weight, bias, normalized_shape=normalized_shape, eps=eps)
        outer = input.ndim - len(normalized_shape)
        kept = input.shape[:outer] + (1,) * len(normalized_shape)
        out, mean, rstd = (empty(xp, s, input.dtype) for s in (input.shape, kept, kept))
        n = input.size // mean.size
        rows(
            xp, "layer_norm", input.dtype.char, mean.size, n, dense(xp, input), dense(xp, weight),
            dense(xp, bias), out, mean, rstd, mean.size, n, float(eps),
        )  # fmt: skip
        return out, mean, rstd

    return kernel


def _backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool],
        normalized_shape: Any, eps: float,
    ) -> Any:  # fmt: skip
        if not _alike(input, grad, mean, rstd, weight):
            return plain(xp, grad, input, mean, rstd, weight, wanted, normalized_shape, eps)
        own = input.shape[input.ndim - len(normalized_shape) :]
        count, types = mean.size, input.dtype.char
        n = input.size // count
        g, a, mean, rstd = (dense(xp, t) for t in (grad, input, mean, rstd))
        found = []
        if wanted[0]:
            found.append(empty(xp, input.shape, input.dtype))
            rows(
                xp, "layer_norm_input", types, count, n, g, a, mean, rstd, dense(xp, weight), found[0], count,
                n,
            )  # fmt: skip
        if wanted[1] or wanted[2]:
            shares = min(MOST_SHARES, -(-count // SHARE)) if count > 2 * SHARE else 1
            most = -(-count // shares)
            shares = -(-count // most)
            parts = [empty(xp, (shares, n), input.dtype) if yes else None for yes in wanted[1:]]
            launch(
                xp, "layer_norm_columns", types, (-(-n // WARP), shares), 8 * WARP if most > 8 else WARP, g,
                a, mean, rstd, *parts, count, n, most,
            )  # fmt: skip
            found += [_summed(xp, types, part, own) for part in parts if part is not None]
        return found

    return kernel


def _summed(xp: Any, types: str, part: Any, shape: Sequence[int]) -> Any:
    """The sum of a matrix's rows, in a shape."""
    shares, n = part.shape
    if shares == 1:
        return part.reshape(shape)
    out = empty(xp, shape, np.dtype(types))
    each(xp, "column_sums", types, n, part, out, shares, n)
    return out


NATIVE = {"native_layer_norm": _forward, "native_layer_norm_backward": _backward}
