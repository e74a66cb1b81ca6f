"""Running maxima, minima and sums of exponentials on the device, each in one launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .launch import dense, empty, rows
from .softmaxes import layout
from .sources import REALS


def _takes(a: Any) -> bool:
    return a.dtype.char in REALS and a.ndim > 0 and a.size > 0


def _extreme(name: str) -> Any:
    def native(plain: Any) -> Any:
        def kernel(xp: Any, a: Any, dim: int) -> Any:
            if not _takes(a):
                return plain(xp, a, dim)
            values, places = empty(xp, a.shape, a.dtype), empty(xp, a.shape, np.int64)
            count, n, inner = layout(a.shape, dim)
            rows(xp, name, a.dtype.char, count, n, dense(xp, a), values, places, count, n, inner)
            return values, places

        return kernel

    return native


def _logcumsumexp(plain: Any) -> Any:
    def kernel(xp: Any, a: Any, dim: int) -> Any:
        if not _takes(a):
            return plain(xp, a, dim)
        out = empty(xp, a.shape, a.dtype)
        count, n, inner = layout(a.shape, dim)
        rows(xp, "logcumsumexp", a.dtype.char, count, n, dense(xp, a), out, count, n, inner)
        return out

    return kernel


NATIVE = {"cummax": _extreme("cummax"), "cummin": _extreme("cummin"), "logcumsumexp": _logcumsumexp}
