"""Apple's GPUs, which no kernel here uses. As https://docs.pytorch.org/docs/stable/backends.html."""

from __future__ import annotations


def is_available() -> bool:
    """False: nothing is computed by it."""
    return False


def is_built() -> bool:
    """False: nothing is computed by it."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """RuntimeError: there is no such GPU."""
    raise RuntimeError("Cannot execute isOnMacOSorNewer() without MPS backend.")


def is_macos13_or_newer(minor: int = 0) -> bool:
    """RuntimeError: there is no such GPU."""
    return is_macos_or_newer(13, minor)
