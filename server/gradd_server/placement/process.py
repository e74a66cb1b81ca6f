"""The front's view of an engine process: a socket, frames in flight, and whether it is alive."""

from __future__ import annotations

import asyncio
import logging
import select
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

import msgspec
from gradd_protocol import frames
from gradd_protocol.problems import Problem, ProtocolError
from gradd_runtime.process import (
    Bulk,
    Commons,
    EngineFacts,
    EngineStatus,
    Envelope,
    EnvelopeKind,
    FileOrder,
    Incoming,
    Order,
    Pending,
    PendingFuture,
    order_envelope,
    recovering,
    refusal,
    sealed,
    sealed_bulk,
    send,
    unsent,
)

from gradd_server.placement.link import EngineLink
from gradd_server.placement.stops import Stops, Stuck

logger = logging.getLogger("gradd.server")

_facts = msgspec.json.Decoder(EngineFacts)

EXIT_SECONDS = 5.0
"""Longest wait for a process to exit after it has closed its socket."""


class EngineProcess:
    """The process that runs `gradd_runtime.process.worker` on `device` at the other end of a `link`.

    Replies are read by a thread, or between `follow` and `leave` by an event loop, which is faster for small
    frames. `on_end(self, exit code)` is called once, on a thread of this object, after the process has exited
    and every frame in flight was answered. `commons`: what the processes of this machine hold, where it has
    this `number`; without, it is asked. `node`: where it runs, if that is another machine. Call `look` at
    intervals: it kills a process that shows no sign of life.
    """

    def __init__(
        self, link: EngineLink, device: str, on_end: Callable[[EngineProcess, int], None], number: int = 0,
        commons: Commons | None = None, node: str = "",
    ) -> None:  # fmt: skip
        self.number, self.node, self._device, self._commons = number, node, device, commons
        self.facts: EngineFacts | None = None
        """What it found, once it is ready."""
        self.tenants: dict[str, int] = {}
        """Bytes that tenants hold there, as of the last look."""
        self._link = link
        self._socket, self._orders, self._child, self._near = link.front, link.orders, link.child, link.near
        self.pid = link.child.pid
        self.alive = True
        self.ready: Future[None] = Future()
        """Done when the process is ready; a RuntimeError says why it cannot run."""
        self._on_end = on_end
        self._incoming = Incoming(self._socket)
        self._number = 0
        self._in_flight: dict[int, Pending] = {}
        self._stops = Stops(link.running)
        self.unfinished: list[Pending] = []
        """Of a process that was replaced: what it was to stop and did not, to be submitted again."""
        self._figures: PendingFuture | None = None
        self._outbox: deque[tuple[memoryview, Bulk | None]] = deque()
        self._lock = threading.RLock()
        self._change = threading.Condition(self._lock)
        """Of the lock, which is taken faster than a condition."""
        self._finishing = False
        self._reading = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._mine = threading.Event()
        """Set while the thread reads; otherwise the loop does."""
        self._mine.set()
        self._ended = False
        self._reader = threading.Thread(target=self._read, name=f"gradd-replies-{self.pid}", daemon=True)
        self._writer = threading.Thread(target=self._write, name=f"gradd-frames-{self.pid}", daemon=True)
        self._reader.start()
        self._writer.start()

    @property
    def device(self) -> str:
        """What its sessions are on."""
        return self._device if self.facts is None else self.facts.device

    @property
    def kind(self) -> str:
        """Of its device: ``cpu`` or ``cuda``."""
        return self.device.partition(":")[0]

    def room(self, tenant: str) -> tuple[int, int]:
        """Bytes that sessions of the tenant, and those of all, may still take there."""
        facts = self.facts
        if facts is None:
            return 0, 0
        held = sum(self.tenants.values()) if self._commons is None else self._commons.held[self.number]
        left = facts.process_bytes - held
        return min(left, facts.tenant_bytes - self.tenants.get(tenant, 0)), left

    @property
    def was_ready(self) -> bool:
        """Whether the process was ever ready."""
        return self.ready.done() and self.ready.exception() is None

    @property
    def well(self) -> bool:
        """Whether the process is ready and shows signs of life."""
        return self.alive and self.was_ready and not self._link.pulse.doubtful

    def look(self) -> None:
        """Check for signs of life; kill the process after too long without, which answers all frames in
        flight.
        """
        with self._lock:
            if not self.alive:
                return
            self._link.pulse.look()
            if self._link.pulse.over:
                logger.error("engine process %d neither answers nor computes: it is killed", self.pid)
                self._child.kill()

    def kill(self) -> None:
        """Kill the process; frames in flight are answered with device-lost."""
        self._child.kill()

    @property
    def stopping(self) -> bool:
        """Whether it was told to stop something that is not answered yet."""
        return bool(self._stops)

    def look_at_batch(self) -> Stuck | None:
        """The batch that it runs, if it does."""
        with self._lock:
            return self._stops.look(self._in_flight, time.monotonic()) if self.alive else None

    def replace(self, request: Pending) -> None:
        """Kill the process for that request, which is to be submitted again so that it is not begun."""
        with self._lock:
            if request.number in self._in_flight:
                request.again = True
                self._child.kill()

    # -- send --------------------------------------------------------------------------------------

    def ask(self, session: int, frame: frames.Bytes | Bulk | FileOrder, request: Pending) -> bool:
        """Send a request frame, `request` gets the reply frame; False if the process has ended. A batch
        that has a reason not to begin (`Pending.why`) fails with that.
        """
        if isinstance(frame, FileOrder):
            return self._send(EnvelopeKind.FILE, session, msgspec.json.encode(frame), request)
        if request.why is None:
            return self._send(EnvelopeKind.FRAME, session, frame, request)
        with self._lock:
            number = self._number + 2
            order = Order(number, number, request.why)
            self._send(EnvelopeKind.STOP, session, msgspec.json.encode(order), None)
            return self._send(EnvelopeKind.FRAME, session, frame, request)

    def status(self) -> EngineStatus:
        """What is known of it. It is asked once for its figures, however often they are wanted meanwhile."""
        waiting = len(self._in_flight)
        asked = self._figures
        if asked is None or asked.done():
            self._figures = asked = PendingFuture()
            if not self._send(EnvelopeKind.FIGURES, 0, b"", asked):
                asked.set_result(b"")
        else:
            waiting -= 1
        return EngineStatus(self.pid, self.well, max(0, waiting), asked, self.node)

    def let_go(self, session: int, request: Pending) -> bool:
        """Let the session fall asleep and leave the process; `request` is answered when it has. False if the
        process has ended.
        """
        return self._send(EnvelopeKind.LEAVE, session, b"", request)

    def send(self, kind: EnvelopeKind, session: int, payload: bytes = b"") -> None:
        """Send an envelope without a reply; does nothing if the process has ended."""
        self._send(kind, session, payload, None)

    def stop(
        self, session: int, why: Problem, writer: int | None = None, seq: int | None = None,
        only: Pending | None = None,
    ) -> None:  # fmt: skip
        """Stop the batches of that session that were sent so far, some of one writer, or one request."""
        with self._lock:
            if not self.alive:
                return
            first, last = (0, self._number) if only is None else (only.number, only.number)
            order = Order(first, last, why, writer, seq)
            self._stops.add(session, order, time.monotonic())
            try:
                self._orders.sendmsg(order_envelope(session, order), (), socket.MSG_DONTWAIT)
                return
            except BlockingIOError:
                pass  # so many that nobody can have heard them: it goes the other way
            except OSError:  # the process died
                return
        self.send(EnvelopeKind.STOP, session, msgspec.json.encode(order))

    def _send(
        self, kind: EnvelopeKind, session: int, payload: frames.Bytes | Bulk, request: Pending | None
    ) -> bool:
        with self._lock:
            if not self.alive or self._finishing:
                return False
            self._number = number = self._number + 1
            if request is not None:
                request.number, request.session, request.frame = number, session, payload
                self._in_flight[number] = request
            if not isinstance(payload, Bulk):
                parts, bulk = sealed(kind, number, session, [memoryview(payload)], self._near)
            elif self._near:
                parts, bulk = sealed_bulk(number, session, payload)
            else:
                parts, bulk = sealed(kind, number, session, [payload.map()], near=False)
            # Straight into the socket if there is room: waking a thread doubles a small frame's latency.
            sent = 0 if self._outbox else self._try(parts, bulk)
            if left := unsent(parts, sent):
                self._outbox += [(part, None) for part in left]
                if bulk is not None and not sent:
                    self._outbox[-len(left)] = left[0], bulk
                self._change.notify_all()
            return True

    def _try(self, parts: list[frames.Part], bulk: Bulk | None) -> int:
        try:
            return send(self._socket, parts, bulk, socket.MSG_DONTWAIT)
        except OSError:  # no room; or the process died, which the reader handles
            return 0

    def _write(self) -> None:
        """Send what did not fit, then close the sending side if asked to."""
        room = select.poll()
        room.register(self._socket, select.POLLOUT)
        with suppress(OSError):  # the process died
            while True:
                with self._lock:
                    self._change.wait_for(lambda: self._outbox or self._finishing or not self.alive)
                    if not self.alive:
                        return
                    if not self._outbox:
                        self._socket.shutdown(socket.SHUT_WR)
                        return
                    part, bulk = self._outbox[0]
                room.poll()  # an event loop has made the socket non-blocking
                try:
                    sent = send(self._socket, [part], bulk, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    continue
                with self._lock:
                    self._outbox.popleft()
                    self._outbox.extendleft((rest, None) for rest in unsent([part], sent))
                del part, bulk  # do not keep large ones while waiting for the next

    # -- receive -----------------------------------------------------------------------------------

    def follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pass replies on in `loop` from now on. Call it there."""
        with self._reading:
            if not self._ended:
                self._mine.clear()
                self._loop = loop
                loop.add_reader(self._socket, self._on_readable)

    def leave(self) -> None:
        """Undo `follow`. Call it on its loop."""
        with self._reading:
            if self._loop is not None:
                self._loop.remove_reader(self._socket)
                self._loop = None
        self._mine.set()

    def _on_readable(self) -> None:
        self._receive()
        if self._ended:
            self.leave()

    def _read(self) -> None:
        """Receive while no loop does, and handle the end."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        while not self._ended:
            self._mine.wait()
            poll.poll()
            with self._reading:
                if self._mine.is_set() and not self._ended:
                    self._receive()
        self._end()

    def _receive(self) -> None:
        try:
            came = self._incoming.receive(socket.MSG_DONTWAIT)
        except OSError:
            came = None
        if came is None:
            self._ended = True
            return
        for envelope in came:
            self._take(envelope)

    def _take(self, envelope: Envelope) -> None:
        """Pass a reply on."""
        kind, number, ran, payload = envelope
        reply = payload.map() if isinstance(payload, Bulk) else payload
        if number:
            with self._lock:
                request = self._in_flight.pop(number)
            request.ran, request.answered, request.frame = 1e-9 * ran, time.perf_counter(), None
            request.set_result(reply)
        elif kind == EnvelopeKind.READY:
            self.facts = _facts.decode(reply)
            self.ready.set_result(None)
        elif kind == EnvelopeKind.FAILED:
            self.ready.set_exception(RuntimeError(bytes(reply).decode()))

    # -- end ---------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Take no more frames; the process answers those in flight, and exits."""
        with self._lock:
            self._finishing = True
            self._change.notify_all()

    def join(self, seconds: float) -> None:
        """Wait for the process to exit after `finish`; kill it after `seconds`."""
        self._reader.join(seconds)
        if self._reader.is_alive():
            self._child.kill()
            self._reader.join()
        self._writer.join()

    def _end(self) -> None:
        with self._lock:
            self.alive = False
            unanswered = [request for request in self._in_flight.values() if not request.again]
            self.unfinished = [request for request in self._in_flight.values() if request.again]
            self._in_flight.clear()
            self._change.notify_all()
        # Wake a blocked send.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        try:
            code = self._child.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = self._child.wait()
        self._writer.join()
        self._socket.close()
        self._orders.close()
        with self._lock:
            self._link.pulse.close()
            self._link.release()
        if not self.ready.done():
            self.ready.set_exception(RuntimeError(f"the engine process ended at its start, with code {code}"))
        reply, retry = lost(), recovering()
        for request in unanswered:
            request.set_result(retry if request.kept else reply)
        self._on_end(self, code)


def lost(name: str = "") -> bytes:
    """The reply to a frame whose session was lost with its engine process."""
    which = f"session {name!r}" if name else "the session"
    return refusal(
        ProtocolError.of(
            "device-lost",
            f"the engine process of {which} ended, and what the session held is gone: delete it "
            "(gradd.delete_session, `gradd sessions delete`), then create it again",
        )
    )
