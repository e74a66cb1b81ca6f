"""Device queries of any kind. A session has one device, the daemon's.

As https://pytorch.org/docs/stable/accelerator.html.
"""

from __future__ import annotations

from gradd_engine.data import Device

from ._session import current
from .cuda import device_count, is_available

__all__ = ["current_accelerator", "device_count", "is_available"]


def current_accelerator(check_available: bool = False) -> Device | None:
    """The kind of the current session's GPU, None on a CPU."""
    return Device(current().backend.device.type) if is_available() else None
