"""Queries of the CPU (torch.cpu): there is one, and what is asked of it has been done.

As https://docs.pytorch.org/docs/stable/cpu.html.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .._session import current
from . import amp

__all__ = ["amp", "current_device", "device_count", "is_available", "set_device", "stream", "synchronize"]


def is_available() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``cpu``."""
    return "cpu"


def set_device(device: Any) -> None:
    """Has no effect: a session has one device."""


def synchronize(device: Any = None) -> None:
    """Send what is recorded, and wait until the daemon has answered all of it."""
    current().flush()


def stream(stream: Any) -> AbstractContextManager[None]:
    """A context without effect: what is recorded runs in its order."""
    return nullcontext()
