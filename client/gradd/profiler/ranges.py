"""record_function: ranges of a script, with their times, while a profile is measured."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

from .._session import MarkedRange

#: the profiles that are being measured
LISTENING: list[list[MarkedRange]] = []


class record_function:
    """Context, or decorator, that names a range of the script in a profile (torch.profiler.record_function).
    Its time is the script's: what it recorded may run later.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._began: list[float] = []

    def __enter__(self) -> record_function:
        self._began.append(perf_counter())
        return self

    def __exit__(self, *exc: object) -> None:
        began = self._began.pop()
        if LISTENING:
            found = MarkedRange(self.name, threading.get_ident(), began, perf_counter())
            for heard in list(LISTENING):
                heard.append(found)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return fn(*args, **kwargs)

        return inside
