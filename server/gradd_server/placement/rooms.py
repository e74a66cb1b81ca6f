"""Which engine process takes a session: tenants have processes of their own as long as there are enough."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

P = TypeVar("P")


class Rooms(Generic[P]):
    """Engine processes, and whose sessions are in each.

    A tenant's sessions go in turn to up to `each` processes where nobody else's are; more are started for
    that, up to `most` in all. Then tenants share the processes that have the fewest of them.
    """

    def __init__(self, processes: Iterable[P], each: int, most: int) -> None:
        self._tenants: dict[P, Counter[str]] = {process: Counter() for process in processes}
        self._each, self._most = each, most
        self._turn = itertools.count()

    def wants_more(self, tenant: str) -> bool:
        """Whether a process is to be started, and `add`ed, before the tenant's next session is given one."""
        return len(self._tenants) < self._most and len(self._own(tenant)) < self._each

    def open_to(self, tenant: str, living: Callable[[P], bool]) -> list[P]:
        """The processes of which one takes the tenant's next session: those that are `living`."""
        own = self._own(tenant)
        if own:
            return [process for process in own if living(process)]
        return sorted(filter(living, self._tenants), key=self._crowd)[:1]

    def enter(self, tenant: str, living: Callable[[P], bool]) -> P | None:
        """The process that a session of the tenant is in from now on; None while `open_to` has none."""
        found = self.open_to(tenant, living)
        if not found:
            return None
        process = found[next(self._turn) % len(found)]
        self._tenants[process][tenant] += 1
        return process

    def _own(self, tenant: str) -> list[P]:
        """Where the tenant is alone, and where it may be: nobody is there."""
        alone = [process for process, there in self._tenants.items() if list(there) == [tenant]]
        free = [process for process, there in self._tenants.items() if not there]
        own = {*alone, *free[: max(0, self._each - len(alone))]}
        return [process for process in self._tenants if process in own]

    def _crowd(self, process: P) -> tuple[int, int]:
        there = self._tenants[process]
        return len(there), there.total()

    def add(self, process: P) -> None:
        """There is another process."""
        self._tenants[process] = Counter()

    def replace(self, dead: P, fresh: P, tenants: Iterable[str]) -> None:
        """A process takes the place of another, with a session of each of the `tenants`."""
        self._tenants = {
            fresh if process is dead else process: Counter(tenants) if process is dead else there
            for process, there in self._tenants.items()
        }

    def leave(self, process: P, tenant: str) -> None:
        """A session that was there has ended. Nothing where the process was replaced."""
        there = self._tenants.get(process)
        if there is not None:
            there[tenant] -= 1
            there += Counter()  # drops who has none left
