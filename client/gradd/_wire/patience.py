"""How long a script waits for one answer, and what becomes of what it does not wait for any more."""

from __future__ import annotations

import math
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from .._exceptions import TimedOut
from .._transports import Overdue, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    #: wraps a wait, to see it
    Watch = Callable[[AbstractContextManager[None]], AbstractContextManager[None]]

#: what bounds nothing
FOREVER = nullcontext()


def patience(
    seconds: float | None, give_up: Callable[[], bool], watch: Watch | None = None
) -> AbstractContextManager[None]:
    """Waits in it end after `seconds` (None: never) with TimedOut. `give_up` is called before, and says
    whether there was anything to call off. A `watch` sees the wait.
    """
    made = FOREVER if seconds is None else _patience(seconds, give_up)
    return made if watch is None else watch(made)


@contextmanager
def _patience(seconds: float, give_up: Callable[[], bool]) -> Iterator[None]:
    try:
        with within(seconds):
            yield
    except Overdue:
        what = ": what was sent and is unanswered was called off" if give_up() else ""
        raise TimedOut(f"no answer within {seconds:g} s{what}") from None


def seconds_of(seconds: float | None) -> float | None:
    """What a user gave as `timeout`. Raises ValueError, TypeError."""
    if seconds is None:
        return None
    if not isinstance(seconds, (int, float)):
        raise TypeError(f"timeout is a number of seconds or None, not {seconds!r}")
    if not 0 < seconds < math.inf:
        raise ValueError(f"timeout is a number of seconds over 0 or None, not {seconds!r}")
    return float(seconds)
