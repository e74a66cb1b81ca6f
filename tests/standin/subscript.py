"""Subscripts as CuPy reads them: arrays of indices wrap around instead of raising."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Array
from .counting import wait


def _part(k: Any) -> Any:
    if isinstance(k, Array):
        return k._bare
    if isinstance(k, list):
        return np.asarray(k)
    if isinstance(k, slice):
        # each raises its own wait
        return slice(*(int(e) if isinstance(e, Array) else e for e in (k.start, k.stop, k.step)))
    return k


def subscript(shape: tuple[int, ...], key: Any) -> tuple[Any, ...]:
    """The NumPy key that selects what CuPy's does."""
    parts = [_part(k) for k in (key if isinstance(key, tuple) else (key,))]
    takes = [_takes(k) for k in parts]
    if not any(k is Ellipsis for k in parts):
        parts.append(Ellipsis)
        takes.append(0)
    at = 0
    for i, (k, n) in enumerate(zip(parts, takes, strict=True)):
        if k is Ellipsis:
            at += len(shape) - sum(takes)
        elif isinstance(k, np.ndarray) and k.dtype.kind in "iu" and at < len(shape) and shape[at]:
            parts[i] = k % shape[at]
        at += n
    return tuple(parts)


def _takes(k: Any) -> int:
    """How many dimensions a part of a key is for."""
    if k is None or k is Ellipsis or isinstance(k, (bool, np.bool_)):
        return 0
    return k.ndim if isinstance(k, np.ndarray) and k.dtype.kind == "b" else 1


def has_arrays(key: tuple[Any, ...]) -> bool:
    """Whether the selection is a copy."""
    return any(isinstance(k, np.ndarray) for k in key)


def wait_for_masks(key: tuple[Any, ...]) -> None:
    """How many a mask selects is a value."""
    if any(isinstance(k, np.ndarray) and k.dtype.kind == "b" for k in key):
        wait("mask")
