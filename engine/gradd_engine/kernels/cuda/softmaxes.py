"""softmax and log_softmax on the device, over any dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import numel
from .launch import dense, empty, rows
from .sources import REALS

if TYPE_CHECKING:
    from collections.abc import Callable


def layout(shape: Any, dim: int) -> tuple[int, int, int]:
    """How many rows an array has along `dim`, how long they are, and how far apart their elements."""
    dim %= len(shape)
    n, inner = shape[dim], numel(shape[dim + 1 :])
    return numel(shape) // n, n, inner


def _takes(*arrays: Any) -> bool:
    a = arrays[0]
    return (
        a.dtype.char in REALS
        and a.ndim > 0
        and a.size > 0
        and all(b.dtype == a.dtype and b.shape == a.shape for b in arrays)
    )


def _over_rows(name: str, *more: int) -> Callable[..., Any]:
    """For ops of one or two arrays and a dimension."""

    def native(plain: Any) -> Any:
        def kernel(xp: Any, *given: Any, dim: int | None = None) -> Any:
            *arrays, along = (*given, dim) if dim is not None else given
            if not _takes(*arrays):
                return plain(xp, *arrays, along)
            out = empty(xp, arrays[0].shape, arrays[0].dtype)
            count, n, inner = layout(out.shape, along)
            moved = [dense(xp, a) for a in arrays]
            rows(xp, name, out.dtype.char, count, n, *moved, out, count, n, inner, *more)
            return out

        return kernel

    return native


def _safe(plain: Any) -> Any:
    over_last = _over_rows("softmax", 1)(lambda xp, a, dim: plain(xp, a))
    return lambda xp, input: over_last(xp, input, -1)


NATIVE = {
    "log_softmax_backward": _over_rows("log_softmax_backward"),
    "log_softmax_kernel": _over_rows("log_softmax"),
    "safe_softmax": _safe,
    "softmax_backward": _over_rows("softmax_backward"),
    "softmax_kernel": _over_rows("softmax", 0),
}
