"""A daemon that does not answer: which failures pass, how long it is tried, what the user is told."""

from __future__ import annotations

import random
import sys
import threading
import time

from .._exceptions import ConnectionFailed, ServerError
from .._transports import CLOSING, PROXIES, left

#: longest pauses between two tries: the first, and as they grow (s)
_FIRST, _LONGEST = 0.05, 5.0
#: seconds after which the user is told
_NOTE = 2.0
#: refusals that pass. The others of `_SAID` do where they say after how long.
_PASSING = frozenset({"recovering", "not-ready", "draining", "overloaded", "rate-limited"})
_SAID = frozenset({"device-lost", "store-failed", "disk-full", "too-many"})


def passing(error: Exception) -> float:
    """Seconds after which to try again what was refused; raises the refusal where that does not help."""
    if (after := retry_after(error)) is None:
        raise error
    return after


def retry_after(error: Exception) -> float | None:
    """Seconds after which what was refused may be tried again; None where that does not help."""
    if not isinstance(error, ServerError):
        return None
    problem = error.problem
    slug, after = problem.slug, problem.retry_after
    passes = (
        slug in _PASSING
        or (slug in _SAID and after is not None)
        or (slug == "unknown" and problem.status in PROXIES)
    )
    return float(after or 0.0) if passes else None


class Hurry:
    """Whether the session is being closed: from then on nobody waits for a daemon that is away for longer
    than `CLOSING`. Any thread may say so.
    """

    def __init__(self) -> None:
        self._said = threading.Event()
        self._end = float("inf")

    def begin(self) -> None:
        """The session is being closed."""
        if not self._said.is_set():
            self._end = time.monotonic() + CLOSING
            self._said.set()

    def left(self) -> float:
        """Seconds left."""
        return self._end - time.monotonic()

    def rest(self, seconds: float) -> None:
        """Do nothing for so long, or until it is said."""
        if self._said.is_set():
            time.sleep(seconds)
        else:
            self._said.wait(seconds)


class Absence:
    """From the first failure until something is answered again. Pauses between tries grow, with full jitter.
    Only the time in which the daemon was away counts: `seconds` of it are waited for.
    """

    def __init__(self, url: str, seconds: float, hurry: Hurry) -> None:
        self._url, self._left, self._hurry = url, seconds, hurry
        self._pause = _FIRST
        self._jitter = random.Random()
        self._since: float | None = None
        self._told = False

    def pause(self, why: Exception, after: float = 0.0) -> bool:
        """Rest before another try, for `after` seconds at least; False where the time is over."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        time_left = min(self._left - (now - self._since), self._hurry.left())
        if time_left <= 0:
            return False
        rest = left(min(time_left, max(after, self._jitter.uniform(0, self._pause))))
        self._pause = min(2 * self._pause, _LONGEST)
        note = max(0.0, _NOTE - (now - self._since))
        if not self._told and note <= rest:
            self._hurry.rest(note)
            self._tell(why, time_left - note)
            rest -= note
        self._hurry.rest(rest)
        return True

    def stop(self) -> None:
        """Nobody tries it for now."""
        if self._since is not None:
            self._left -= time.monotonic() - self._since
            self._since = None

    def back(self) -> None:
        """It was reached."""
        if self._told and self._since is not None:
            self._told = False
            away = time.monotonic() - self._since
            print(f"gradd: {self._url} is back after {away:.0f} s", file=sys.stderr)
        self.stop()

    def _tell(self, why: Exception, left: float) -> None:
        self._told = True
        what = f"answers {why.problem.title!r}" if isinstance(why, ServerError) else "does not answer"
        print(f"gradd: {self._url} {what}; trying again for {max(0.0, left):.0f} s", file=sys.stderr)


class Presence:
    """Whether the daemon at `url` is there. One that went away is tried again for `seconds`."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url, self._seconds = url, seconds
        self.hurry = Hurry()
        #: whether it did not come back in time
        self.away = False
        #: while nothing is answered
        self._absence: Absence | None = None

    @property
    def missed(self) -> bool:
        """Whether nothing was answered since it was tried again."""
        return self._absence is not None

    def rest(self, why: Exception, after: float = 0.0) -> None:
        """Pause before another try. Raises ConnectionFailed where the time is over. Of a daemon that did not
        come back before, one try is enough.
        """
        if self._absence is None:
            self._absence = Absence(self._url, self._seconds, self.hurry)
        try:
            if not self.away and self._absence.pause(why, after):
                return
        except BaseException:
            self.stop()
            raise
        self.away, self._absence = True, None
        raise ConnectionFailed(f"the daemon at {self._url} went away and did not come back: {why}") from why

    def stop(self) -> None:
        """It is not tried for now: what passes until it is does not count."""
        if self._absence is not None:
            self._absence.stop()

    def reached(self) -> None:
        """It let this client connect."""
        self.away = False
        if self._absence is not None:
            self._absence.back()

    def answered(self) -> None:
        """It answered something."""
        self.reached()
        self._absence = None
