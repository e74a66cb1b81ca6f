"""The CPU. As https://docs.pytorch.org/docs/stable/backends.html#torch-backends-cpu."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """``DEFAULT``: it is the daemon's CPU that computes, and its kernels choose for themselves."""
    return "DEFAULT"
