"""The hot path: a WebSocket with one frame per message, and replies in order."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError
from gradd_protocol.version import WIRE
from msgspec import json
from websockets.exceptions import InvalidHandshake, InvalidStatus

from .._exceptions import ConnectionFailed, GraddError, NotAllowed, error_of
from .base import Dropped, extensions_of
from .reaching import no_stream, other_version, refusal, refused, unreachable
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
        hello = m.Attach("gradd-python", *(resume or (None, None)))
        whom = self._control.credentials.whom
        try:
            self._socket = self._opened(json.encode(hello).decode(), new=resume is None)
            self.extensions, self.far = extensions_of(self._socket.headers), self._socket.far
            if not self.far:
                self._control.unprepare()
            if "Gradd-Attached" not in self._socket.headers:  # an older daemon, or a proxy took it out
                self._socket.send(frames.join(frames.encode(hello)))
            data = self._socket.receive(block=True)
        except InvalidStatus as e:
            self._control.unprepare()  # a server of one connection at a time would wait for that one
            base, status = self._control.base, e.response.status_code
            found = refusal(status, e.response.headers, e.response.body or b"")
            if isinstance(found, NotAllowed) or (resume is not None and isinstance(found, GraddError)):
                raise found from e
            raise refused(base, self._control.credentials.headers, status, found) or ConnectionFailed(
                f"no gradd daemon answers at {base} (HTTP {status}): {found}"
            ) from e
        except (OSError, InvalidHandshake) as e:
            self._control.unprepare()
            if resume is not None:  # it was there
                raise ConnectionFailed(f"no gradd daemon answers at {whom}: {e}") from e
            if isinstance(e, InvalidHandshake):
                raise no_stream(self._control.base, self._control.credentials.headers, e, whom) from e
            raise unreachable(self._control.base, e, whom) from e
        assert isinstance(data, bytes)
        try:
            reply, _ = frames.decode_reply(data)
        except ProtocolError as e:
            raise other_version(self._control.base, self._control.credentials.headers) from e
        if isinstance(reply, m.ProblemReply):
            error = error_of(reply.problem, None, None)
            headers = self._control.credentials.headers
            raise refused(self._control.base, headers, reply.problem.status, error) or error
        assert isinstance(reply, m.Attached)
        return reply

    def _opened(self, hello: str, new: bool) -> WebSocket:
        """A stream to the first front that answers; `new`: of a session that is not resumed."""
        credentials, failure = self._control.credentials, None
        for base in credentials.in_turn():
            try:
                return WebSocket(
                    "ws" + base.removeprefix("http") + self._path,
                    WIRE,
                    {**credentials.headers, "Gradd-Attach": hello},
                    max_size=DEFAULT.server_message_bytes,
                    silence=self._control.silence,
                    meanwhile=self._control.prepare if new else None,
                )
            except InvalidStatus:
                raise  # it has answered
            except (OSError, InvalidHandshake) as e:
                self._control.unprepare()
                failure = e
        assert failure is not None
        raise failure

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

    def delete(self, within: float | None = None) -> None:
        """See Transport.delete: the stream ends meanwhile."""
        if self._socket is not None:
            self._socket.begin_close()
        super().delete(within)

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
