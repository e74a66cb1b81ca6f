"""One engine process as the front sees it: a socket, frames in flight, and whether it is alive."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import select
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from gradd_protocol import frames
from gradd_protocol.problems import ProtocolError
from gradd_runtime.process import (
    Bulk,
    Envelope,
    EnvelopeKind,
    Incoming,
    Pending,
    refusal,
    sealed,
    sealed_bulk,
    send,
    unsent,
)

from gradd_server.placement.watch import Watch

logger = logging.getLogger("gradd.server")

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""What numeric libraries read once, when they are loaded."""

HEAP = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 31)}
"""glibc keeps freed arrays in the heap instead of unmapping them, which is most of an eager chain's time."""

EXIT_SECONDS = 5.0
"""Longest wait for a process that has closed its socket to be gone."""


class EngineProcess:
    """A child that runs `gradd_runtime.process.worker` on `device` with `threads` compute threads.

    Its replies are read by a thread, or, between `follow` and `leave`, by an event loop: without a thread to
    wake, a small frame is back sooner. `on_end(self, exit code)` is called once, on a thread of this object,
    when the child has ended and every frame in flight was answered. `look` is to be called every `interval`
    seconds: a child that shows no life is killed.
    """

    def __init__(
        self, device: str, threads: int, interval: float, on_end: Callable[[EngineProcess, int], None]
    ) -> None:
        self._socket, theirs = socket.socketpair()
        pulse, beating = os.pipe()
        lifeline, self._lifeline = os.pipe()
        level = logging.getLevelName(logging.getLogger().level)
        given = [theirs.fileno(), beating, lifeline]
        arguments = [str(given[0]), device, level, str(beating), str(lifeline), str(interval / 2)]
        try:
            self._child = subprocess.Popen(
                # A process of its own program, not a fork: no lock, thread or device of the front's is in it.
                [sys.executable, "-P", "-m", "gradd_runtime.process.worker", *arguments],
                stdin=subprocess.DEVNULL,
                pass_fds=given,
                start_new_session=True,  # the terminal's Ctrl-C is for the front
                env={
                    **HEAP,
                    **os.environ,
                    **dict.fromkeys(THREAD_VARIABLES, str(threads)),
                },
            )
        except BaseException:
            self._socket.close()
            os.close(pulse)
            os.close(self._lifeline)
            raise
        finally:
            theirs.close()
            os.close(beating)
            os.close(lifeline)
        self.pid = self._child.pid
        self.alive = True
        self._watch = Watch(self.pid, pulse, interval)
        self.ready: Future[None] = Future()
        """Done when the process takes work; a RuntimeError says why it cannot."""
        self._on_end = on_end
        self._incoming = Incoming(self._socket)
        self._numbers = itertools.count(1)
        self._in_flight: dict[int, Pending] = {}
        self._outbox: deque[tuple[memoryview, Bulk | None]] = deque()
        self._change = threading.Condition()
        self._finishing = False
        self._reading = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._mine = threading.Event()
        """The thread reads, or would at the end of the socket; else the loop does."""
        self._mine.set()
        self._ended = False
        self._reader = threading.Thread(target=self._read, name=f"gradd-replies-{self.pid}", daemon=True)
        self._writer = threading.Thread(target=self._write, name=f"gradd-frames-{self.pid}", daemon=True)
        self._reader.start()
        self._writer.start()

    @property
    def was_ready(self) -> bool:
        """Whether the process ever took work."""
        return self.ready.done() and self.ready.exception() is None

    @property
    def well(self) -> bool:
        """Whether the process takes work and shows life."""
        return self.alive and self.was_ready and not self._watch.doubtful

    def look(self) -> None:
        """Look for life; a process that shows none for too long is killed, which answers what it was sent."""
        with self._change:
            if not self.alive:
                return
            self._watch.look()
            if self._watch.over:
                logger.error("engine process %d neither answers nor computes: it is killed", self.pid)
                self._child.kill()

    def kill(self) -> None:
        """End the process now; what it was sent is answered with its loss."""
        self._child.kill()

    # -- out ---------------------------------------------------------------------------------------

    def ask(self, session: int, frame: frames.Bytes | Bulk, future: Pending) -> bool:
        """Send a request frame, `future` gets the reply frame; False where the process has ended."""
        return self._send(EnvelopeKind.FRAME, session, frame, future)

    def send(self, kind: EnvelopeKind, session: int, payload: bytes = b"") -> None:
        """Send what has no answer; nothing happens where the process has ended."""
        self._send(kind, session, payload, None)

    def _send(
        self, kind: EnvelopeKind, session: int, payload: frames.Bytes | Bulk, future: Pending | None
    ) -> bool:
        with self._change:
            if not self.alive or self._finishing:
                return False
            number = next(self._numbers)
            if future is not None:
                self._in_flight[number] = future
            if isinstance(payload, Bulk):
                parts, bulk = sealed_bulk(number, session, payload)
            else:
                parts, bulk = sealed(kind, number, session, [memoryview(payload)])
            # Straight into the socket where there is room: a thread's wake-up is half of a small frame's way.
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
        except OSError:  # no room; or the process died, which the reader sees and answers for
            return 0

    def _write(self) -> None:
        """Send what did not fit at once, and the end of the socket after the last of it."""
        room = select.poll()
        room.register(self._socket, select.POLLOUT)
        with suppress(OSError):  # the process died
            while True:
                with self._change:
                    self._change.wait_for(lambda: self._outbox or self._finishing or not self.alive)
                    if not self.alive:
                        return
                    if not self._outbox:
                        self._socket.shutdown(socket.SHUT_WR)
                        return
                    part, bulk = self._outbox[0]
                room.poll()  # an event loop has made the socket one that does not wait
                try:
                    sent = send(self._socket, [part], bulk, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    continue
                with self._change:
                    self._outbox.popleft()
                    self._outbox.extendleft((rest, None) for rest in unsent([part], sent))
                del part, bulk  # they may be large, and the next may be long in coming

    # -- in ----------------------------------------------------------------------------------------

    def follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Complete futures on `loop` from now on; called there."""
        with self._reading:
            if not self._ended:
                self._mine.clear()
                self._loop = loop
                loop.add_reader(self._socket, self._on_readable)

    def leave(self) -> None:
        """End what `follow` began; called on its loop."""
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
        """Receive while no loop does it, and see to the end."""
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
        """Complete the future of a reply."""
        kind, number, ran, payload = envelope
        reply = payload.map() if isinstance(payload, Bulk) else payload
        if kind == EnvelopeKind.READY:
            self.ready.set_result(None)
        elif kind == EnvelopeKind.FAILED:
            self.ready.set_exception(RuntimeError(bytes(reply).decode()))
        else:
            with self._change:
                future = self._in_flight.pop(number)
            future.ran = 1e-9 * ran
            future.set_result(reply)

    # -- the end -----------------------------------------------------------------------------------

    def finish(self) -> None:
        """Take no more; the process answers what it was sent, and ends."""
        with self._change:
            self._finishing = True
            self._change.notify_all()

    def join(self, seconds: float) -> None:
        """Wait for the end that `finish` asked for; kill the process after `seconds`."""
        self._reader.join(seconds)
        if self._reader.is_alive():
            self._child.kill()
            self._reader.join()
        self._writer.join()

    def _end(self) -> None:
        with self._change:
            self.alive = False
            unanswered = list(self._in_flight.values())
            self._in_flight.clear()
            self._change.notify_all()
        # What still blocks in a send learns of it.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        try:
            code = self._child.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = self._child.wait()
        self._writer.join()
        self._socket.close()
        with self._change:
            self._watch.close()
            os.close(self._lifeline)
        if not self.ready.done():
            self.ready.set_exception(RuntimeError(f"the engine process ended at its start, with code {code}"))
        reply = lost()
        for future in unanswered:
            future.set_result(reply)
        self._on_end(self, code)


def lost(name: str = "") -> bytes:
    """The reply to a frame whose session went with its engine process."""
    which = f"session {name!r}" if name else "the session"
    return refusal(
        ProtocolError.of(
            "device-lost",
            f"the engine process of {which} ended, and what the session held is gone: delete it "
            "(gradd.delete_session, `gradd sessions delete`), then create it again",
        )
    )
