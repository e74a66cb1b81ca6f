"""Bytes that the front holds for others: bodies that arrive, frames without answers, answers being sent.

They are counted before they are there, by tenant and in all, so that a client that sends slowly, or does not
read, takes no more memory than this. What is small is counted and always let through: others work on, and who
took too much can ask and delete.
"""

from __future__ import annotations

from collections import Counter

from gradd_server.errors import Refused

SMALL = 64 << 10
"""Bytes that are never refused."""

PAUSE_SECONDS = 1
"""When to try again."""


class Traffic:
    """The bytes held at the moment. Limits: of one tenant, and in all. One request alone is let through
    whatever its size, which others limit.
    """

    def __init__(self, limit: int, tenant_limit: int) -> None:
        self.limit, self.tenant_limit = limit, tenant_limit
        self.used = 0
        self.tenants: Counter[str] = Counter()

    def take(self, tenant: str, nbytes: int) -> None:
        """Count bytes that are about to be held for `tenant`. Raises Refused (429)."""
        if nbytes > SMALL:
            self._check(self.tenants[tenant], nbytes, self.tenant_limit, "the tenant's requests and answers")
            self._check(self.used, nbytes, self.limit, "all requests and answers")
        self.used += nbytes
        self.tenants[tenant] += nbytes

    def _check(self, used: int, nbytes: int, limit: int, whose: str) -> None:
        if used and used + nbytes > limit:
            raise Refused(
                "rate-limited",
                f"{whose} under way hold {used} of {limit} bytes, and this one needs {nbytes}: read the "
                f"answers, or try again in {PAUSE_SECONDS} s",
                limit=limit,
                used=used,
                requested=nbytes,
                retry_after=PAUSE_SECONDS,
                headers={"retry-after": str(PAUSE_SECONDS)},
            )

    def give(self, tenant: str, nbytes: int) -> None:
        """They are gone."""
        self.used -= nbytes
        self.tenants[tenant] -= nbytes
        if not self.tenants[tenant]:
            del self.tenants[tenant]


class Load:
    """What one request or stream holds, until `release`."""

    __slots__ = ("_tenant", "_traffic", "nbytes")

    def __init__(self, traffic: Traffic, tenant: str) -> None:
        self._traffic, self._tenant = traffic, tenant
        self.nbytes = 0

    def take(self, nbytes: int) -> None:
        """See Traffic.take."""
        if nbytes:
            self._traffic.take(self._tenant, nbytes)
            self.nbytes += nbytes

    def give(self, nbytes: int) -> None:
        """Some of it is gone."""
        if nbytes:
            self._traffic.give(self._tenant, nbytes)
            self.nbytes -= nbytes

    def release(self) -> None:
        """All of it is."""
        self.give(self.nbytes)
