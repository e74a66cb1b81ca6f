"""New tensors in the current session, for layers and their initial values."""

from __future__ import annotations

from typing import Any

from .._surface import namespace

_TOP = namespace("")


def empty(size: tuple[int, ...], dtype: Any = None) -> Any:
    """A tensor with arbitrary values."""
    return _TOP["empty"](size, dtype=dtype)


def zeros(size: tuple[int, ...], dtype: Any = None) -> Any:
    """Zeros of `size`."""
    return _TOP["zeros"](size, dtype=dtype)


def ones(size: tuple[int, ...], dtype: Any = None) -> Any:
    """Ones of `size`."""
    return _TOP["ones"](size, dtype=dtype)
