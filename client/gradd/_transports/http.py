"""A PUT per batch, for networks that block WebSockets."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING

from gradd_protocol import frames
from gradd_protocol import messages as m

from . import waits
from .base import Dropped
from .remote import Remote
from .tracing import trace_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .link import Link

FRAME = "application/vnd.gradd.frame"


class HttpTransport(Remote):
    """Batches by ``PUT .../writers/{w}/batches/{seq}``, one at a time, on a thread. See `Transport`."""

    def __init__(self, url: str, session: str, token: str | None) -> None:
        super().__init__(url, session, token)
        self._line: _Line | None = None

    def attach(self, resume: tuple[int, int] | None = None) -> m.Attached:
        """See Transport.attach."""
        self._drop()
        reply, self.extensions = self._control.attach(resume)
        self._line = _Line(
            self._control.link(), f"{self._control.path}/writers/{reply.writer}/batches", reply.epoch
        )
        return reply

    def send(self, parts: Sequence[frames.Part], seq: int) -> None:
        """See Transport.send."""
        if self._line is None:
            raise Dropped("not connected")
        self._line.put(seq, frames.join(parts))

    def receive(self, block: bool) -> bytes | None:
        """See Transport.receive."""
        line = self._line
        if line is None or (block and not line.replies):
            raise Dropped("a reply was lost")
        if not line.replies or not (block or line.replies[0].done()):
            return None
        reply = waits.result(line.replies[0], self._control.base)
        line.replies.popleft()
        return reply

    def coming(self, told: Callable[[], None]) -> None:
        """See Transport.coming."""
        if self._line is None or not self._line.replies:
            raise Dropped("a reply was lost")
        self._line.replies[0].add_done_callback(lambda _: told())

    def doubt(self) -> None:
        """See Transport.doubt: the thread of the requests does."""

    def _drop(self) -> None:
        if self._line is not None:
            self._line.end()
            self._line = None


class _Line:
    """Sends batches in order, each after the reply to the previous one, and stores the replies.

    After one that was refused or got no reply, nothing more is sent: it could arrive out of order when the
    refused one is sent again on another line.
    """

    def __init__(self, link: Link, path: str, epoch: int) -> None:
        self._sends: SimpleQueue[tuple[int, bytes, dict[str, str], Future[bytes]] | None] = SimpleQueue()
        #: of batches whose replies were not taken yet
        self.replies: deque[Future[bytes]] = deque()
        self._link = link
        self._path = path
        self._headers = {"Content-Type": FRAME, "Accept": FRAME, "Gradd-Epoch": str(epoch)}
        self._fault: Dropped | None = None
        threading.Thread(target=self._run, name="gradd-batches", daemon=True).start()

    def put(self, seq: int, frame: bytes) -> None:
        """Send a batch after those before it."""
        reply: Future[bytes] = Future()
        self._sends.put((seq, frame, trace_headers(), reply))  # the thread has no span
        self.replies.append(reply)

    def end(self) -> None:
        """Send no more; leave the current request to itself."""
        self._fault = Dropped("the connection was given up")
        self._sends.put(None)

    def _run(self) -> None:
        while (batch := self._sends.get()) is not None:
            seq, frame, trace, reply = batch
            if self._fault is not None:
                reply.set_exception(self._fault)
                continue
            try:
                reply.set_result(self._put(seq, frame, trace))
            except Exception as e:
                self._fault = e if isinstance(e, Dropped) else Dropped(repr(e))
                reply.set_exception(self._fault)
        self._link.close()

    def _put(self, seq: int, frame: bytes, trace: dict[str, str]) -> bytes:
        response, body = self._link.call("PUT", f"{self._path}/{seq}", frame, self._headers | trace)
        if response.status < 400:
            return bytes(body)
        if not response.headers.get("Content-Type", "").startswith(FRAME):  # a proxy without the daemon
            raise Dropped(f"HTTP {response.status}")
        if isinstance(frames.decode_reply(body)[0], m.ProblemReply):
            self._fault = Dropped("the batch before it was refused")
        return bytes(body)
