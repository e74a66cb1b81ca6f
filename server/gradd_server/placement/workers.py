"""Engine processes of this machine. If one dies, another takes its place, with its sessions."""

from __future__ import annotations

import logging

from gradd_protocol import names
from gradd_runtime.process import NEVER, Commons, PagingRules

from gradd_server.placement.early import Early, threads_of
from gradd_server.placement.engines import EnginesPlacement, put_off
from gradd_server.placement.gpus import MOST_GPUS, DeviceRooms
from gradd_server.placement.link import EngineTask, near_link
from gradd_server.placement.process import EngineProcess
from gradd_server.placement.rooms import Rooms

logger = logging.getLogger("gradd.server")

RETRY_SECONDS = 1.0
"""Pause before replacing a process that died before it was ready."""


class WorkersPlacement(EnginesPlacement):
    """Engine processes of this machine, of `threads` compute threads each: `workers` for a
    tenant, which are started at once, and up to `most` in all (default: `workers`), which are when another
    tenant comes.

    On GPUs (`device` is ``cuda:1``, or several with commas; ``cuda`` is all that there are) each has one
    process instead, and `DeviceRooms` says which takes a session.

    `threads` 0 divides the cores among the processes of a tenant. `grace`: how long `shutdown` waits for work
    in flight (s). A process that shows no sign of life for `silence` seconds is killed; 0 waits for ever.
    `budgets`, `rules`: see EngineTask.

    A process that goes on with a batch `cancel_grace` seconds after that was to stop is replaced, if all its
    sessions have stores, and the batch is not run again; 0 waits for ever. No batch may take longer than
    `batch_seconds`; 0 lets it. Raises RuntimeError if the processes cannot run on `device`.
    """

    def __init__(
        self,
        workers: int = 1,
        threads: int = 0,
        device: str = "cpu",
        grace: float = 30.0,
        silence: float = 30.0,
        most: int = 0,
        cancel_grace: float = 5.0,
        batch_seconds: float = 0.0,
        budgets: tuple[int, int, int] = (0, 0, 0),
        rules: PagingRules = NEVER,
        early: Early | None = None,
    ) -> None:
        super().__init__(grace, silence, cancel_grace, batch_seconds)
        self._budgets = budgets
        self._threads = threads_of(threads, workers)
        self._early = early
        self._names = device.split(",")
        """The devices of the processes, by number."""
        self._rules = rules
        on_gpus = device.startswith("cuda")
        most = max(workers, most, MOST_GPUS if on_gpus else 0)
        self._commons = Commons(most)
        count = len(self._names) if on_gpus else workers
        self._processes = [self._spawn(number) for number in range(count)]
        self._rooms: Rooms[EngineProcess] | DeviceRooms[EngineProcess]
        if on_gpus:
            self._rooms = DeviceRooms(self._processes, lambda p, tenant: p.room(tenant))
        else:
            self._rooms = Rooms(self._processes, workers, most)
        self._begin()
        if device == "cuda":
            try:
                self._take_all()
            except RuntimeError:
                self.shutdown()
                raise

    def _take_all(self) -> None:
        """There is a process on the first GPU: start one on each of the others."""
        facts = self._processes[0].facts
        assert facts is not None
        self._names = [f"cuda:{number}" for number in range(facts.devices)]
        others = [self._spawn(number) for number in range(1, facts.devices)]
        with self._lock:
            self._processes += others
            for process in others:
                self._rooms.add(process)
        for process in others:
            process.ready.result()

    def _spawn(self, number: int) -> EngineProcess:
        early, self._early = self._early, None
        device = self._names[number if len(self._names) > 1 else 0]
        self._commons.held[number] = 0  # of the one in whose place this is
        task = EngineTask(device, self._threads, self._interval, self._budgets, self._rules)
        link = near_link(task, self._commons, number, early)
        return EngineProcess(link, device, self._replace, number, self._commons)

    def _try_spawn(self, number: int) -> EngineProcess | None:
        try:
            return self._spawn(number)
        except OSError:
            logger.exception("no engine process can be started; trying again")
            return None

    def _grow(self, tenant: str) -> None:
        """Start another process."""
        fresh = self._try_spawn(len(self._processes))
        if fresh is None:
            return  # the tenant shares one until there can be
        logger.info("engine process %d is started for tenant %s", fresh.pid, tenant)
        self._processes.append(fresh)
        self._rooms.add(fresh)
        self._coming.add(fresh)
        fresh.ready.add_done_callback(lambda _: self._coming.discard(fresh))
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._follow_too, fresh)

    def _replace(self, dead: EngineProcess, code: int) -> None:
        """See EnginesPlacement."""
        if self._stopping.is_set():
            put_off(dead)
            return
        logger.error(
            "engine process %d ended with code %d; its sessions without a store are lost", dead.pid, code
        )
        fresh = None if not dead.was_ready else self._try_spawn(dead.number)
        while fresh is None:
            if self._stopping.wait(RETRY_SECONDS):
                put_off(dead)
                return
            fresh = self._try_spawn(dead.number)
        with self._lock:
            self._processes[self._processes.index(dead)] = fresh
            self._restarts += 1
            self._rooms.replace(dead, fresh, map(names.owner, self._kept_in(dead)))
            self._rehouse(dead, lambda _: fresh)
        self._join_late(fresh)
