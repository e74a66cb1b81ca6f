"""A PUT a batch: for places where WebSockets do not pass. Each send waits for its answer; the same
results.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import httpx
from gradd_protocol import frames
from gradd_protocol import messages as m

from .base import Dropped
from .control import Control, read_problem, slices

if TYPE_CHECKING:
    from collections.abc import Sequence

FRAME = "application/vnd.gradd.frame"


class HttpTransport:
    """Batches by ``PUT .../writers/{w}/batches/{seq}``. See `Transport`."""

    def __init__(self, url: str, session: str, token: str | None) -> None:
        self._control = Control(url, session, token)
        self._waiting: deque[bytes] = deque()
        self._writer = self._epoch = 0

    def attach(self, resume: tuple[int, int] | None = None) -> m.Attached:
        """See Transport.attach."""
        self._waiting.clear()
        reply = self._control.attach(resume)
        self._writer, self._epoch = reply.writer, reply.epoch
        return reply

    def send(self, parts: Sequence[frames.Part], seq: int) -> None:
        """See Transport.send."""
        self._waiting.append(self._put(frames.join(parts), seq))

    def _put(self, frame: bytes, seq: int) -> bytes:
        try:
            response = self._control.client.put(
                f"{self._control.path}/writers/{self._writer}/batches/{seq}",
                content=slices(memoryview(frame)),
                headers={
                    "Content-Type": FRAME, "Accept": FRAME, "Content-Length": str(len(frame)),
                    "Gradd-Epoch": str(self._epoch),
                },
            )  # fmt: skip
        except httpx.HTTPError as e:
            raise Dropped(str(e)) from e
        if response.headers.get("Content-Type", "").startswith(FRAME):
            return response.content
        return frames.join(frames.encode(m.ProblemReply(read_problem(response))))

    def receive(self, block: bool) -> bytes | None:
        """See Transport.receive."""
        if self._waiting:
            return self._waiting.popleft()
        if block:
            raise Dropped("a reply was lost")
        return None

    def request(
        self, message: m.Request, buffers: Sequence[frames.Array] = ()
    ) -> tuple[m.Reply, list[frames.Array]]:
        """See Transport.request."""
        return self._control.request(message, buffers)

    def delete(self) -> None:
        """See Transport.delete."""
        self._control.delete()

    def close(self) -> None:
        """See Transport.close."""
        self._control.close()
