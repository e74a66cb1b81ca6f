"""A connection on which requests follow one another before their responses are read."""

from __future__ import annotations

import copy
import http.client
import io
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Response = tuple[http.client.HTTPResponse, bytes]


class _Reader(io.BufferedReader):
    """What all responses of a connection are read from: it may have read the next one's beginning too."""

    def close(self) -> None:
        """A response is over, and not what it came by."""

    def makefile(self, mode: str) -> io.BufferedReader:
        """For http.client, to which this is a socket."""
        return self


class Awaited:
    """The response to a request; None until it was read, and for ever where the connection has ended."""

    def __init__(self, request: http.client.HTTPConnection) -> None:
        self.request = request
        self.found: Response | None = None


class Pipe:
    """Requests over `connection`, which nobody else uses until they are answered. `raw` reads from it."""

    def __init__(self, connection: http.client.HTTPConnection, raw: io.RawIOBase) -> None:
        self.connection = connection
        self._raw = raw
        self._reader = _Reader(raw)
        self._unread: deque[Awaited] = deque()
        #: whether another request may follow
        self.alive = True

    @property
    def idle(self) -> bool:
        """Whether all is answered, and the connection good for other requests."""
        return self.alive and not self._unread

    def ask(self, send: Callable[[http.client.HTTPConnection], None]) -> Awaited:
        """Send a request, as `send` does with a connection. Raises as it does, and then this pipe is dead."""
        # http.client allows one request at a time for each object.
        answer = Awaited(copy.copy(self.connection))
        sent = False
        try:
            send(answer.request)
            sent = True
        finally:
            if not sent:
                self.close()
        self._unread.append(answer)
        return answer

    def read(self, answer: Awaited) -> Response | None:
        """The response to a request. None where it will not come; raises what reading raises."""
        while answer in self._unread:
            first = self._unread[0]
            whole = False
            try:
                first.request.response_class = self._response  # type: ignore[assignment]
                response = first.request.getresponse()
                first.found = response, response.read()
                whole = first.request.sock is not None
            finally:
                if whole:
                    self._unread.popleft()
                else:
                    self.close()
        return answer.found

    def release(self) -> http.client.HTTPConnection:
        """Read no more from the connection, which is for others now."""
        self._raw.close()  # it holds the socket open
        return self.connection

    def close(self) -> None:
        """Close the connection; what was not read will not be."""
        self.alive = False
        self._unread.clear()
        self.release().close()

    def _response(self, sock: Any, **more: Any) -> http.client.HTTPResponse:
        reader: Any = self._reader
        return http.client.HTTPResponse(reader, **more)
