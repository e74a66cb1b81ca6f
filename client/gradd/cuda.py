"""CUDA device queries. A session has one device, the daemon's.

As https://pytorch.org/docs/stable/cuda.html.
"""

from __future__ import annotations

from ._session import current


def is_available() -> bool:
    """Whether the current session computes on a GPU."""
    return bool(current().backend.device.type == "cuda")


def device_count() -> int:
    """The number of the current session's GPUs: one or none."""
    return int(is_available())
