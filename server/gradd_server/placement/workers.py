"""Sessions in engine processes: the front stays responsive while they compute, and survives them.

A session stays in the process where it was opened; which one that is says `Rooms`. If a process dies, another
takes its place. Its sessions that have a store come back there; the others answer `device-lost` until
they are deleted.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import msgspec
from gradd_protocol import frames, names
from gradd_protocol.problems import Problem, ProtocolError, problem
from gradd_runtime.process import (
    NEVER,
    Bulk,
    Commons,
    Engines,
    EnvelopeKind,
    FileOrder,
    PagingRules,
    Pending,
    PendingFuture,
    deleted,
    recovering,
    refusal,
    unknown,
)

from gradd_server.placement.early import Early, threads_of
from gradd_server.placement.gpus import MOST_GPUS, GpuRooms, look_at_tenants, wanted_of
from gradd_server.placement.link import EngineTask, near_link
from gradd_server.placement.process import EngineProcess, lost
from gradd_server.placement.rooms import Rooms
from gradd_server.placement.stops import Stuck
from gradd_server.placement.watch import LOOKS

logger = logging.getLogger("gradd.server")

RETRY_SECONDS = 1.0
"""Pause before replacing a process that died before it was ready."""

LONGEST_TICK = 0.25
"""Most seconds between two looks at a batch that is to stop."""

OPEN_SECONDS = 5.0
"""Longest time that a new session waits for a dead process to be replaced."""


class WorkersPlacement:
    """The Placement interface over engine processes of `threads` compute threads each: `workers` for a
    tenant, which are started at once, and up to `most` in all (default: `workers`), which are when another
    tenant comes.

    On GPUs (`device` is ``cuda:1``, or several with commas; ``cuda`` is all that there are) each has one
    process instead, and `GpuRooms` says which takes a session.

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
        self._cancel_grace, self._batch_seconds = cancel_grace, batch_seconds
        self._ordered = threading.Event()
        self._budgets = budgets
        self._threads = threads_of(threads, workers)
        self._early = early
        self._names = device.split(",")
        """The devices of the processes, by number."""
        self._rules = rules
        self._grace = grace
        self._interval = (silence or 60.0) / LOOKS
        self._lock = threading.RLock()
        self._change = threading.Condition(self._lock)
        """Of the lock, which is taken faster than a condition."""
        self._stopping = threading.Event()
        self._restarts = 0
        self._numbers = itertools.count(1)
        self._homes: dict[str, tuple[EngineProcess, int]] = {}
        self._kept: dict[str, Mapping[str, Any]] = {}
        """The options of sessions that have a store."""
        self._loop: asyncio.AbstractEventLoop | None = None
        on_gpus = device.startswith("cuda")
        most = max(workers, most, MOST_GPUS if on_gpus else 0)
        self._commons = Commons(most)
        count = len(self._names) if on_gpus else workers
        self._processes = [self._spawn(number) for number in range(count)]
        self._rooms: Rooms[EngineProcess] | GpuRooms[EngineProcess]
        if on_gpus:
            self._rooms = GpuRooms(self._processes, lambda p, tenant: p.room(tenant))
        else:
            self._rooms = Rooms(self._processes, workers, most)
        self._coming: set[EngineProcess] = set()
        """Those that were started later and are not ready yet."""
        if silence:
            threading.Thread(target=self._watch, name="gradd-watch", daemon=True).start()
        threading.Thread(target=self._mind, name="gradd-stops", daemon=True).start()
        try:
            for process in self._processes:
                process.ready.result()
            if device == "cuda":
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

    @property
    def devices(self) -> Sequence[str]:
        """See Placement.devices."""
        with self._lock:
            return list(dict.fromkeys(process.device for process in self._processes))

    def device_of(self, name: str) -> str | None:
        """See Placement.device_of."""
        with self._lock:
            process, _ = self._homes.get(name, (None, 0))
        return None if process is None else process.device

    def _spawn(self, number: int) -> EngineProcess:
        early, self._early = self._early, None
        device = self._names[number if len(self._names) > 1 else 0]
        self._commons.held[number] = 0  # of the one in whose place this is
        task = EngineTask(device, self._threads, self._interval, self._budgets, self._rules)
        link = near_link(task, self._commons, number, early)
        return EngineProcess(link, device, self._replace, number, self._commons)

    def _watch(self) -> None:
        while not self._stopping.wait(self._interval):
            with self._lock:
                processes = list(self._processes)
            for process in processes:
                process.look()

    def _mind(self) -> None:
        """Look at batches that are to stop, and at how long others take."""
        tick = min(LONGEST_TICK, (self._cancel_grace or LONGEST_TICK) / 4)
        if self._batch_seconds:
            tick = min(tick, self._batch_seconds / 4)
        while not self._stopping.wait(tick):
            with self._lock:
                processes = list(self._processes)
            if not (self._batch_seconds or any(process.stopping for process in processes)):
                self._ordered.wait()
                self._ordered.clear()
                continue
            for process in processes:
                batch = process.look_at_batch()
                if batch is not None:
                    self._mind_batch(process, batch)

    def _mind_batch(self, process: EngineProcess, batch: Stuck) -> None:
        if batch.overdue is None:
            if self._batch_seconds and batch.seconds > self._batch_seconds:
                process.stop(batch.request.session, self._too_long(batch.seconds), only=batch.request)
        elif self._cancel_grace and batch.overdue > self._cancel_grace and self._all_kept(process):
            logger.error(
                "engine process %d went on with a batch for %.1f s after it was to stop: it is replaced",
                process.pid, batch.overdue,
            )  # fmt: skip
            process.replace(batch.request)

    def _too_long(self, seconds: float) -> Problem:
        limit = self._batch_seconds
        return problem(
            "time-exceeded",
            f"the batch ran for {seconds:.1f} s; one may take {limit:g} s",
            used=math.ceil(seconds),
            limit=math.ceil(limit),
        )

    def _all_kept(self, process: EngineProcess) -> bool:
        """Whether none of its sessions would be lost with it."""
        with self._lock:
            return all(name in self._kept for name, (home, _) in self._homes.items() if home is process)

    def _try_spawn(self, number: int) -> EngineProcess | None:
        try:
            return self._spawn(number)
        except OSError:
            logger.exception("no engine process can be started; trying again")
            return None

    def _follow_too(self, fresh: EngineProcess) -> None:
        if self._loop is not None:
            fresh.follow(self._loop)

    def _living(self) -> list[EngineProcess]:
        return [process for process in self._processes if process.alive]

    @property
    def pids(self) -> list[int]:
        """The engine processes' ids, in the order in which they take sessions."""
        with self._lock:
            return [process.pid for process in self._processes]

    def unwell(self) -> str:
        """What is wrong with the engine processes; empty if nothing is."""
        with self._lock:
            expected = [process for process in self._processes if process not in self._coming]
            sick = [process.pid for process in expected if not process.well]
        if not sick:
            return ""
        return f"engine process {', '.join(map(str, sick))} does not answer, or is being replaced"

    def engines(self) -> Engines:
        """See Placement.engines."""
        with self._lock:
            processes, restarts = list(self._processes), self._restarts
            lost = sum(not home.alive for name, (home, _) in self._homes.items() if name not in self._kept)
        return Engines([process.status() for process in processes], restarts, lost)

    def abandon(self) -> None:
        """Abandon all work in flight, which is answered with device-lost; nothing is replaced."""
        self._stopping.set()
        self._ordered.set()
        with self._lock:
            processes = list(self._processes)
        for process in processes:
            process.kill()

    def wait_for_living(self, count: int, seconds: float) -> bool:
        """Wait up to `seconds` until `count` engine processes run; returns whether they do."""
        with self._lock:
            return self._change.wait_for(lambda: len(self._living()) >= count, seconds)

    def follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """See EngineProcess.follow."""
        with self._lock:
            self._loop = loop
            processes = list(self._processes)
        for process in processes:
            process.follow(loop)

    def leave(self) -> None:
        """See EngineProcess.leave."""
        with self._lock:
            self._loop = None
            processes = list(self._processes)
        for process in processes:
            process.leave()

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """See Placement.open. Raises ProtocolError (device-lost) while no engine process runs."""
        tenant, devices = names.owner(name), self.devices
        wanted = wanted_of(name, options, devices)
        if wanted is None and len(devices) > 1:
            look_at_tenants(list(self._processes))

        def fits(process: EngineProcess) -> bool:
            return process.alive and wanted in (None, process.device)

        with self._lock:
            if name not in self._homes and self._rooms.wants_more(tenant) and not self._stopping.is_set():
                self._grow(tenant)
            self._change.wait_for(
                lambda: name in self._homes or self._rooms.open_to(tenant, fits), OPEN_SECONDS
            )
            if name in self._homes:
                return
            process = self._rooms.enter(tenant, fits)
            if process is None:
                raise ProtocolError.of(
                    "device-lost", "no engine process runs at the moment; try again", retry_after=1
                )
            if "store" in options:
                self._kept[name] = dict(options)
            self._house(name, process, options)

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

    def _house(self, name: str, process: EngineProcess, options: Mapping[str, Any]) -> None:
        number = next(self._numbers)
        self._homes[name] = process, number
        told = {"name": name, "options": dict(options)}
        process.send(EnvelopeKind.OPEN, number, msgspec.json.encode(told))

    def submit(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, why: Problem | None = None
    ) -> Future[frames.Bytes]:
        """See Placement.submit. Never waits."""
        future = PendingFuture()
        self.carry(name, frame, future, why)
        return future

    def carry(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, request: Pending, why: Problem | None = None
    ) -> None:
        """See Placement.carry. Never waits."""
        with self._lock:
            home = self._homes.get(name)
            request.kept = name in self._kept
        request.why = why
        if home is None:
            request.set_result(unknown(name))
        elif not home[0].ask(home[1], frame, request):
            request.set_result(recovering(name) if request.kept else lost(names.own(name)))

    def stop(
        self, name: str, why: Problem, writer: int | None = None, seq: int | None = None,
        only: Future[frames.Bytes] | None = None,
    ) -> None:  # fmt: skip
        """See Placement.stop."""
        with self._lock:
            process, number = self._homes.get(name, (None, 0))
        if process is not None and (only is None or (isinstance(only, PendingFuture) and only.number)):
            process.stop(number, why, writer, seq, only)
            self._ordered.set()

    def close(self, name: str) -> None:
        """See Placement.close."""
        with self._lock:
            process, number = self._homes.pop(name, (None, 0))
            self._kept.pop(name, None)
            if process is not None:
                self._rooms.leave(process, names.owner(name))
        if process is not None:
            process.stop(number, deleted())
            self._ordered.set()
            process.send(EnvelopeKind.CLOSE, number)

    def shutdown(self) -> None:
        """See Placement.shutdown. Processes that take longer than `grace` are killed."""
        with self._lock:
            self._stopping.set()
            self._ordered.set()
            processes = list(self._processes)
        for process in processes:
            process.finish()
        end = time.monotonic() + self._grace
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))

    def _finish(self, request: Pending, name: str | None) -> None:
        """Answer a request that was to stop, in the session's record too where there is one."""
        home, number = self._homes.get(name or "", (None, 0))
        if name not in self._kept or home is None:
            assert request.why is not None
            request.set_result(refusal(ProtocolError(request.why)))
        else:
            assert request.frame is not None
            if not home.ask(number, request.frame, request):
                request.set_result(recovering())

    def _replace(self, dead: EngineProcess, code: int) -> None:
        """Called on a thread of `dead`, which has exited with `code`."""
        if self._stopping.is_set():
            _put_off(dead)
            return
        logger.error(
            "engine process %d ended with code %d; its sessions without a store are lost", dead.pid, code
        )
        fresh = None if not dead.was_ready else self._try_spawn(dead.number)
        while fresh is None:
            if self._stopping.wait(RETRY_SECONDS):
                _put_off(dead)
                return
            fresh = self._try_spawn(dead.number)
        with self._lock:
            self._processes[self._processes.index(dead)] = fresh
            self._restarts += 1
            numbers = {number: name for name, (home, number) in self._homes.items() if home is dead}
            kept = [name for name in self._kept if self._homes[name][0] is dead]
            self._rooms.replace(dead, fresh, map(names.owner, kept))
            for name in kept:
                self._house(name, fresh, self._kept[name])
            for request in dead.unfinished:
                self._finish(request, numbers.get(request.session))
            self._change.notify_all()
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._follow_too, fresh)
            stopping = self._stopping.is_set()
        if stopping:  # `shutdown` has not seen it
            fresh.finish()
            fresh.join(self._grace)


def _put_off(dead: EngineProcess) -> None:
    """Answer what the process was to stop and did not, where no other takes its place."""
    for request in dead.unfinished:
        request.set_result(recovering())
