"""Marks for a profiler of NVIDIA's (torch.cuda.nvtx): nobody here reads them, so they have no effect.

`gradd.profiler.record_function` marks what a session's own profile shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_open: list[str] = []


def range_push(msg: str) -> int:
    """Begin a range; returns how many were open."""
    _open.append(msg)
    return len(_open) - 1


def range_pop() -> int:
    """End the innermost range; returns how many remain open, -1 where none was."""
    if not _open:
        return -1
    _open.pop()
    return len(_open)


def range_start(msg: str) -> int:
    """Begin a range that may overlap others; returns its number, always 0."""
    return 0


def range_end(range_id: int) -> None:
    """End a range that `range_start` began."""


def mark(msg: str) -> None:
    """Mark a moment."""


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A context, or decorator, that is a range."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
