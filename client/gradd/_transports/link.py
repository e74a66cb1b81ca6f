"""HTTP by the standard library: a body goes from its own memory into the socket and from the socket into the
memory that it is for.
"""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
import struct
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from . import waits
from .base import Dropped, Silent

if TYPE_CHECKING:
    from collections.abc import Callable

#: looks at a daemon that takes its time, before the request is sent again; then so many times as many
_LOOKS, _MORE = 2, 4


class _Again(Exception):
    """The daemon lives and sends nothing: the connection may be dead."""


class _Patient(io.RawIOBase):
    """What comes over a socket. Each time that nothing does within its timeout, `look` is called, which may
    raise; _Again after so many times in a row.
    """

    def __init__(self, sock: socket.socket, look: Callable[[], None], looks: int | None) -> None:
        self._socket, self._look, self._looks = sock, look, looks
        self._file = sock.makefile("rb", buffering=0)

    def makefile(self, mode: str) -> io.BufferedReader:
        """What http.client asks of a socket."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """See io.RawIOBase."""
        looks = self._looks
        while True:
            try:
                return self._file.readinto(buffer)
            except TimeoutError:
                self._look()
                if looks is not None:
                    looks -= 1
                    if not looks:
                        raise _Again from None
                # After a timeout such a file is of no more use.
                spent, self._file = self._file, self._socket.makefile("rb", buffering=0)
                spent.close()

    def close(self) -> None:
        """See io.RawIOBase."""
        self._file.close()
        super().close()


class Link:
    """One connection to the daemon at `base`, made when it is needed and kept. For one thread at a time.

    HTTP has no pings. Where an answer, or the rest of one, takes its time, the daemon is asked on another
    connection whether it lives (`silence`, s: the longest that it may say nothing). If so the request goes
    on; now and then it is sent again on a new connection, for the old one may have died without a word. So
    requests must be such that twice is as good as once, or say `once`.
    """

    def __init__(self, base: str, headers: dict[str, str], silence: float | None = None) -> None:
        self._to = urlsplit(base)
        self._headers = headers
        self._silence = waits.silence() if silence is None else silence
        self._kept: http.client.HTTPConnection | None = None

    def call(
        self, method: str, path: str, body: memoryview | bytes | None = None,
        headers: dict[str, str] | None = None,
        take: Callable[[http.client.HTTPResponse], Any] = http.client.HTTPResponse.read, once: bool = False,
    ) -> tuple[http.client.HTTPResponse, Any]:  # fmt: skip
        """One request: the response, and what `take` made of its body, or its bytes where the status is 400
        or more. Dropped where the daemon is away, Silent where it says nothing. A kept connection that it has
        closed since is made again.
        """
        looks = _LOOKS
        while True:
            kept, self._kept = self._kept, None
            connection = kept or self._connect()
            try:
                connection.sock.settimeout(None)  # but for that of the system, for bytes that do not get away
                whole = False
                try:
                    all_headers = {**self._headers, **(headers or {})}
                    connection.request(method, self._to.path + path, body, all_headers)
                    whole = True
                except (BrokenPipeError, ConnectionResetError):
                    pass  # it may have answered before it hung up
                except BlockingIOError:
                    # So may one that reads no more; else it says nothing.
                    if not select.select([connection.sock], [], [], 0)[0]:
                        raise
                connection.sock.settimeout(self._silence / 2)
                connection.response_class = self._patient(None if once else looks)
                response = connection.getresponse()
                found = take(response) if response.status < 400 else response.read()
                if whole and connection.sock is not None:  # else it ended with this answer, or waits for more
                    self._kept = connection
                return response, found
            except _Again:
                looks *= _MORE
            except (TimeoutError, BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError) as e:
                raise Silent(self._silence) from e
            except (http.client.HTTPException, OSError) as e:
                if kept is None:
                    raise Dropped(str(e) or type(e).__name__) from e
            finally:
                # After an interrupt as after an error, whose answer would come next cannot be told any more.
                if self._kept is not connection:
                    connection.close()

    def _patient(self, looks: int | None) -> Any:
        """What makes a response of a socket: as http.client does, but the socket is read with patience."""

        def response(sock: Any, **more: Any) -> http.client.HTTPResponse:
            patient: Any = _Patient(sock, self._probe, looks)
            return http.client.HTTPResponse(patient, **more)

        return response

    def _probe(self) -> None:
        """Ask the daemon whether it lives. Raises Silent."""
        try:
            connection = self._connect(self._silence / 2)
            try:
                connection.request("GET", self._to.path + "/livez", headers=self._headers)
                connection.getresponse()
            finally:
                connection.close()
        except (Dropped, http.client.HTTPException, OSError) as e:
            raise Silent(self._silence) from e

    def _connect(self, within: float | None = None) -> http.client.HTTPConnection:
        within = self._silence if within is None else within
        host = self._to.hostname or ""
        opening = min(waits.OPEN, within)
        if self._to.scheme == "https":
            import httpx

            context = httpx.create_ssl_context()
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, self._to.port, timeout=opening, context=context
            )
        else:
            made = http.client.HTTPConnection(host, self._to.port, timeout=opening)
        try:
            made.connect()
        except OSError as e:
            raise Dropped(str(e)) from e
        made.sock.settimeout(within)
        # The bytes of a body go out in one call, which no timeout of Python's is for.
        timeval = struct.pack("ll", *divmod(round(1e6 * within), 1_000_000))
        made.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval)
        return made

    def close(self) -> None:
        """Close the connection."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None
