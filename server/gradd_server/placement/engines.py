"""Sessions in engine processes, wherever those are: the front stays responsive while they compute, and
survives them.

A session stays in the process where it was opened; which one that is say the rooms. If a process dies, its
sessions that have a store come back elsewhere; the others answer `device-lost` until they are deleted.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

import msgspec
from gradd_protocol import frames, names
from gradd_protocol.problems import Problem, ProtocolError, problem
from gradd_runtime.process import (
    Bulk,
    Engines,
    EnvelopeKind,
    FileOrder,
    Pending,
    PendingFuture,
    deleted,
    recovering,
    refusal,
    unknown,
)

from gradd_server.placement.gpus import look_at_tenants, wanted_of
from gradd_server.placement.process import EngineProcess, lost
from gradd_server.placement.stops import Stuck
from gradd_server.placement.watch import LOOKS

logger = logging.getLogger("gradd.server")

LONGEST_TICK = 0.25
"""Most seconds between two looks at a batch that is to stop."""

OPEN_SECONDS = 5.0
"""Longest time that a new session waits for a dead process to be replaced."""


class EngineRooms(Protocol):
    """Which engine process takes a session: see `Rooms`, `DeviceRooms`."""

    def wants_more(self, tenant: str) -> bool:
        """Whether a process is to be started before the tenant's next session is given one."""
        raise NotImplementedError

    def open_to(self, tenant: str, living: Callable[[EngineProcess], bool]) -> list[EngineProcess]:
        """The processes of which one takes the tenant's next session."""
        raise NotImplementedError

    def enter(self, tenant: str, living: Callable[[EngineProcess], bool]) -> EngineProcess | None:
        """The process that a session of the tenant is in from now on; None while there is none."""

    def replace(self, dead: EngineProcess, fresh: EngineProcess, tenants: Iterable[str]) -> None:
        """A process takes the place of another, with a session of each of the `tenants`."""

    def leave(self, process: EngineProcess, tenant: str) -> None:
        """A session that was there has ended."""


class EnginesPlacement:
    """The Placement interface over engine processes; a class that derives from it starts them (`_begin`,
    `_grow`), and others in their place (`_replace`).

    `grace`: how long `shutdown` waits for work in flight (s). A process that shows no sign of life for
    `silence` seconds is killed; 0 waits for ever. One that goes on with a batch `cancel_grace` seconds after
    that was to stop is replaced, if all its sessions have stores, and the batch is not run again; 0 waits for
    ever. No batch may take longer than `batch_seconds`; 0 lets it.
    """

    _rooms: EngineRooms

    def __init__(self, grace: float, silence: float, cancel_grace: float, batch_seconds: float) -> None:
        self._cancel_grace, self._batch_seconds = cancel_grace, batch_seconds
        self._ordered = threading.Event()
        self._grace, self._silence = grace, silence
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
        self._processes: list[EngineProcess] = []
        self._coming: set[EngineProcess] = set()
        """Those that were started later and are not ready yet."""

    def _begin(self) -> None:
        """The first processes are there: look after them. Raises RuntimeError where they cannot run."""
        if self._silence:
            threading.Thread(target=self._watch, name="gradd-watch", daemon=True).start()
        threading.Thread(target=self._mind, name="gradd-stops", daemon=True).start()
        try:
            self._ready()
        except RuntimeError:
            self.shutdown()
            raise

    def _ready(self) -> None:
        """Wait until the first processes are. Raises RuntimeError where they cannot run."""
        for process in self._processes:
            process.ready.result()

    def _grow(self, tenant: str) -> None:
        """Start another process for that tenant, if there can be one. Called with the lock."""

    def _replace(self, dead: EngineProcess, code: int) -> None:
        """Called on a thread of `dead`, which has exited with `code`: let others take its place."""
        raise NotImplementedError

    @property
    def devices(self) -> Sequence[str]:
        """See Placement.devices."""
        with self._lock:
            return list(dict.fromkeys(process.device for process in self._processes))

    def node_of(self, name: str) -> str | None:
        """See Placement.node_of."""
        with self._lock:
            process, _ = self._homes.get(name, (None, 0))
        return process.node or None if process is not None and process.alive else None

    def device_of(self, name: str) -> str | None:
        """See Placement.device_of."""
        with self._lock:
            process, _ = self._homes.get(name, (None, 0))
        return None if process is None else process.device

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

    def _follow_too(self, fresh: EngineProcess) -> None:
        if self._loop is not None:
            fresh.follow(self._loop)

    def _takes(self, process: EngineProcess) -> bool:
        """Whether the process takes sessions that are new there."""
        return process.alive

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

    @property
    def _weighs(self) -> bool:
        """Whether it is by what tenants hold where a session goes."""
        return len(self.devices) > 1

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """See Placement.open. Raises ProtocolError (device-lost) while no engine process runs."""
        tenant, devices = names.owner(name), self.devices
        wanted = wanted_of(name, options, devices)
        if self._weighs and wanted in (None, "cuda"):
            look_at_tenants(list(self._processes))

        def fits(process: EngineProcess) -> bool:
            return self._takes(process) and (wanted is None or names.is_device(wanted, [process.device]))

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

    def _rehouse(self, dead: EngineProcess, home: Callable[[str], EngineProcess]) -> None:
        """Its sessions that have a store are in the process that `home` says from now on, and get what the
        dead one did not finish. Called with the lock.
        """
        numbers = {number: name for name, (there, number) in self._homes.items() if there is dead}
        for name in self._kept_in(dead):
            self._house(name, home(name), self._kept[name])
        for request in dead.unfinished:
            self._finish(request, numbers.get(request.session))
        self._change.notify_all()

    def _kept_in(self, process: EngineProcess) -> list[str]:
        """Its sessions that have a store."""
        return [name for name in self._kept if self._homes[name][0] is process]

    def _join_late(self, fresh: EngineProcess) -> None:
        """A process that came while others run. Call it without the lock."""
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._follow_too, fresh)
            stopping = self._stopping.is_set()
        if stopping:  # `shutdown` has not seen it
            fresh.finish()
            fresh.join(self._grace)


def put_off(dead: EngineProcess) -> None:
    """Answer what the process was to stop and did not, where no other takes its place."""
    for request in dead.unfinished:
        request.set_result(recovering())
