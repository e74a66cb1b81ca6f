"""How long the SDK waits: for a silent daemon, for one that is away, and in all, in seconds."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import TYPE_CHECKING, TypeVar

from gradd_engine.progress import Line

from .base import Overdue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

_T = TypeVar("_T")

#: timeouts for opening and closing a connection
OPEN, CLOSE = 5.0, 2.0
#: a wait is cut into pieces of this length: a signal that comes between Python's last look for signals and
#: the call that waits does not end that call
HEED = 0.5
#: after how many seconds a wait for an answer is shown
SLOW = 3.0
#: for how long a session that is being closed tries to reach a daemon that is away
CLOSING = 5.0
#: when the waits of this thread end
_end: ContextVar[float] = ContextVar("gradd_end", default=inf)


def silence() -> float:
    """Longest silence of a daemon: half of it until it is probed, half for its answer. A daemon that computes
    does answer. $GRADD_SILENCE_SECONDS, default 20.
    """
    return _seconds("GRADD_SILENCE_SECONDS", 20.0)


def reconnect() -> float:
    """How long to try to reconnect to a daemon. $GRADD_RECONNECT, default 300."""
    return _seconds("GRADD_RECONNECT", 300.0)


def _seconds(variable: str, default: float) -> float:
    text = os.environ.get(variable)
    try:
        found = float(text) if text else default
    except ValueError:
        found = 0.0
    if not 0 < found < 1e6:
        raise ValueError(f"{variable} is a number of seconds over 0, not {text!r}")
    return found


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """All waits of this thread in it together take so long at most."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def left(longest: float) -> float:
    """How long a piece of a wait may take, which may be as long as `longest`. Raises Overdue where no time is
    left.
    """
    end = _end.get()
    if end == inf:
        return longest
    rest = end - time.monotonic()
    if rest <= 0:
        raise Overdue
    return min(longest, rest)


class Waiting(Line):
    """A wait for an answer of `whom`, of which a piece is over."""

    def __init__(self, whom: str) -> None:
        super().__init__(SLOW, time.monotonic() - HEED)
        self._whom = whom
        #: when it said something that is no answer, and whether it was asked to since; None: it was not
        self.heard: float | None = None
        self.asked = False

    def go_on(self) -> None:
        """Another piece is over."""
        self.tick(self._text)

    def _text(self, seconds: float) -> str:
        said = f"waiting for {self._whom}, {seconds:.0f} s"
        if self.asked:
            return f"{said}; it was asked whether it is there"
        if self.heard is None:
            return said
        return f"{said}; it is there, as it said {time.monotonic() - self.heard:.0f} s ago"


def result(future: Future[_T], whom: str) -> _T:
    """Its result, or the exception that it ended with, which `whom` gives; meanwhile Ctrl-C is heeded. Raises
    Overdue.
    """
    waiting: Waiting | None = None
    try:
        while True:
            try:
                return future.result(left(HEED))
            except TimeoutError:
                if future.done():  # the exception may be its own
                    return future.result()
                waiting = waiting or Waiting(whom)
                waiting.go_on()
    finally:
        if waiting is not None:
            waiting.end()
