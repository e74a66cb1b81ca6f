"""The front's view of a session that is open: who uses it, and what waits for its uploads."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from gradd_protocol import names
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.problems import Problem
from gradd_protocol.profiles import FrontTime

from gradd_server.errors import Refused

LATEST = 1000
"""Batches in a profile."""

Stop: TypeAlias = Callable[[Problem, int | None, int | None], None]
"""Takes the arguments of `OpenSession.stop`."""


class Passages:
    """When the latest messages passed the front: of the next `left` ones, or of all."""

    def __init__(self) -> None:
        self.times: deque[FrontTime] = deque(maxlen=LATEST)
        self.left: int | None = None

    @property
    def wants(self) -> bool:
        """Whether there are more to come."""
        return self.left != 0

    def add(self, time: FrontTime) -> None:
        """Another passed."""
        self.times.append(time)
        if self.left:
            self.left -= 1


@dataclass
class OpenSession:
    """The front's view of an open session; times are seconds of the registry's clock."""

    tenant: str
    name: str
    options: Mapping[str, Any]
    last_used: float
    streams: int = 0
    requests: int = 0
    had_stream: bool = False
    closed: bool = False
    uploads: int = 0
    """Uploads staged so far, which shows whether one came since an upload was found missing."""
    incoming: int = 0
    """Bytes of uploads in progress."""
    passages: Passages | None = None
    """While it is profiled or measured: when its latest batches passed here."""
    stops: set[Stop] = field(default_factory=set)
    """Told of each stop: those who have batches that are not submitted yet, or wait for an upload."""
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)

    @cached_property
    def key(self) -> str:
        """What the placement calls it."""
        return names.keyed(self.tenant, self.name)

    def profile(self, on: bool) -> list[FrontTime]:
        """When batches passed since it was last said to be profiled; whether it is from now on."""
        before, self.passages = self.passages, Passages() if on else None
        return [] if before is None else list(before.times)

    def measure(self) -> None:
        """Note when the next messages pass, unless it is profiled. Which of them are batches that are
        measured the session knows; of others there may be some between these.
        """
        if self.passages is None:
            self.passages = Passages()
        elif self.passages.left is None:
            return
        self.passages.left = LATEST  # what was noted stays: somebody else may measure, too

    def notify_upload(self) -> None:
        """Notify waiters that an upload was staged (or the session closed)."""
        self.uploads += 1
        self._wake()

    def stop(self, why: Problem, writer: int | None, seq: int | None) -> None:
        """Batches of that writer up to its number `seq` are to fail with `why`, see Placement.stop."""
        for tell in self.stops:
            tell(why, writer, seq)
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    @contextmanager
    def receiving(self) -> Iterator[Callable[[int], None]]:
        """Yields a function that reserves an upload's bytes, until the session has it.

        The function raises Refused (507) if uploads in progress would exceed the session's quota; tensors
        that it already holds are counted by the session.
        """
        taken = 0
        limit = self.options.get("quota_bytes", LIMITS.session_bytes)

        def take(nbytes: int) -> None:
            nonlocal taken
            if self.incoming + nbytes > limit:
                raise Refused(
                    "quota-exceeded",
                    "uploads under way would be more than the session may hold",
                    exception="RuntimeError",
                    requested=nbytes,
                    used=self.incoming,
                    limit=limit,
                )
            taken += nbytes
            self.incoming += nbytes

        try:
            yield take
        finally:
            self.incoming -= taken

    async def upload_after(self, seen: int, timeout: float) -> bool:
        """Wait until more than `seen` uploads were staged, or batches are to stop; False after `timeout`
        seconds without either.
        """
        if self.uploads > seen:
            return True
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            async with asyncio.timeout(timeout):
                await waiter
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(waiter)
        return True
