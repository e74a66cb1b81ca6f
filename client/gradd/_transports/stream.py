"""The hot path: a WebSocket with one frame per message, and replies in order."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from websockets.exceptions import InvalidHandshake, InvalidStatus

from .._exceptions import ConnectionFailed, GraddError, NotAllowed, error_of
from .base import Dropped
from .control import refusal
from .remote import Remote
from .websocket import Closed, WebSocket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class StreamTransport(Remote):
    """Batches over ``/v1/sessions/{name}/stream``; control and bulk data over HTTP. See `Transport`."""

    def __init__(self, url: str, session: str, token: str | None) -> None:
        super().__init__(url, session, token)
        self._path = f"/v1/sessions/{quote(session, safe='')}/stream"
        self._socket: WebSocket | None = None

    def attach(self, resume: tuple[int, int] | None = None) -> m.Attached:
        """See Transport.attach."""
        self._drop()
        self._control.credentials.refresh()
        try:
            self._socket = WebSocket(
                "ws" + self._control.base.removeprefix("http") + self._path,
                "gradd.v1",
                self._control.credentials.headers,
                max_size=DEFAULT.server_message_bytes,
                silence=self._control.silence,
            )
            hello = m.Attach("gradd-python", *(resume or (None, None)))
            self._socket.send(frames.join(frames.encode(hello)))
            data = self._socket.receive(block=True)
        except InvalidStatus as e:
            status = e.response.status_code
            found = refusal(status, e.response.headers, e.response.body or b"")
            if isinstance(found, NotAllowed) or (resume is not None and isinstance(found, GraddError)):
                raise found from e
            raise ConnectionFailed(
                f"no gradd daemon answers at {self._control.base} (HTTP {status}): {found}"
            ) from e
        except (OSError, InvalidHandshake) as e:
            raise ConnectionFailed(f"no gradd daemon answers at {self._control.base}: {e}") from e
        assert isinstance(data, bytes)
        reply, _ = frames.decode_reply(data)
        if isinstance(reply, m.ProblemReply):
            raise error_of(reply.problem, None, None)
        assert isinstance(reply, m.Attached)
        return reply

    def send(self, parts: Sequence[frames.Part], seq: int) -> None:
        """See Transport.send."""
        if self._socket is None:
            raise Dropped("not connected")
        try:
            self._socket.send(frames.join(parts))
        except Closed as e:
            raise Dropped(str(e)) from e

    def receive(self, block: bool) -> bytes | None:
        """See Transport.receive."""
        if self._socket is None:
            raise Dropped("not connected")
        try:
            return self._socket.receive(block)
        except Closed as e:
            raise Dropped(str(e)) from e

    def coming(self, told: Callable[[], None]) -> int:
        """See Transport.coming."""
        if self._socket is None:
            raise Dropped("not connected")
        try:
            return self._socket.coming(told)
        except Closed as e:
            raise Dropped(str(e)) from e

    def doubt(self) -> None:
        """See Transport.doubt."""
        try:
            if self._socket is not None:
                self._socket.doubt()
        except Closed as e:
            raise Dropped(str(e)) from e

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
