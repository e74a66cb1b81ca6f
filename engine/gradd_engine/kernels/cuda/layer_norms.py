"""Layer norm and RMS norm on the device."""

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


def _normed(
    xp: Any, input: Any, weight: Any, bias: Any, shape: Sequence[int], eps: float, centred: bool
) -> tuple[Any, Any, Any]:
    """The result, means if `centred`, and reciprocal deviations or root mean squares."""
    kept = input.shape[: input.ndim - len(shape)] + (1,) * len(shape)
    out, rstd = empty(xp, input.shape, input.dtype), empty(xp, kept, input.dtype)
    mean = empty(xp, kept, input.dtype) if centred else None
    n = input.size // rstd.size
    rows(
        xp, "layer_norm", input.dtype.char, rstd.size, n, dense(xp, input), dense(xp, weight),
        dense(xp, bias), out, mean, rstd, rstd.size, n, float(eps),
    )  # fmt: skip
    return out, mean, rstd


def _layer(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, bias: Any, normalized_shape: Any, eps: float) -> Any:
        if not _alike(input, weight, bias):
            return plain(xp, input, weight, bias, normalized_shape=normalized_shape, eps=eps)
        return _normed(xp, input, weight, bias, normalized_shape, eps, True)

    return kernel


def _rms(plain: Any) -> Any:
    def kernel(xp: Any, input: Any, weight: Any, normalized_shape: Any, eps: float) -> Any:
        if not _alike(input, weight):
            return plain(xp, input, weight, normalized_shape=normalized_shape, eps=eps)
        return _normed(xp, input, weight, None, normalized_shape, eps, False)[::2]

    return kernel


def _slopes(
    xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool],
    shape: Sequence[int],
) -> list[Any]:  # fmt: skip
    """The gradients for input, weight and bias that are wanted; `mean` is None for RMS norm."""
    own = input.shape[input.ndim - len(shape) :]
    count, types = rstd.size, input.dtype.char
    n = input.size // count
    g, a, mean, rstd = (dense(xp, t) for t in (grad, input, mean, rstd))
    found = []
    if wanted[0]:
        found.append(empty(xp, input.shape, input.dtype))
        rows(xp, "layer_norm_input", types, count, n, g, a, mean, rstd, dense(xp, weight), found[0], count, n)
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


def _layer_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, wanted: Sequence[bool],
        normalized_shape: Any, eps: float,
    ) -> Any:  # fmt: skip
        if not _alike(input, grad, mean, rstd, weight):
            return plain(xp, grad, input, mean, rstd, weight, wanted, normalized_shape, eps)
        return _slopes(xp, grad, input, mean, rstd, weight, wanted, normalized_shape)

    return kernel


def _rms_backward(plain: Any) -> Any:
    def kernel(
        xp: Any, grad: Any, input: Any, rrms: Any, weight: Any, wanted: Sequence[bool],
        normalized_shape: Any, eps: float,
    ) -> Any:  # fmt: skip
        if not _alike(input, grad, rrms, weight):
            return plain(xp, grad, input, rrms, weight, wanted, normalized_shape, eps)
        return _slopes(xp, grad, input, None, rrms, weight, [*wanted, False], normalized_shape)

    return kernel


def _summed(xp: Any, types: str, part: Any, shape: Sequence[int]) -> Any:
    """The sum of a matrix's rows, in a shape."""
    shares, n = part.shape
    if shares == 1:
        return part.reshape(shape)
    out = empty(xp, shape, np.dtype(types))
    each(xp, "column_sums", types, n, part, out, shares, n)
    return out


NATIVE = {
    "native_layer_norm": _layer,
    "native_layer_norm_backward": _layer_backward,
    "native_rms_norm": _rms,
    "native_rms_norm_backward": _rms_backward,
}
