"""What the sessions of an engine process may hold together, those of a tenant there, and those of all engine
processes of the machine.
"""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, Any

from gradd_engine.data import OutOfQuota

from .bulk import memory_file

if TYPE_CHECKING:
    from gradd_engine.data import Account

NO_LIMIT = 1 << 62


class Budget:
    """Bytes that several sessions hold together, and how many they may. `whose`: as in OutOfQuota."""

    __slots__ = ("limit", "used", "whose")

    def __init__(self, whose: str, limit: int) -> None:
        self.whose, self.limit = whose, limit
        self.used = 0


class Commons:
    """What the sessions of each of `count` engine processes hold, in bytes: `held`, of which process number
    `own` writes its own and reads the others'. `fd`: their memory file, made where none is given.
    """

    def __init__(self, count: int, own: int = 0, fd: int | None = None) -> None:
        size = 8 * count
        if fd is None:
            fd = memory_file()
            os.ftruncate(fd, size)
        self.fd, self._own = fd, own
        self.held = memoryview(mmap.mmap(fd, size)).cast("q")

    def tell(self, nbytes: int) -> None:
        """This process's sessions hold so much now."""
        self.held[self._own] = nbytes

    @property
    def used(self) -> int:
        """What all hold."""
        return sum(self.held)

    def share(self, nbytes: int) -> int:
        """Of so many bytes for all processes, those of this one: an even share for each whose sessions hold
        anything, or what the others leave.
        """
        others = [held for number, held in enumerate(self.held) if number != self._own and held > 0]
        return max(nbytes // (len(others) + 1), nbytes - sum(others))

    def __del__(self) -> None:
        os.close(self.fd)


class Budgets:
    """Those of one engine process. Limits are in bytes; 0 for none. With `commons` all processes that are in
    it may hold `machine_bytes` together; between two that take memory at the same moment it may be more.
    """

    def __init__(
        self,
        process_bytes: int = 0,
        tenant_bytes: int = 0,
        machine_bytes: int = 0,
        commons: Commons | None = None,
    ) -> None:
        self.process = Budget("engine process", process_bytes or NO_LIMIT)
        self.machine = Budget("daemon", machine_bytes or NO_LIMIT)
        self._commons = commons
        #: the limit of a tenant
        self.tenant_bytes = tenant_bytes or NO_LIMIT
        self._tenants: dict[str, Budget] = {}

    def tenant(self, name: str) -> Budget:
        """The one of a tenant."""
        found = self._tenants.get(name)
        if found is None:
            found = self._tenants[name] = Budget("tenant", self.tenant_bytes)
        return found

    def look(self) -> None:
        """Count what other processes hold."""
        if self._commons is not None:
            self.machine.used = self._commons.used

    def tell(self) -> None:
        """Let other processes know what this one holds."""
        if self._commons is not None:
            self._commons.tell(self.process.used)


def budgets_of(
    backend: Any,
    process_bytes: int = 0,
    tenant_bytes: int = 0,
    machine_bytes: int = 0,
    commons: Commons | None = None,
) -> Budgets:
    """Those of a process that has a device: where nothing is said, nine tenths of what it has, and three
    quarters of that for a tenant. Without a device's memory, and where nothing is said, there is no limit.
    """
    process_bytes = process_bytes or backend.memory_bytes * 9 // 10
    return Budgets(process_bytes, tenant_bytes or process_bytes * 3 // 4, machine_bytes, commons)


def _room(budget: Budget) -> int:
    return budget.limit - budget.used


class Holding:
    """What a session holds. One session at a time runs in a process: before it does it is told how much more
    it may take, and afterwards asked what it holds. So taking memory costs no more than under its own quota.
    """

    __slots__ = ("_all", "_budgets", "_nbytes", "_process")

    def __init__(self, budgets: Budgets, tenant: str) -> None:
        self._budgets, self._process = budgets, budgets.process
        self._all = budgets.tenant(tenant), budgets.process, budgets.machine
        self._nbytes = 0

    @property
    def room(self) -> int:
        """How much more it may take, beside its own quota."""
        self._budgets.look()
        return min(map(_room, self._all))

    def confine(self, account: Account) -> None:
        """Before something runs: let the session take no more than is left."""
        self._budgets.look()
        tenant, process, machine = self._all
        budget, room = tenant, tenant.limit - tenant.used
        if process.limit - process.used < room:
            budget, room = process, process.limit - process.used
        if machine.limit - machine.used < room:
            budget, room = machine, machine.limit - machine.used
        if room < account.limit - account.used:
            account.confine(room, budget.used, budget.whose)

    def settle(self, account: Account) -> None:
        """Afterwards: count what it holds."""
        if account.confined:
            account.release()
        self._count(account.whole)

    def drop(self) -> None:
        """It holds nothing any more."""
        self._count(0)

    def _count(self, nbytes: int) -> None:
        more = nbytes - self._nbytes
        if more:
            self._nbytes = nbytes
            for budget in self._all[:2]:
                budget.used += more
            self._budgets.tell()

    def expect(self, nbytes: int) -> None:
        """Raise OutOfQuota where there is no room for a session that is to be made again, and has about so
        many bytes. Alone it may be, as it was before.
        """
        self._budgets.look()
        for budget in self._all:
            if budget.used and budget.used + nbytes >= budget.limit:
                raise OutOfQuota(nbytes, budget.used, budget.limit, budget.whose)
