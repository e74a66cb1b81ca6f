"""Bytes that the front holds for others: bodies that arrive, frames without answers, answers being sent.

They are counted before they are there, by tenant and in all, so that a client that sends slowly, or does not
read, takes no more memory than this. What is small is counted and always let through: others work on, and who
took too much can ask and delete.
"""

from __future__ import annotations

from gradd_server.errors import Refused

SMALL = 64 << 10
"""Bytes that are never refused."""

PAUSE_SECONDS = 1
"""When to try again."""


class _Sum:
    """Bytes of one tenant."""

    __slots__ = ("used",)

    def __init__(self) -> None:
        self.used = 0


class Traffic:
    """The bytes held at the moment. Limits: of one tenant, and in all. One request alone is let through
    whatever its size, which others limit.
    """

    def __init__(self, limit: int, tenant_limit: int) -> None:
        self.limit, self.tenant_limit = limit, tenant_limit
        self.used = 0
        self._tenants: dict[str, _Sum] = {}

    @property
    def tenants(self) -> dict[str, int]:
        """The bytes of those that have any."""
        return {name: held.used for name, held in self._tenants.items() if held.used}

    def of(self, tenant: str) -> _Sum:
        """The bytes of a tenant."""
        return self._tenants.setdefault(tenant, _Sum())

    def check(self, tenant: _Sum, nbytes: int) -> None:
        """Raise Refused (429) where so many more are too many."""
        _check(tenant.used, nbytes, self.tenant_limit, "the tenant's requests and answers")
        _check(self.used, nbytes, self.limit, "all requests and answers")


def _check(used: int, nbytes: int, limit: int, whose: str) -> None:
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


class Load:
    """What one request or stream of a tenant holds, until `release`."""

    __slots__ = ("_tenant", "_traffic", "nbytes")

    def __init__(self, traffic: Traffic, tenant: str) -> None:
        self._traffic, self._tenant = traffic, traffic.of(tenant)
        self.nbytes = 0

    def take(self, nbytes: int) -> None:
        """Count bytes that are about to be held. Raises Refused (429)."""
        if nbytes > SMALL:
            self._traffic.check(self._tenant, nbytes)
        self.nbytes += nbytes
        self._tenant.used += nbytes
        self._traffic.used += nbytes

    def give(self, nbytes: int) -> None:
        """Some of it is gone."""
        self.nbytes -= nbytes
        self._tenant.used -= nbytes
        self._traffic.used -= nbytes

    def release(self) -> None:
        """All of it is."""
        self.give(self.nbytes)
