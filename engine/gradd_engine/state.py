"""What is ambient in one thread: gradient mode, forward-mode level, nesting of ops, default backend, random
stream, memory account.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from .backends import Backend
    from .memory import Account
    from .rng import Generator


class _State(threading.local):
    grad: bool = True
    level: int = -1
    depth: int = 0
    #: floating-point warnings are off around everything that runs: kernels need not turn them off one by one
    quiet: bool = False
    backend: Backend | None = None
    generator: Generator | None = None
    account: Account | None = None


state = _State()


@contextmanager
def quiet_kernels() -> Iterator[None]:
    """Infinities and NaNs are results, not warnings: said once around many kernels."""
    with np.errstate(all="ignore"), ambient(quiet=True):
        yield


class ambient:
    """Context manager that sets attributes of the thread's state and restores them, also after exceptions."""

    __slots__ = ("_new", "_old")

    def __init__(self, **new: Any) -> None:
        self._new = new
        self._old: dict[str, Any] = {}

    def __enter__(self) -> None:
        self._old = {k: getattr(state, k) for k in self._new}
        for k, v in self._new.items():
            setattr(state, k, v)

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        for k, v in self._old.items():
            setattr(state, k, v)
