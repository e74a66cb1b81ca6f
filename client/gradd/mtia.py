"""Meta's accelerators, which no session computes on. As https://docs.pytorch.org/docs/stable/mtia.html."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "is_initialized"]


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0
