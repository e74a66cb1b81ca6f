"""What sessions take of the data directory's disk: of each tenant, and how much room is left.

It is measured now and then. In between, what is sent to sessions that are kept counts as if all of it were
recorded, so that nobody gets far beyond a limit. Who is at it can read and delete.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from time import perf_counter

from gradd_server.errors import Refused

LOOK_SECONDS = 5.0
"""Between two looks, or ten times what one takes."""

REST_SECONDS = 60.0
"""The same while nothing is sent to sessions that are kept: a look goes through the files of all of them."""

RETRY_SECONDS = 5
"""When to try again what was refused."""

logger = logging.getLogger("gradd.server")


class Disk:
    """The disk of `measure`, which gives the free bytes, and those that each tenant's sessions have. Of these
    at most `tenant_limit` are let through, and where less than `reserve` is free, nothing.
    """

    def __init__(
        self, measure: Callable[[], tuple[int, Mapping[str, int]]], tenant_limit: int, reserve: int
    ) -> None:
        self.tenant_limit, self.reserve = tenant_limit, reserve
        self._measure = measure
        #: as of the latest look; before the first, nothing is refused for want of room
        self._free, self._used = 1 << 62, Counter[str]()
        #: what came since, by tenant and in all
        self._since: Counter[str] = Counter()
        self._sent = 0
        self._changed = asyncio.Event()
        #: nothing was sent between the last two looks, so that what is on the disk was there at the latest
        self._rests = False

    @property
    def free(self) -> int:
        """Bytes of room, about."""
        return self._free - self._sent

    def used(self, tenant: str) -> int:
        """Bytes of a tenant's sessions, about."""
        return self._used[tenant] + self._since[tenant]

    def take(self, tenant: str, nbytes: int) -> None:
        """Count what is about to be recorded for `tenant`. Raises Refused (507)."""
        used, free = self.used(tenant), self.free
        if used + nbytes > self.tenant_limit:
            raise self._full(
                f"the tenant's sessions have {used} of {self.tenant_limit} bytes of the disk: delete some",
                limit=self.tenant_limit, used=used, requested=nbytes, whose="tenant",
            )  # fmt: skip
        if free - nbytes < self.reserve:
            raise self._full(
                f"the daemon's disk has {free} bytes of room, of which {self.reserve} are to stay free",
                requested=nbytes,
            )  # fmt: skip
        self._since[tenant] += nbytes
        self._sent += nbytes
        if self._rests:
            self._rests = False
            self._changed.set()

    def _full(self, detail: str, **members: int | str) -> Refused:
        after = {"retry-after": str(RETRY_SECONDS)}
        return Refused("disk-full", detail, retry_after=RETRY_SECONDS, headers=after, **members)

    def changed(self) -> None:
        """Something was deleted: look soon."""
        self._changed.set()

    async def look(self) -> None:
        """Measure."""
        before = self._since.copy()
        self._rests = not before
        free, used = await asyncio.to_thread(self._measure)
        self._free, self._used = free, Counter(used)
        self._since -= before  # what came meanwhile may be in it or not
        self._sent = self._since.total()

    def pause(self, took: float) -> float:
        """Seconds until the next look, after one that took so many."""
        return max(REST_SECONDS if self._rests else LOOK_SECONDS, 10 * took)

    async def watch(self) -> None:
        """Measure for ever."""
        while True:
            self._changed.clear()
            began = perf_counter()
            try:
                await self.look()
            except OSError:
                logger.exception("the disk of the data directory cannot be measured")
            try:
                async with asyncio.timeout(self.pause(perf_counter() - began)):
                    await self._changed.wait()
            except TimeoutError:
                continue
