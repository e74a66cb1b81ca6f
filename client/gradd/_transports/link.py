"""HTTP with the standard library, without copies of bodies between their memory and the socket."""

from __future__ import annotations

import errno
import http.client
import io
import select
import socket
import ssl
import struct
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gradd_engine.progress import PIECE, Transfer

from . import waits
from .base import Dropped, Silent
from .pipe import Pipe
from .tracing import trace_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .credentials import Credentials

#: probes of a slow daemon before the request is sent again, and the factor by which they grow
_LOOKS, _MORE = 2, 4
#: bytes of the largest request that follows another one whose response was not read
_FOLLOWS = 1 << 22
#: what may become of a connection
_FAILURES = (http.client.HTTPException, OSError)


class _Again(Exception):
    """The daemon is alive but sends nothing: the connection may be dead."""


class _Patient(io.RawIOBase):
    """Reads from a socket. Whenever nothing arrives within `quiet` seconds, calls `look`, which may raise;
    raises _Again after too many times in a row.
    """

    def __init__(
        self, sock: socket.socket, quiet: float, look: Callable[[], None], looks: int | None
    ) -> None:  # fmt: skip
        self._socket, self._quiet, self._look, self._looks = sock, quiet, look, looks
        self._file = sock.makefile("rb", buffering=0)
        #: counts what is read
        self.transfer: Transfer | None = None

    def makefile(self, mode: str) -> io.BufferedReader:
        """For http.client."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """See io.RawIOBase."""
        looks = self._looks
        while True:
            self._socket.settimeout(waits.left(self._quiet))
            try:
                count = self._file.readinto(buffer)
                if self.transfer is not None:
                    self.transfer.add(count or 0)
                return count
            except TimeoutError:
                waits.left(self._quiet)
                self._look()
                if looks is not None:
                    looks -= 1
                    if not looks:
                        raise _Again from None
                # After a timeout the file cannot be used any more.
                spent, self._file = self._file, self._socket.makefile("rb", buffering=0)
                spent.close()

    def close(self) -> None:
        """See io.RawIOBase."""
        self._file.close()
        super().close()


class Link:
    """A connection to the daemon at `base`, opened when needed and kept. For one thread at a time.

    HTTP has no pings. If a response is slow, another connection probes whether the daemon is alive
    (`silence`: the longest time it may not respond, in s). If it is, the request continues; now and then it
    is sent again on a new connection, in case the old one is dead. Requests must therefore be idempotent, or
    say `once`. `fronts`: where else the daemon may be reached, with the same path.
    """

    def __init__(
        self, base: str, headers: Mapping[str, str], silence: float | None = None,
        fronts: Credentials | None = None,
    ) -> None:  # fmt: skip
        self._to = urlsplit(base)
        self._fronts = fronts
        self._headers = headers
        self._silence = waits.silence() if silence is None else silence
        #: idle connections, and those with requests whose responses nobody has read yet
        self._kept: list[http.client.HTTPConnection] = []
        self._pipes: list[Pipe] = []
        #: a connection that is being opened
        self._opening: socket.socket | None = None

    def prepare(self, beside: socket.socket) -> None:
        """Begin to open a connection to where `beside` is connected, for the first request that comes."""
        made = socket.socket(beside.family, socket.SOCK_STREAM)
        made.setblocking(False)
        if made.connect_ex(beside.getpeername()) in (0, errno.EINPROGRESS):
            self._opening = made
        else:
            made.close()

    def unprepare(self) -> None:
        """Close the connection that is being opened."""
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.close()

    def take_over(self, other: Link) -> None:
        """Have the idle connections of a link which is not used any more, but for requests under way."""
        while (connection := other._idle()) is not None:
            self._kept.append(connection)

    def call(
        self, method: str, path: str, body: memoryview | bytes | None = None,
        headers: dict[str, str] | None = None,
        take: Callable[[http.client.HTTPResponse], Any] = http.client.HTTPResponse.read, once: bool = False,
    ) -> tuple[http.client.HTTPResponse, Any]:  # fmt: skip
        """Send a request; returns the response and `take` of its body, or the body's bytes if the status is
        400 or more. Raises Dropped if the daemon is away, Silent if it does not respond. Reconnects if it has
        closed the kept connection.
        """
        looks = _LOOKS
        others = 0 if once or self._fronts is None else self._fronts.count - 1
        while True:
            kept = self._idle()
            connection = kept or self._connect()
            alive = False
            try:
                connection.sock.settimeout(None)  # except SO_SNDTIMEO, for bytes that cannot be sent
                whole = False
                try:
                    all_headers = {**self._headers, **trace_headers(), **(headers or {})}
                    _request(connection, method, self._to.path + path, body, all_headers)
                    whole = True
                except (BrokenPipeError, ConnectionResetError):
                    pass  # it may have answered before it closed
                except BlockingIOError:
                    # It may also have answered if it has stopped reading; else it is silent.
                    if not select.select([connection.sock], [], [], 0)[0]:
                        raise
                connection.response_class = self._patient(None if once else looks)
                response = connection.getresponse()
                found = take(response) if response.status < 400 else response.read()
                # else it ended with this response, or expects more
                alive = whole and connection.sock is not None
                if kept is None or not _untimely(response):
                    return response, found
            except _Again:
                looks *= _MORE
            except Silent:
                if not self._turned(others):
                    raise
                others -= 1
            except (TimeoutError, BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError) as e:
                if not self._turned(others):
                    raise Silent(self._silence) from e
                others -= 1
            except (http.client.HTTPException, OSError) as e:
                if kept is None:
                    if not self._turned(others):
                        raise Dropped(str(e) or type(e).__name__) from e
                    others -= 1
            finally:
                # After an interrupt or an error, the next response could belong to the old request.
                if alive:
                    self._kept.append(connection)
                else:
                    connection.close()

    def begin(
        self, method: str, path: str, body: memoryview | bytes, headers: dict[str, str]
    ) -> Callable[[], tuple[http.client.HTTPResponse, Any]]:
        """Send a request and return what waits for its response, as `call` does. Where that fails, the
        request is sent again. Small ones follow one another on a connection.
        """
        again = partial(self.call, method, path, body, headers)
        try:
            pipe = self._pipe(len(body))
        except Dropped:
            return again
        all_headers = {**self._headers, **trace_headers(), **headers}

        def send(connection: http.client.HTTPConnection) -> None:
            connection.sock.settimeout(None)  # except SO_SNDTIMEO
            _request(connection, method, self._to.path + path, body, all_headers)

        try:
            answer = pipe.ask(send)
        except _FAILURES:
            return again
        finally:
            self._tidy()

        def finish() -> tuple[http.client.HTTPResponse, Any]:
            try:
                found = pipe.read(answer)
            except (_Again, Dropped, *_FAILURES):
                found = None
            finally:
                self._tidy()
            return again() if found is None or _untimely(found[0]) else found

        return finish

    def _pipe(self, size: int) -> Pipe:
        """One for a request of that size. Raises Dropped."""
        if size > _FOLLOWS or not self._pipes:
            connection = self._idle() or self._connect()
            quiet = self._silence / 2
            self._pipes.append(Pipe(connection, _Patient(connection.sock, quiet, self._probe, _LOOKS)))
        return self._pipes[-1]

    def _tidy(self) -> None:
        """Keep the connections whose requests are all answered."""
        self._kept += [pipe.release() for pipe in self._pipes if pipe.idle]
        self._pipes = [pipe for pipe in self._pipes if pipe.alive and not pipe.idle]

    def _patient(self, looks: int | None) -> Any:
        """http.client's response class, but reading through `_Patient`."""

        def response(sock: Any, **more: Any) -> http.client.HTTPResponse:
            patient: Any = _Patient(sock, self._silence / 2, self._probe, looks)
            return http.client.HTTPResponse(patient, **more)

        return response

    def _probe(self) -> None:
        """Check whether the daemon is alive. Raises Silent."""
        try:
            connection = self._connect(self._silence / 2)
            try:
                connection.request("GET", self._to.path + "/livez", headers={**self._headers})
                connection.getresponse()
            finally:
                connection.close()
        except (Dropped, http.client.HTTPException, OSError) as e:
            raise Silent(self._silence) from e

    def _idle(self) -> http.client.HTTPConnection | None:
        """A connection that is there already, or nearly."""
        try:
            return self._kept.pop()
        except IndexError:  # asking first would be no answer: another thread may be taking it
            opening, self._opening = self._opening, None
        if opening is None:
            return None
        try:
            opened = select.select([], [opening], [], waits.left(min(waits.OPEN, self._silence)))[1]
            # What was not used within seconds was told so, and is closed.
            if opened and not select.select([opening], [], [], 0)[0]:
                return self._connect(over=opening)
        except (Dropped, OSError):
            pass  # the caller opens another
        except BaseException:
            opening.close()
            raise
        opening.close()
        return None

    def _turned(self, others: int) -> bool:
        """No answer came: the next connection is to another front, if there are several; whether there are
        `others` that were not asked yet.
        """
        if self._fronts is not None:
            self._fronts.turn()
        return others > 0

    def _connect(
        self, within: float | None = None, over: socket.socket | None = None
    ) -> http.client.HTTPConnection:
        """A new connection, to the first front that takes one; `over` is one without TLS. Raises Dropped."""
        if self._fronts is None:
            return self._connected(within, over)
        refused: Dropped | None = None
        for base in self._fronts.in_turn():
            self._to = urlsplit(base)
            try:
                return self._connected(within, over)
            except Dropped as e:
                refused, over = e, None
        assert refused is not None
        raise refused

    def _connected(
        self, within: float | None = None, over: socket.socket | None = None
    ) -> http.client.HTTPConnection:
        within = self._silence if within is None else within
        host = self._to.hostname or ""
        opening = waits.left(min(waits.OPEN, within))
        if self._to.scheme == "https":
            import httpx

            context = httpx.create_ssl_context()
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, self._to.port, timeout=opening, context=context
            )
        else:
            made = http.client.HTTPConnection(host, self._to.port, timeout=opening)
        if over is not None:
            over.settimeout(opening)
            made._create_connection = lambda *_: over  # type: ignore[attr-defined]
        try:
            made.connect()
        except OSError as e:
            raise Dropped(str(e)) from e
        made.sock.settimeout(within)
        # A body is sent in one call, to which Python's timeouts do not apply.
        timeval = struct.pack("ll", *divmod(round(1e6 * within), 1_000_000))
        made.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeval)
        return made

    def close(self) -> None:
        """Close the connections."""
        for connection in self._kept:
            connection.close()
        for pipe in self._pipes:
            pipe.close()
        self._kept.clear()
        self._pipes.clear()
        self.unprepare()


def count_by(transfer: Transfer, response: http.client.HTTPResponse) -> None:
    """Have the transfer count what is read of a response from here on: all but the few KiB that were."""
    buffered: Any = response.fp
    buffered.raw.transfer = transfer


def _untimely(response: http.client.HTTPResponse) -> bool:
    """Whether it is no answer to a request: the daemon had waited for one, and this came too late."""
    return response.status == http.client.REQUEST_TIMEOUT and "X-Request-Id" not in response.headers


def _request(
    connection: http.client.HTTPConnection, method: str, path: str, body: memoryview | bytes | None,
    headers: dict[str, str],
) -> None:  # fmt: skip
    """Send a request. A large body is sent in pieces, so that it can be told how much of it is."""
    if body is None or len(body) <= PIECE:
        connection.request(method, path, body, headers)
        return
    sized = {**headers, "Content-Length": str(len(body))}
    with Transfer("uploading", len(body)) as transfer, closing(transfer.pieces(body)) as pieces:
        connection.request(method, path, pieces, sized)
