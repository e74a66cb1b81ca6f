"""Switches of a profiler of NVIDIA's (torch.cuda.profiler): it would have to run where the daemon runs.

`Session.profile` and `gradd.profiler` tell what a session does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._devices import want

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Has no effect. AssertionError without a GPU."""
    want()


def stop() -> None:
    """Has no effect. AssertionError without a GPU."""
    want()


@contextmanager
def profile() -> Iterator[None]:
    """A context around `start` and `stop`."""
    start()
    try:
        yield
    finally:
        stop()
