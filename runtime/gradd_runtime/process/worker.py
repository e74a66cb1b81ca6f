"""An engine process: sessions behind a socket to the front. `... -m gradd_runtime.process.worker FD DEVICE
LOG PULSE LIFELINE SECONDS ORDERS RUNNING BYTES BYTES BYTES COMMONS COUNT NUMBER IDLE BYTES BYTES` (what
`log_arguments` said, the descriptors and the interval of `pulse`, the descriptors of `control`, the limits of
`budgets_of` and its `Commons`, three `PagingRules`). With FD alone, all that comes there later.

A single thread receives every envelope that has arrived, runs one frame, and repeats; the sessions with
waiting frames take turns (`turns`). When the socket ends, the process answers what it has received and exits.
If the front dies, it exits at once.
"""

from __future__ import annotations

import gc
import json
import logging
import math
import os
import select
import signal
import socket
import sys
from collections import Counter, deque
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import msgspec
from gradd_engine.data import DeviceFailed
from gradd_engine.freezing import Doubling
from gradd_protocol.problems import ProtocolError

from ..store import failpoint
from .budgets import Budgets, Commons, budgets_of
from .bulk import Bulk
from .control import OrderBook, Running
from .device_time import DeviceTimes
from .envelope import (
    EngineFacts,
    Envelope,
    EnvelopeKind,
    FileOrder,
    Incoming,
    read_order,
    sealed,
    send,
    unsent,
)
from .files import obey
from .hosting import Hosted
from .logs import start_log_as
from .meter import Meter, encode_figures
from .paging import NEVER, Pager, PagingRules, most_awake
from .placement import backend_of
from .pulse import beat, hang_on
from .refusals import refusal
from .totals import figures_of
from .turns import Turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_protocol.frames import Bytes, Part


_log = logging.getLogger("gradd.runtime")

Waiting: TypeAlias = "Bytes | Bulk | FileOrder | None"
"""What waits for its session's turn; None to leave."""

FAULTED = 70
"""The exit code after the device has failed."""
FRAMES = frozenset({EnvelopeKind.FRAME, EnvelopeKind.BULK, EnvelopeKind.FILE, EnvelopeKind.LEAVE})
"""What waits for its session's turn."""
MANY = 100_000
"""Objects, beside those of modules, from which on full collections wait until there are twice as many."""
DESCRIPTORS = (0, 3, 4, 6, 7, 11)
"""Which arguments are descriptors."""


class Worker:
    """The sessions of this process and their waiting frames."""

    def __init__(
        self, front: socket.socket, backend: Any, orders: OrderBook, running: Running,
        budgets: Budgets | None = None,
        pager: Pager | None = None,
    ) -> None:  # fmt: skip
        self._front = front
        self._orders = orders
        self._running = running
        self._incoming = Incoming(front)
        self._backend = backend
        self._meter = Meter(budgets)
        self._sessions: dict[int, Hosted] = {}
        self._waiting: dict[int, deque[tuple[int, Waiting, float]]] = {}
        self._turns = Turns()
        self._times = DeviceTimes(backend)
        #: whose sessions are here, and how many
        self._owners: Counter[str] = Counter()
        self._pager = Pager(NEVER) if pager is None else pager
        self._open = True
        backend.spare(self._spare)
        self._poll = select.poll()
        self._poll.register(front, select.POLLIN)

    def run(self) -> None:
        """Serve until the front closes the socket and everything is answered."""
        budgets = self._meter.budgets
        facts = EngineFacts(
            str(self._backend.device), self._backend.visible, budgets.process.limit, budgets.tenant_bytes
        )
        write(self._front, EnvelopeKind.READY, parts=[msgspec.json.encode(facts)])
        while True:
            if self._turns:
                self._run_one()
            elif not self._open:
                break
            elif self._comes():
                self._receive()
            else:
                self._pager.page()
        for hosted in self._sessions.values():
            if hosted.kept and not hosted.sleep():
                hosted.close()

    def _spare(self) -> None:
        for hosted in self._sessions.values():
            hosted.spare()

    def _comes(self) -> bool:
        """Wait until something comes, or the pager has something to do. Receiving waits as well: where only
        it is to be waited for, it is not asked before, which would be another call of the system.
        """
        wait = self._pager.wait()
        return wait is None or bool(self._poll.poll(math.ceil(1000 * wait)))

    def _receive(self) -> None:
        came = self._incoming.receive()
        if came is None:
            self._open = False
            return
        for envelope in came:
            self._take(envelope)

    def _take(self, envelope: Envelope) -> None:
        kind, request, number, payload = envelope
        if kind in FRAMES:
            hosted = self._sessions.get(number)
            if hosted is None:
                write(self._front, EnvelopeKind.FRAME, request, [_closed()])
                return
            queue = self._waiting.get(number)
            if queue is None:
                queue = self._waiting[number] = deque()
                self._turns.wait(hosted.owner, number)
            what: Waiting = payload
            if kind == EnvelopeKind.FILE:
                what = read_order(payload)
            elif kind == EnvelopeKind.LEAVE:
                what = None
            queue.append((request, what, perf_counter()))
        elif kind == EnvelopeKind.OPEN:
            assert not isinstance(payload, Bulk)
            told = json.loads(bytes(payload))
            orders = self._orders.open(number)
            hosted = Hosted(told["name"], told["options"], self._backend, self._meter, orders)
            self._sessions[number] = hosted
            self._owners[hosted.owner] += 1
        elif kind == EnvelopeKind.CLOSE:
            self._close(number)
        elif kind == EnvelopeKind.STOP:
            self._orders.take(envelope)
        elif kind == EnvelopeKind.FIGURES:
            self._times.read()
            told = encode_figures(figures_of(self._meter, self._sessions.values()))
            write(self._front, EnvelopeKind.FIGURES, request, [told])

    def _run_one(self) -> None:
        """One turn: a frame, or an entry of a record that is replayed. What it takes here counts until it is
        known what it takes the device.
        """
        if len(self._owners) > 1:
            self._times.catch_up()
        else:
            self._times.read()
        number = self._turns.take()
        began = perf_counter()
        hosted = self._sessions[number]
        if self._waiting[number][0][1] is None:
            self._leave(number, hosted)
            return
        tenant = self._meter.tenant(hosted.owner)
        before = tenant.seconds
        watch = self._times.begin()
        frame = self._waiting[number][0][1]
        assert frame is not None
        if hosted.wake(frame):
            self._answer(number, hosted, began)
        spent = perf_counter() - began
        if watch is not None:
            metered = tenant.seconds - before if tenant.seconds > before else None
            self._times.end(watch, partial(self._took, number, hosted.owner, spent, metered))
        if len(self._sessions) > 1:  # those who came meanwhile, for their turns
            while self._open and self._poll.poll(0):
                self._receive()
        self._turns.spent(spent, number in self._waiting)
        if self._pager.short:
            self._pager.page({self._sessions[waiting] for waiting in self._waiting})

    def _took(self, number: int, owner: str, spent: float, metered: float | None, seconds: float) -> None:
        """A turn that was counted as `spent`, and in its tenant's figures as `metered`, took the device so
        many `seconds`.
        """
        self._turns.owe(owner, number, seconds - spent)
        if metered is not None:
            self._meter.tenant(owner).seconds += seconds - metered

    def _answer(self, number: int, hosted: Hosted, began: float) -> None:
        queue = self._waiting[number]
        request, frame, came = queue.popleft()
        if not queue:
            del self._waiting[number]
        session = hosted.session
        if session is not None and session.profiler is not None:
            session.profiler.waited(came, began)
        assert frame is not None
        hosted.next(request)
        self._running.cell[0] = request
        if isinstance(frame, FileOrder):
            size, parts = 0, obey(hosted, frame)
        elif isinstance(frame, Bulk):
            size, parts = frame.size, hosted.begin_answer(frame.map())
        else:
            size, parts = len(frame), hosted.begin_answer(memoryview(frame))
        self._running.cell[0] = 0
        failpoint("replying")
        write(self._front, EnvelopeKind.FRAME, request, parts, int(1e9 * (perf_counter() - began)))
        failpoint("replied")
        del parts
        hosted.settle(size)
        self._meter.queue.add(began - came)
        if hosted.kept:
            if hosted.due:
                hosted.snapshot()
            self._pager.used(hosted)

    def _leave(self, number: int, hosted: Hosted) -> None:
        """The session goes elsewhere. Where it cannot fall asleep now, its record says what it is."""
        request = self._waiting[number].popleft()[0]
        hosted.sleep()
        self._close(number)
        self._turns.spent(0.0, more=False)
        write(self._front, EnvelopeKind.FRAME, request)

    def _close(self, number: int) -> None:
        hosted = self._sessions.pop(number, None)
        if hosted is None:  # it was deleted after it had left
            return
        self._orders.close(number)
        self._owners[hosted.owner] -= 1
        self._owners += Counter()  # drops who has none left
        self._pager.forget(hosted)
        hosted.close()
        if queue := self._waiting.pop(number, None):
            self._turns.leave(hosted.owner, number)
            for request, _, _ in queue:
                write(self._front, EnvelopeKind.FRAME, request, [_closed()])


def _closed() -> bytes:
    return refusal(ProtocolError.of("session-not-found", "the session was deleted"))


def write(
    front: socket.socket, kind: EnvelopeKind, request: int = 0, parts: Sequence[Part] = (), ran: int = 0
) -> None:
    """Send one envelope. Raises BrokenPipeError if the front is gone."""
    whole, bulk = sealed(kind, request, ran, parts, front.family == socket.AF_UNIX)
    left = unsent(whole, send(front, whole, bulk))
    while left:
        left = unsent(left, front.sendmsg(left))


def _told(descriptor: int) -> list[str]:
    """The arguments that come there later, with descriptors; none where nobody wants a process."""
    with suppress(ImportError, RuntimeError):  # said once somebody listens
        backend_of("cpu")
    with socket.socket(fileno=descriptor) as front:
        text, descriptors, *_ = socket.recv_fds(front, 1 << 16, 16)
        while text and not text.endswith(b"\n"):
            more = front.recv(1 << 16)
            if not more:
                return []
            text += more
    if not text:
        return []
    said = json.loads(text)
    own = dict(zip(map(str, said["descriptors"]), map(str, descriptors), strict=True))
    return [own.get(a, a) if n in DESCRIPTORS else a for n, a in enumerate(said["arguments"])]


def main(arguments: list[str]) -> int:
    """Run the engine process; returns its exit code."""
    # The front says when to stop; a signal to its process group must not drop work that it waits for.
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    if len(arguments) == 1:
        arguments = _told(int(arguments[0]))
        if not arguments:
            return 0
    device = arguments[1]
    hang_on(int(arguments[4]))
    beat(int(arguments[3]), float(arguments[5]))
    start_log_as(arguments[2])
    orders = OrderBook()
    with (
        socket.socket(fileno=int(arguments[0])) as front,
        socket.socket(fileno=int(arguments[6])) as ordering,
    ):
        try:
            backend: Any = backend_of(device)
        except (ImportError, RuntimeError) as refused:
            write(front, EnvelopeKind.FAILED, parts=[str(refused).encode()])
            return 1
        gc.freeze()  # collections need not scan modules
        gc.callbacks.append(Doubling(MANY))
        try:
            orders.hear(Incoming(ordering))
            process, tenant, machine, fd, count, own = map(int, arguments[8:14])
            commons = Commons(count, own, fd)
            budgets = budgets_of(backend, process, tenant, machine, commons)
            idle, resident, together = float(arguments[14]), int(arguments[15]), int(arguments[16])
            pager = Pager(PagingRules(idle, resident, most_awake(), together), commons)
            Worker(front, backend, orders, Running(int(arguments[7])), budgets, pager).run()
        except (BrokenPipeError, ConnectionResetError):
            return 1  # nobody to answer
        except DeviceFailed as failed:
            _end(failed)
        except Exception:
            try:
                backend.verify()
            except DeviceFailed as failed:
                _end(failed)
            raise
    return 0


def _end(failed: DeviceFailed) -> NoReturn:
    """End as if killed, so that another process takes the place of this one, which would fail every batch and
    answer some with the fault of another.
    """
    _log.critical("%s: this engine process ends, and another takes its place", failed)
    logging.shutdown()
    os._exit(FAULTED)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
