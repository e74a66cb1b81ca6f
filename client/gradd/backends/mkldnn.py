"""oneDNN, which no kernel here uses. As https://docs.pytorch.org/docs/stable/backends.html."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
allow_tf32 = True
deterministic = False


def is_available() -> bool:
    """False: nothing is computed by it."""
    return False


def set_flags(
    _enabled: bool | None = None, _deterministic: bool | None = None, _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple[bool, bool, bool]:  # fmt: skip
    """Set those that are given; what all were before."""
    global enabled, deterministic, allow_tf32
    before = enabled, deterministic, allow_tf32
    enabled = before[0] if _enabled is None else _enabled
    deterministic = before[1] if _deterministic is None else _deterministic
    allow_tf32 = before[2] if _allow_tf32 is None else _allow_tf32
    return before


@contextmanager
def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True) -> Iterator[None]:
    """Set them within a block."""
    before = set_flags(enabled, deterministic, allow_tf32)
    try:
        yield
    finally:
        set_flags(*before)
