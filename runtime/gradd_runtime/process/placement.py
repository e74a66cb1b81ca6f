"""Where sessions run. Only bytes cross this interface, even within one process."""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from gradd_engine.data import DeviceFailed
from gradd_protocol import frames

from ..session import Order
from .budgets import budgets_of
from .bulk import Bulk
from .envelope import FileOrder
from .files import obey
from .hosting import Hosted
from .meter import Meter, encode_figures
from .paging import NEVER, Pager, PagingRules
from .refusals import deleted, failed, unknown
from .totals import figures_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gradd_protocol.problems import Problem

_log = logging.getLogger("gradd.runtime")

KERNEL_SECONDS = 5.0
"""Longest wait for the running kernel when all work was abandoned."""


class Pending:
    """A reply frame to be received, by whoever waits for it."""

    #: seconds that the session took for it, once done and if known, and when that came (`perf_counter`)
    ran = answered = 0.0
    #: whether the session outlives its process
    kept = False
    #: its number, which rises, and that of its session, if the placement numbers them
    number = session = 0
    #: what was submitted, until it is answered, and why it is to stop
    frame: frames.Bytes | Bulk | None = None
    why: Problem | None = None
    #: whether it is submitted again, after its process was ended
    again = False

    def set_result(self, reply: frames.Bytes, /) -> None:
        """The reply has come. Called once, on any thread."""
        raise NotImplementedError


class PendingFuture(Future[frames.Bytes], Pending):
    """One that a thread can wait for. It is not cancelled: what was submitted runs."""

    def cancel(self) -> bool:
        """False: see above."""
        return False


class EngineStatus(NamedTuple):
    """What is known of a process that runs sessions."""

    pid: int
    #: whether it shows signs of life
    well: bool
    #: frames that it has not answered
    waiting: int
    #: what `encode_figures` made, once the process comes to answer; something else if it ends before
    figures: Future[frames.Bytes]
    #: of a cluster, where it runs; empty on this machine
    node: str = ""


class Engines(NamedTuple):
    """The processes that run sessions, always in the same order."""

    processes: list[EngineStatus]
    #: processes that were started in the place of one that had ended
    restarts: int = 0
    #: sessions that were lost with a process and not deleted since
    lost: int = 0


class Placement(Protocol):
    """Opens sessions somewhere and carries frames to them."""

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """Open the session `name` unless it exists. Options: ``seed`` (int), ``quota_bytes`` (int), ``epoch``
        (int, 1): the first, which differs from that of a later session of this name; ``device``: one of
        `devices`, if it has to be that.

        `name` is what `names.keyed` makes of a tenant and the session's own name. With ``store``, the file of
        its record or its url in an object store, and ``durability`` (one of `gradd_runtime.store.LEVELS`) it
        is the session that this record has, made when the first frame comes.
        """

    def submit(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, why: Problem | None = None
    ) -> Future[frames.Bytes]:
        """Submit a request frame; the future gets the reply frame. A session's frames run in order. A frame
        in writable memory, or in a Bulk, belongs to the session from now on. An order is carried out as if it
        were a frame. A batch with a `why` is not begun: it fails with that.
        """

    def carry(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, request: Pending, why: Problem | None = None
    ) -> None:
        """`submit`, for a `request` of the caller's own."""

    def stop(
        self, name: str, why: Problem, writer: int | None = None, seq: int | None = None,
        only: Future[frames.Bytes] | None = None,
    ) -> None:  # fmt: skip
        """Stop the session's batches that were submitted so far, those of one `writer` (0: those that have
        none) up to its number `seq`, or the one whose reply `only` gets. The one that runs stops where it
        takes memory next or at its next step; those that wait are not begun. They fail with `why`, unless
        they are done before. Never waits.
        """

    def close(self, name: str) -> None:
        """End the session; its tensors are gone, and what it runs is stopped. Unknown names are ignored."""

    @property
    def devices(self) -> Sequence[str]:
        """What sessions can be on."""
        raise NotImplementedError(f"{type(self).__name__} does not say where sessions are")

    def device_of(self, name: str) -> str | None:
        """What that session is on; None for unknown names."""

    def node_of(self, name: str) -> str | None:
        """Which node of a cluster that session is on; None where there is no cluster, or no session."""

    def engines(self) -> Engines:
        """Who runs sessions, and what they count. Never waits."""

    def abandon(self) -> None:
        """Abandon submitted work, so that `shutdown` does not wait for it."""

    def shutdown(self) -> None:
        """Finish submitted work and stop."""


#: a session's name, a frame, what gets the reply, when it came
_Job: TypeAlias = "tuple[str, Any, Pending, float]"


class InlinePlacement:
    """All sessions on one thread of this process. `process_bytes`, `tenant_bytes`: see budgets_of. `rules`:
    when sessions with a store leave its memory.
    """

    def __init__(
        self, device: str = "cpu", process_bytes: int = 0, tenant_bytes: int = 0, rules: PagingRules = NEVER
    ) -> None:
        self._sessions: dict[str, Hosted] = {}
        #: how many sessions of a name have ended
        self._ended: dict[str, int] = {}
        self._lock = threading.Lock()
        self._backend = backend_of(device)
        self._meter = Meter(budgets_of(self._backend, process_bytes, tenant_bytes))
        self._pager = Pager(rules)
        self._backend.spare(self._spare)
        self._abandoned = self._resting = False
        #: why nothing is computed any more
        self._failed: DeviceFailed | None = None
        #: of the latest frame
        self._number = 0
        self._start()

    def _start(self) -> None:
        self._numbering = threading.Lock()
        # Not an executor: those stop before a client's exit handlers, which may still send batches.
        self._queue: SimpleQueue[_Job | Hosted | None] = SimpleQueue()
        self._thread = threading.Thread(
            target=self._work, args=(self._queue,), name="gradd-engine", daemon=True
        )
        self._thread.start()

    def revive(self) -> None:
        """In a forked child, which lacks the thread: continue with its copy of the sessions."""
        self._lock = threading.Lock()
        self._start()

    @property
    def devices(self) -> Sequence[str]:
        """See Placement.devices."""
        return [str(self._backend.device)]

    def device_of(self, name: str) -> str | None:
        """See Placement.device_of."""
        with self._lock:
            return str(self._backend.device) if name in self._sessions else None

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """See Placement.open."""
        with self._lock:
            if name not in self._sessions:
                # Nobody is taken for a writer of an earlier session of this name.
                first = {"epoch": 1 + self._ended.get(name, 0)}
                self._sessions[name] = Hosted(name, {**first, **options}, self._backend, self._meter)

    def submit(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, why: Problem | None = None
    ) -> Future[frames.Bytes]:
        """See Placement.submit."""
        future = PendingFuture()
        self.carry(name, frame, future, why)
        return future

    def carry(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, request: Pending, why: Problem | None = None
    ) -> None:
        """See Placement.carry."""
        with self._numbering:
            self._number = number = request.number = self._number + 1
            if why is not None:
                self._order(name, Order(number, number, why))
            self._queue.put((name, frame, request, perf_counter()))

    def _work(self, queue: SimpleQueue[_Job | Hosted | None]) -> None:
        while (job := self._next(queue)) is not None:
            if isinstance(job, Hosted):
                self._pager.forget(job)
                self._leave(job)
                del job
                continue
            name, frame, request, came = job
            began = perf_counter()
            with self._lock:
                hosted = self._sessions.get(name)
            session = None if hosted is None else hosted.session
            if session is not None and session.profiler is not None:
                session.profiler.waited(came, began)
            self._meter.queue.add(began - came)
            if hosted is not None:
                hosted.next(request.number)
            reply = self._answer(name, frame)
            request.answered = perf_counter()
            request.ran = request.answered - began
            request.set_result(reply)
            if hosted is not None and self._failed is None:
                with self._failing():
                    if hosted.due:
                        hosted.snapshot()
                    self._pager.used(hosted)
                    if self._pager.short:
                        self._pager.page((hosted,))
            del hosted, session, reply, job, frame, request

    def _next(self, queue: SimpleQueue[_Job | Hosted | None]) -> _Job | Hosted | None:
        """The next job; where none comes for long, sessions leave memory."""
        while True:
            try:
                return queue.get(timeout=self._pager.wait())
            except Empty:
                with self._failing():
                    self._pager.page()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Note it where the device fails within. Nobody starts this process again, so it says so from now on,
        and computes nothing.
        """
        try:
            try:
                yield
            except Exception:
                self._backend.verify()
                raise
        except DeviceFailed as error:
            self._failed, self._pager = error, Pager(NEVER)
            _log.critical("%s: sessions run in this process, which has to be started again", error)

    def _spare(self) -> None:
        with self._lock:
            for hosted in self._sessions.values():
                hosted.spare()

    def _leave(self, hosted: Hosted) -> None:
        """Let a session rest, or end it."""
        rested = False
        if self._resting and self._failed is None:
            with self._failing():
                rested = hosted.sleep()
        if not rested:
            hosted.close()

    def unwell(self) -> str:
        """Why nothing is computed any more; empty while something is."""
        return "" if self._failed is None else str(self._failed)

    def _answer(self, name: str, frame: frames.Bytes | Bulk | FileOrder) -> bytes:
        if self._failed is None:
            with self._failing():
                return self._run(name, frame)
        return failed(self._failed)

    def _run(self, name: str, frame: frames.Bytes | Bulk | FileOrder) -> bytes:
        with self._lock:
            hosted = self._sessions.get(name)
        if hosted is None:
            return unknown(name)
        while not hosted.wake(frame):
            """An entry of its record at a time."""
        if isinstance(frame, FileOrder):
            return frames.join(obey(hosted, frame))
        return frames.join(hosted.answer(frame.map() if isinstance(frame, Bulk) else memoryview(frame)))

    def stop(
        self, name: str, why: Problem, writer: int | None = None, seq: int | None = None,
        only: Future[frames.Bytes] | None = None,
    ) -> None:  # fmt: skip
        """See Placement.stop."""
        first, last = (only.number,) * 2 if isinstance(only, PendingFuture) else (0, self._number)
        self._order(name, Order(first, last, why, writer, seq))

    def _order(self, name: str, order: Order) -> None:
        with self._lock:
            hosted = self._sessions.get(name)
        if hosted is not None:
            hosted.stop(order)

    def close(self, name: str) -> None:
        """See Placement.close."""
        with self._lock:
            hosted = self._sessions.pop(name, None)
            if hosted is not None and not name.startswith("anon-"):  # those names are never used again
                self._ended[name] = self._ended.get(name, 0) + 1
        if hosted is not None:
            hosted.stop(Order(0, self._number, deleted()))
            self._queue.put(hosted)  # its thread may be running it

    def node_of(self, name: str) -> str | None:
        """See Placement.node_of."""
        return None

    def engines(self) -> Engines:
        """See Placement.engines."""
        with self._lock:
            figures = figures_of(self._meter, list(self._sessions.values()))
        told: Future[frames.Bytes] = Future()
        told.set_result(encode_figures(figures))
        return Engines([EngineStatus(os.getpid(), self._failed is None, self._queue.qsize(), told)])

    def abandon(self) -> None:
        """See Placement.abandon. The running kernel is the last."""
        self._abandoned = True
        # Raised in that thread between two instructions; a flag would have to be checked in every step.
        thread = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(SystemExit))

    def shutdown(self) -> None:
        """See Placement.shutdown."""
        self._resting = not self._abandoned
        with self._lock:
            for hosted in self._sessions.values():
                if hosted.kept:
                    self._queue.put(hosted)
        self._queue.put(None)
        self._thread.join(KERNEL_SECONDS if self._abandoned else None)
        self._backend.spare(lambda: None)


def backend_of(device: str) -> Any:
    """The engine's backend for `cpu`, `cuda` or `cuda:N`, with its kernels loaded. Raises ValueError for
    other names, ImportError or RuntimeError if the device or the requested kernels are missing.
    """
    if device == "cpu":
        from gradd_engine.backends.array import NUMPY

        NUMPY.kernels.load()
        return NUMPY
    if device.startswith("cuda"):
        from gradd_engine.backends.cupy import CupyBackend

        return CupyBackend(int(device.partition(":")[2] or 0))
    raise ValueError(f"there is no device {device!r}: cpu, cuda or cuda:N")
