"""A daemon that does not answer: which failures pass, how long it is tried, what the user is told."""

from __future__ import annotations

import random
import threading
import time

from gradd_engine.progress import Line, say, terminal

from .._exceptions import ConnectionFailed, ServerError
from .._transports import CLOSING, PROXIES, left

#: longest pauses between two tries: the first, and as they grow (s)
_FIRST, _LONGEST = 0.05, 5.0
#: seconds after which the user is told
_NOTE = 2.0
#: between two looks of the line that tells it (s)
_LOOK = 0.5
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

    @property
    def begun(self) -> bool:
        """Whether it is said."""
        return self._said.is_set()

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
    Only the time in which the daemon was away counts: `seconds` of it are waited for. The user is told, by a
    line of progress on a terminal and by two lines elsewhere.
    """

    def __init__(self, url: str, seconds: float, hurry: Hurry) -> None:
        self._url, self._left, self._hurry = url, seconds, hurry
        self._pause = _FIRST
        self._jitter = random.Random()
        self._since: float | None = None
        self._told = False
        self._tries = 0
        self._line: Line | None = None

    def pause(self, why: Exception, after: float = 0.0) -> bool:
        """Rest before another try, for `after` seconds at least; False where the time is over."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        time_left = min(self._left - (now - self._since), self._hurry.left())
        if time_left <= 0:
            self._end_line()
            return False
        self._tries += 1
        rest = left(min(time_left, max(after, self._jitter.uniform(0, self._pause))))
        self._pause = min(2 * self._pause, _LONGEST)
        note = max(0.0, _NOTE - (now - self._since))
        if terminal() is not None:
            self._rest_in_sight(rest, why, now + time_left)
            return True
        if not self._told and note <= rest:
            self._hurry.rest(note)
            self._told = True
            say(f"gradd: {self._url} {_saying(why)}; trying again for {max(0.0, time_left - note):.0f} s")
            rest -= note
        self._hurry.rest(rest)
        return True

    def _rest_in_sight(self, rest: float, why: Exception, end: float) -> None:
        """Rest, with a line that says so."""
        line = self._line = self._line or Line(_NOTE, self._since)
        clock = time.time() - time.monotonic()
        since, until = (time.strftime("%H:%M:%S", time.localtime(clock + at)) for at in (line.began, end))

        def text(seconds: float) -> str:
            self._told = True
            return (
                f"{self._url} {_saying(why)} since {since} ({seconds:.0f} s); "
                f"try {self._tries}, and again until {until}"
            )

        begun = self._hurry.begun
        while rest > 0 and self._hurry.begun == begun:
            self._hurry.rest(min(rest, _LOOK))
            rest -= _LOOK
            line.tick(text)

    def _end_line(self) -> None:
        if self._line is not None:
            self._line.end()
            self._line = None

    def stop(self) -> None:
        """Nobody tries it for now."""
        self._end_line()
        if self._since is not None:
            self._left -= time.monotonic() - self._since
            self._since = None

    def back(self) -> None:
        """It was reached."""
        if self._told and self._since is not None:
            self._told = False
            say(f"gradd: {self._url} is back after {time.monotonic() - self._since:.0f} s")
        self.stop()


def _saying(why: Exception) -> str:
    return f"answers {why.problem.title!r}" if isinstance(why, ServerError) else "does not answer"


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
        self.away = False
        if self._absence is not None:
            self._absence.back()
            self._absence = None
