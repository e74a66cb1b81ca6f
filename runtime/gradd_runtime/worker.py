"""An engine process: sessions behind a socket to the front. `python -m gradd_runtime.worker FD DEVICE`.

One thread: it takes in every envelope that has arrived, runs one frame, and looks again. Each session that
has frames waiting gets one run in turn. The end of the socket is the order to finish: what was taken in is
answered, then the process ends. It does so too when the front dies.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

from gradd_protocol.problems import ProtocolError

from .envelope import HEAD, Kind
from .placement import answer, backend_of, open_session, refusal

if TYPE_CHECKING:
    from gradd_engine.backends import Backend

    from .session import Session


class Worker:
    """The sessions of this process, and the frames that wait for them; `fd` is a stream socket's."""

    def __init__(self, fd: int, backend: Backend) -> None:
        self._fd = fd
        self._backend = backend
        self._sessions: dict[int, Session] = {}
        self._waiting: dict[int, deque[tuple[int, memoryview]]] = {}
        self._turns: deque[int] = deque()
        self._open = True
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def run(self) -> None:
        """Serve until the front ends the socket and everything is answered."""
        write(self._fd, Kind.READY)
        while self._open or self._turns:
            while self._open and self._poll.poll(0 if self._turns else None):
                self._take()
            if self._turns:
                self._run_one()

    def _take(self) -> None:
        head = read(self._fd, HEAD.size)
        if head is None:
            self._open = False
            return
        kind, request, number, size = HEAD.unpack(head)
        payload = read(self._fd, size)
        if payload is None:
            self._open = False
        elif kind == Kind.OPEN:
            told = json.loads(bytes(payload))
            self._sessions[number] = open_session(told["name"], told["options"], self._backend)
        elif kind == Kind.CLOSE:
            self._close(number)
        elif number not in self._sessions:
            write(self._fd, Kind.FRAME, request, _closed())
        else:
            queue = self._waiting.setdefault(number, deque())
            if not queue:
                self._turns.append(number)
            queue.append((request, payload))

    def _run_one(self) -> None:
        number = self._turns.popleft()
        queue = self._waiting[number]
        request, frame = queue.popleft()
        write(self._fd, Kind.FRAME, request, answer(self._sessions[number], frame))
        if queue:
            self._turns.append(number)
        else:
            del self._waiting[number]

    def _close(self, number: int) -> None:
        self._sessions.pop(number)
        if queue := self._waiting.pop(number, None):
            self._turns.remove(number)
            for request, _ in queue:
                write(self._fd, Kind.FRAME, request, _closed())


def _closed() -> bytes:
    return refusal(ProtocolError.of("session-not-found", "the session was deleted"))


def read(fd: int, size: int) -> memoryview | None:
    """The next `size` bytes, in memory of their own; None where the socket ends before."""
    data = memoryview(bytearray(size))
    at = 0
    while at < size:
        try:
            got = os.readv(fd, [data[at:]])
        except ConnectionResetError:
            return None
        if not got:
            return None
        at += got
    return data.toreadonly()


def write(fd: int, kind: Kind, request: int = 0, payload: bytes = b"") -> None:
    """Send one envelope. Raises BrokenPipeError where the front is gone."""
    head = HEAD.pack(kind, request, 0, len(payload))
    sent = os.writev(fd, [head, payload])
    if sent < HEAD.size + len(payload):
        rest = memoryview(payload) if sent >= HEAD.size else memoryview(head + payload)
        at = sent - HEAD.size if sent >= HEAD.size else sent
        while at < len(rest):
            at += os.write(fd, rest[at:])


def main(arguments: list[str]) -> int:
    """Run the engine process of FD and DEVICE; the exit code."""
    # The front says when to stop; a signal to its whole group must not drop the work it still waits for.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    fd, device = int(arguments[0]), arguments[1]
    try:
        backend: Any = backend_of(device)
    except (ImportError, RuntimeError) as refused:
        write(fd, Kind.FAILED, payload=str(refused).encode())
        return 1
    try:
        Worker(fd, backend).run()
    except BrokenPipeError:
        return 1  # nobody is left to answer to
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
