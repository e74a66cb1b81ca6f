"""Whose turn it is in an engine process: tenants share its time, and sessions that of their tenant."""

from __future__ import annotations

import itertools
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K")


class Shares(Generic[K]):
    """Of those that wait, the one that has had the least time is next.

    Time counts from when somebody waits: who comes is as far as whoever had a turn last, or farther by what
    its own turns took more; and what was used while nobody else waited is forgotten. So who comes now and
    then waits for one turn of another, however many others wait, and whose turns are long has fewer.
    """

    __slots__ = ("_ahead", "_now", "_order", "waiting")

    def __init__(self) -> None:
        #: those that do, the next one first, as a heap
        self.waiting: list[tuple[float, int, K]] = []
        #: how far the last turn's was, in seconds
        self._now = 0.0
        #: who is farther than that, or was
        self._ahead: dict[K, float] = {}
        self._order = itertools.count()

    def wait(self, key: K) -> None:
        """`key`, which did not, waits for a turn."""
        ahead = self._ahead.get(key, 0.0)
        heappush(self.waiting, (ahead if ahead > self._now else self._now, next(self._order), key))

    def take(self) -> K:
        """The next, which waits no more. IndexError if none does."""
        self._now, _, key = heappop(self.waiting)
        return key

    def spent(self, key: K, seconds: float) -> None:
        """The turn of `key`, the last that was taken, took so long."""
        if self.waiting:
            self._ahead[key] = self._now + seconds
        else:
            self._ahead.clear()

    def owe(self, key: K, seconds: float) -> None:
        """A turn that `key` had before took so much more than was said, or less."""
        ahead = self._ahead.get(key)
        if ahead is None:
            return  # nobody waited, and it is forgotten
        self._ahead[key] = ahead = ahead + seconds
        for n, (_, order, who) in enumerate(self.waiting):
            if who == key:
                self.waiting[n] = max(ahead, self._now), order, key
                heapify(self.waiting)
                return

    def leave(self, key: K) -> None:
        """`key` waits no more and is forgotten."""
        self._ahead.pop(key, None)
        self.waiting = [entry for entry in self.waiting if entry[2] != key]
        heapify(self.waiting)


class Turns:
    """The sessions that have frames waiting, by number, and the one whose turn it is."""

    def __init__(self) -> None:
        self._tenants: Shares[str] = Shares()
        self._sessions: dict[str, Shares[int]] = {}
        self._turn: tuple[str, int] | None = None
        #: the one that waits, if it came when nobody did and had a turn: it needs no place among others
        self._alone: tuple[str, int] | None = None

    def __bool__(self) -> bool:
        return self._alone is not None or bool(self._tenants.waiting)

    def wait(self, tenant: str, number: int) -> None:
        """The session, which had none, has a frame waiting. Nothing changes for the one whose turn it is."""
        if (tenant, number) == self._turn:
            return
        if self._alone is not None:
            alone, self._alone = self._alone, None
            self._wait(*alone)
        elif self._turn is None and not self._tenants.waiting:
            self._alone = tenant, number
            return
        self._wait(tenant, number)

    def _wait(self, tenant: str, number: int) -> None:
        sessions = self._sessions.get(tenant)
        if sessions is None:
            sessions = self._sessions[tenant] = Shares()
        if not sessions.waiting and (self._turn is None or self._turn[0] != tenant):
            self._tenants.wait(tenant)
        sessions.wait(number)

    def take(self) -> int:
        """Whose turn it is, until `spent`. IndexError if nobody waits."""
        if self._alone is not None:
            self._turn, self._alone = self._alone, None
            return self._turn[1]
        tenant = self._tenants.take()
        number = self._sessions[tenant].take()
        self._turn = tenant, number
        return number

    def spent(self, seconds: float, more: bool) -> None:
        """The turn took so long, and whether its session waits for another. Call it when all who came during
        the turn wait: they are not to stand behind it once more.
        """
        assert self._turn is not None
        (tenant, number), self._turn = self._turn, None
        sessions = self._sessions.get(tenant)
        if not more and not self._tenants.waiting and (sessions is None or not sessions.waiting):
            if self._sessions:  # nobody waits: what was used is forgotten
                self._tenants, self._sessions = Shares(), {}
            return
        if sessions is None:
            sessions = self._sessions[tenant] = Shares()
        sessions.spent(number, seconds)
        self._tenants.spent(tenant, seconds)
        if more:
            sessions.wait(number)
        if sessions.waiting:
            self._tenants.wait(tenant)

    def owe(self, tenant: str, number: int, seconds: float) -> None:
        """A turn of that session, which is over, took so much more than was said, or less."""
        self._tenants.owe(tenant, seconds)
        sessions = self._sessions.get(tenant)
        if sessions is not None:
            sessions.owe(number, seconds)

    def leave(self, tenant: str, number: int) -> None:
        """The session waits no more."""
        if self._alone == (tenant, number):
            self._alone = None
        sessions = self._sessions.get(tenant)
        if sessions is not None and sessions.waiting:
            sessions.leave(number)
            if not sessions.waiting:
                self._tenants.leave(tenant)
