"""What the sessions of an engine process may hold together, and those of a tenant there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import OutOfQuota

if TYPE_CHECKING:
    from gradd_engine.data import Account

NO_LIMIT = 1 << 62


class Budget:
    """Bytes that several sessions hold together, and how many they may. `whose`: as in OutOfQuota."""

    __slots__ = ("limit", "used", "whose")

    def __init__(self, whose: str, limit: int) -> None:
        self.whose, self.limit = whose, limit
        self.used = 0


class Budgets:
    """Those of one engine process. Limits are in bytes; 0 for none."""

    def __init__(self, process_bytes: int = 0, tenant_bytes: int = 0) -> None:
        self.process = Budget("engine process", process_bytes or NO_LIMIT)
        self._tenant_bytes = tenant_bytes or NO_LIMIT
        self._tenants: dict[str, Budget] = {}

    def tenant(self, name: str) -> Budget:
        """The one of a tenant."""
        found = self._tenants.get(name)
        if found is None:
            found = self._tenants[name] = Budget("tenant", self._tenant_bytes)
        return found


def budgets_of(backend: Any, process_bytes: int = 0, tenant_bytes: int = 0) -> Budgets:
    """Those of a process that has a device: where nothing is said, nine tenths of what it has, and three
    quarters of that for a tenant. Without a device's memory, and where nothing is said, there is no limit.
    """
    process_bytes = process_bytes or backend.memory_bytes * 9 // 10
    return Budgets(process_bytes, tenant_bytes or process_bytes * 3 // 4)


class Holding:
    """What a session holds. One session at a time runs in a process: before it does it is told how much more
    it may take, and afterwards asked what it holds. So taking memory costs no more than under its own quota.
    """

    __slots__ = ("_nbytes", "_process", "_tenant")

    def __init__(self, budgets: Budgets, tenant: str) -> None:
        self._tenant, self._process = budgets.tenant(tenant), budgets.process
        self._nbytes = 0

    def confine(self, account: Account) -> None:
        """Before something runs: let the session take no more than is left."""
        tenant, process = self._tenant, self._process
        budget = tenant if tenant.limit - tenant.used < process.limit - process.used else process
        room = budget.limit - budget.used
        if room < account.limit - account.used:
            account.confine(room, budget.used, budget.whose)

    def settle(self, account: Account) -> None:
        """Afterwards: count what it holds."""
        account.release()
        self._count(account.whole)

    def drop(self) -> None:
        """It holds nothing any more."""
        self._count(0)

    def _count(self, nbytes: int) -> None:
        more = nbytes - self._nbytes
        if more:
            self._nbytes = nbytes
            self._tenant.used += more
            self._process.used += more

    def expect(self) -> None:
        """Raise OutOfQuota where nothing is left for a session that is to be made again."""
        for budget in (self._tenant, self._process):
            if budget.used >= budget.limit:
                raise OutOfQuota(0, budget.used, budget.limit, budget.whose)
