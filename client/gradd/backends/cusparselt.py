"""NVIDIA's cuSPARSELt, which no kernel here uses. As https://docs.pytorch.org/docs/stable/backends.html."""

from __future__ import annotations


def is_available() -> bool:
    """False: nothing is computed by it."""
    return False
