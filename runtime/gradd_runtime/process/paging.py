"""Which sessions leave the memory of a process: those that were idle for long; and where memory or files run
short, those that answered least recently. Each is on the disk then, and comes back with its next frame.
"""

from __future__ import annotations

import ctypes
import os
import resource
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from .pulse import resident

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .budgets import Commons
    from .hosting import Hosted

LOOK_SECONDS = 1.0
"""Time between two looks at the memory of the process."""
RECENT_SECONDS = 10.0
"""Where memory runs short, a session that answered since stays: it would be back at once. So does every one
after another could not leave, as where the disk is full.
"""
SESSION_BYTES = 300_000
"""What a session takes beside its tensors, about."""
FILES = 5
"""Files that a session has open while it is awake, at most; and `SPARE` are for everything else."""
SPARE = 200


class PagingRules(NamedTuple):
    """When sessions leave memory; 0 is never."""

    idle: float = 0.0
    """Seconds without a frame after which a session leaves."""
    resident: int = 0
    """Bytes of the process in RAM above which sessions leave."""
    awake: int = 0
    """Sessions with a store that may be awake."""
    together: int = 0
    """Without `resident`: bytes in RAM of all processes of the daemon; see `Commons.share`."""


NEVER = PagingRules()
"""Every session stays."""


class Pager:
    """The sessions of a process that have a store and are awake. Of one thread. `commons`: what it shares
    with other processes.
    """

    def __init__(
        self, rules: PagingRules, commons: Commons | None = None, clock: Callable[[], float] = perf_counter
    ) -> None:
        self._rules = rules
        self._commons = commons
        self._clock = clock
        #: and when each answered; the one that did last is the last
        self._awake: dict[Hosted, float] = {}
        #: bytes that are too much
        self._excess = 0
        self._look, self._pause = 0.0, 0.0
        self._left = False

    def __len__(self) -> int:
        return len(self._awake)

    def used(self, hosted: Hosted) -> None:
        """The session has answered."""
        if hosted.kept and hosted.session is not None:
            self._awake.pop(hosted, None)
            self._awake[hosted] = now = self._clock()
            if now >= self._look:
                self._look = now + LOOK_SECONDS
                self._measure()

    def forget(self, hosted: Hosted) -> None:
        """The session was closed."""
        self._awake.pop(hosted, None)

    @property
    def short(self) -> bool:
        """Whether memory or files run short, so that it is not to be waited for until nobody waits."""
        return bool(self._awake) and (self._excess > 0 or 0 < self._rules.awake < len(self._awake))

    def wait(self) -> float | None:
        """Seconds until `page` has something to do; None where that depends on what comes."""
        due = self._due()
        return None if due is None else max(0.0, due - self._clock())

    def page(self, busy: Collection[Hosted] = ()) -> bool:
        """Have the session that answered least recently leave, if it is time; whether one did. `busy`: those
        that have frames waiting.
        """
        due, now = self._due(), self._clock()
        if due is None or due > now:
            return False
        for hosted in self._awake:
            session = hosted.session
            if hosted not in busy and (session is None or not session.profiled):
                break
        else:
            self._pause = now + RECENT_SECONDS
            return False
        del self._awake[hosted]
        if session is None:  # it has left already
            return False
        held = session.account.held
        del session
        if not hosted.sleep():
            self._awake[hosted] = now
            self._pause = now + RECENT_SECONDS
            return False
        self._excess -= held + SESSION_BYTES
        self._left = True
        return True

    def _due(self) -> float | None:
        """When the session that answered least recently is to leave."""
        if not self._awake:
            return None
        rules = self._rules
        answered = next(iter(self._awake.values()))
        if 0 < rules.awake < len(self._awake):
            due = answered
        elif self._excess > 0:
            due = answered + RECENT_SECONDS
        elif rules.idle:
            due = answered + rules.idle
        else:
            return None
        return max(due, self._pause)

    def _measure(self) -> None:
        most = self._rules.resident
        if not most:
            together = self._rules.together
            most = together if self._commons is None else self._commons.share(together)
        if not most:
            return
        excess = resident(os.getpid()) - most
        if excess > 0 and self._left:
            give_back()
            self._left = False
            excess = resident(os.getpid()) - most
        self._excess = max(0, excess)


def give_back() -> None:
    """Give memory that was freed back to the system, which the allocator else keeps for what comes."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)


def most_awake() -> int:
    """How many sessions may be awake by the files that this process may open: it asks for all it can have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return max(1, (most - SPARE) // FILES) if most != resource.RLIM_INFINITY else 0
