"""The connections that are open: how many there may be in all, and of a tenant.

Whose a connection is shows with its first request that has a key; a stream is one too. Where there are as
many as may be, a new one takes the place of the oldest that is nobody's, so that silence keeps nobody out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from gradd_protocol.problems import Problem

from gradd_server.errors import Refused

PAUSE_SECONDS = 1
"""When to try again."""


class Connection(Protocol):
    """One that can be ended."""

    def hang_up(self, fault: Problem) -> None:
        """Say why, and close it."""


class Connections:
    """Counts them; knows whose they are."""

    def __init__(self, limit: int, tenant_limit: int) -> None:
        self.limit, self.tenant_limit = limit, tenant_limit
        self.tenants: Counter[str] = Counter()
        self._owners: dict[Connection, str] = {}
        #: nobody's, the oldest first
        self._unclaimed: dict[Connection, None] = {}
        self._streams = 0

    def __len__(self) -> int:
        return len(self._owners) + len(self._unclaimed) + self._streams

    def opened(self, connection: Connection) -> None:
        """It is there, or another of which nobody knows whose it is had to go, or it has to."""
        if (used := len(self)) >= self.limit:
            oldest = next(iter(self._unclaimed), connection)
            self._unclaimed.pop(oldest, None)
            oldest.hang_up(too_many("connections", used, self.limit, "in all").problem)
            if oldest is connection:
                return
        self._unclaimed[connection] = None

    def claim(self, connection: Connection, tenant: str) -> None:
        """A request of `tenant` came by it. Raises Refused (429) where the tenant has enough others."""
        owner = self._owners.get(connection)
        if owner == tenant or (owner is None and connection not in self._unclaimed):
            return
        self._check(tenant)
        if owner is not None:  # a proxy's
            self._leave(owner)
        self._unclaimed.pop(connection, None)
        self._owners[connection] = tenant
        self.tenants[tenant] += 1

    def closed(self, connection: Connection) -> None:
        """It is gone, or has become a stream."""
        self._unclaimed.pop(connection, None)
        owner = self._owners.pop(connection, None)
        if owner is not None:
            self._leave(owner)

    @contextmanager
    def stream(self, tenant: str) -> Iterator[None]:
        """Count a stream of `tenant`. Raises Refused (429)."""
        self._check(tenant)
        self.tenants[tenant] += 1
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1
            self._leave(tenant)

    def _check(self, tenant: str) -> None:
        if self.tenants[tenant] >= self.tenant_limit:
            raise too_many("connections", self.tenants[tenant], self.tenant_limit, "of a tenant")

    def _leave(self, tenant: str) -> None:
        self.tenants[tenant] -= 1
        if not self.tenants[tenant]:
            del self.tenants[tenant]


def too_many(what: str, used: int, limit: int, whose: str) -> Refused:
    """The refusal (429) of another connection, which may pass."""
    return Refused(
        "too-many",
        f"there are {used} {what}, and {limit} may be {whose}: close some, or try again in {PAUSE_SECONDS} s",
        used=used,
        limit=limit,
        requested=1,
        retry_after=PAUSE_SECONDS,
        headers={"retry-after": str(PAUSE_SECONDS), "connection": "close"},
    )
