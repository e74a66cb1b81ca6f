"""Queries of the CPU (torch.cpu): there is one, and what is asked of it has been done.

As https://docs.pytorch.org/docs/stable/cpu.html.
"""

from __future__ import annotations

from typing import Any

from .._session import current
from . import amp

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
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


class _Stream:
    """A place in the one order of what is recorded."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Any) -> None:
        """Has no effect: what was recorded before has been done before."""

    def record_event(self) -> None:
        """Has no effect."""

    def wait_event(self, event: Any) -> None:
        """Has no effect."""


class _Event:
    """A moment that is over when it is asked for."""

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Has no effect."""

    def synchronize(self) -> None:
        """Has no effect."""

    def wait(self, stream: Any = None) -> None:
        """Has no effect."""


class _StreamContext:
    """A context without effect: what is recorded runs in its order."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        """The block begins."""

    def __exit__(self, *exc: object) -> None:
        """The block is over."""


Stream, Event, StreamContext = _Stream, _Event, _StreamContext


def current_stream(device: Any = None) -> _Stream:
    """The stream of all that is recorded."""
    return _Stream()


def stream(stream: Any) -> _StreamContext:
    """A context without effect."""
    return _StreamContext(stream)
