"""A WebSocket driven by the thread that uses it, without switching threads to send or wait.

The protocol is from the package websockets (sans-I/O); this is its socket. While the socket is idle, the
process's keeper answers pings; while somebody waits, a silent peer is sent a ping.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from .keeping import keeper
from .waits import CLOSE, HEED, OPEN, Waiting, left

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: how long (s) the answer to a handshake takes where more than the daemon's work is in it
FAR = 0.01
_CHUNK = 1 << 18
_MESSAGE = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


class Closed(ConnectionError):
    """The connection has ended."""


class WebSocket:
    """An open connection to `url` (ws, wss). Raises OSError, TimeoutError or InvalidHandshake if it cannot be
    opened. `silence` (s): how long a peer may be silent while a thread waits; half of it is for the answer
    to a ping. `meanwhile` is called with the socket while the answer to the handshake is under way; `far`:
    whether that took long.
    """

    def __init__(
        self, url: str, subprotocol: str, headers: Mapping[str, str], max_size: int, silence: float,
        meanwhile: Callable[[socket.socket], None] | None = None,
    ) -> None:  # fmt: skip
        uri = parse_uri(url)
        self._protocol = ClientProtocol(uri, subprotocols=[subprotocol], max_size=max_size)  # type: ignore[list-item]
        self._messages: deque[bytes] = deque()
        self._parts: list[bytes] = []
        #: bytes to send, in order: a pong waits for the end of the current message
        self._out: deque[memoryview] = deque()
        self._lock = threading.Lock()
        self._silence = silence
        self._asked = self._gone = False
        self._peer = f"{uri.host}:{uri.port}"
        #: the wait of a thread, once a piece of it is over
        self._waiting: Waiting | None = None
        self._socket = socket.create_connection((uri.host, uri.port), left(min(OPEN, silence)))
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if uri.secure:
                context = ssl.create_default_context()
                self._socket = context.wrap_socket(self._socket, server_hostname=uri.host)
            self._shake_hands(headers, meanwhile)
        except BaseException:
            self._socket.close()
            raise
        self._socket.setblocking(False)
        self._secure = uri.secure
        self._poll = select.poll()
        #: what is polled for
        self._wanted = select.POLLIN
        self._poll.register(self._socket, self._wanted)
        self._write()  # pongs, if pings came with the handshake
        self._flush()
        #: called when the keeper has received a message
        self.told: Callable[[], None] | None = None
        keeper().add(self)

    def _shake_hands(
        self, headers: Mapping[str, str], meanwhile: Callable[[socket.socket], None] | None
    ) -> None:
        protocol = self._protocol
        request = protocol.connect()
        request.headers.update(headers)
        protocol.send_request(request)
        self._socket.sendall(b"".join(protocol.data_to_send()))
        sent = time.perf_counter()
        if meanwhile is not None:
            meanwhile(self._socket)
        while True:
            data = self._socket.recv(_CHUNK)
            if not data:
                raise InvalidHandshake("the connection ended")
            protocol.receive_data(data)
            for event in protocol.events_received():
                if isinstance(event, Response):
                    self.headers = event.headers
                    if protocol.handshake_exc is not None:
                        raise protocol.handshake_exc
                else:
                    self._take(event)
            if protocol.state is not State.CONNECTING:
                self.far = time.perf_counter() - sent >= FAR
                return

    # -- messages ----------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Send one binary message. Raises Closed."""
        with self._lock:
            self._check()
            self._protocol.send_binary(data)
            self._write()
            try:
                self._flush()
            finally:
                self._waited()

    def receive(self, block: bool) -> bytes | None:
        """The next message; None if there is none and `block` is False. Raises Closed."""
        with self._lock:
            try:
                while not self._messages:
                    self._check()
                    if block and not self._secure:
                        self._wait()  # most of the time nothing is there yet: to ask first is another call
                    if not self._read() and not self._messages:
                        if not block:
                            return None
                        if self._secure:  # it may hold what it has read and decrypted
                            self._wait()
                return self._messages.popleft()
            finally:
                self._waited()

    def coming(self, told: Callable[[], None]) -> int:
        """A descriptor of the socket, for the caller to close, which becomes readable where something
        arrives. `told` is called, by another thread, where the keeper received a message first. Raises
        Closed.
        """
        self.told = told
        with self._lock:
            self._check()
            return os.dup(self._socket.fileno())

    def doubt(self) -> None:
        """Nothing came for half of the longest silence, and somebody waits: send a ping. Raises Closed if
        the one before was not answered.
        """
        with self._lock:
            self._check()
            if not self._take_in():
                self._ask()
            self._push()

    def keep(self) -> bool:
        """Answer pings, if nobody else reads; False where the connection has ended."""
        if self._lock.acquire(blocking=False):
            try:
                self._check()
                while self._take_in():
                    self._check()  # at its end a socket has always something to read
                self._push()
            except Closed:
                return False  # the next user gets the error
            finally:
                self._lock.release()
            if self._messages:
                self._tell()
        return True

    def begin_close(self) -> None:
        """Begin the closing handshake, if nobody uses the socket; `close` waits for the answer."""
        if self._lock.acquire(blocking=False):
            try:
                with suppress(OSError):
                    self._say_close()
            finally:
                self._waited()
                self._lock.release()

    def _say_close(self) -> None:
        if self._protocol.state is State.OPEN and not (self._out or self._gone):
            self._protocol.send_close(1000)
            self._write()
            self._flush()

    def close(self) -> None:
        """Do the closing handshake, with a short timeout, and close."""
        keeper().remove(self)
        if not self._lock.acquire(timeout=CLOSE):  # another thread is waiting for a message
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            return
        try:
            with suppress(OSError):  # already closed
                self._say_close()
                if self._protocol.state is State.CLOSING and not (self._out or self._gone):
                    self._socket.settimeout(CLOSE)
                    while self._socket.recv(_CHUNK):
                        continue
        finally:
            self._waited()
            self._socket.close()
            self._lock.release()

    # -- the socket --------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._protocol.state is not State.OPEN:
            raise Closed(str(self._protocol.close_exc if self._protocol.state is State.CLOSED else "closing"))

    def _wait(self) -> None:
        """Wait until something was received or sent. After a timeout send a ping; raises Closed after
        another.
        """
        wanted = select.POLLIN | select.POLLOUT if self._out else select.POLLIN
        if wanted != self._wanted:
            self._poll.modify(self._socket, wanted)
            self._wanted = wanted
        silent, most = 0.0, self._silence / 2
        while silent < most:
            piece = left(min(HEED, most - silent))
            if self._poll.poll(1000 * piece):
                self._asked = False
                if self._waiting is not None:
                    self._waiting.heard, self._waiting.asked = time.monotonic(), False
                return
            silent += piece
            self._waiting = self._waiting or Waiting(self._peer)
            self._waiting.go_on()
        self._ask()
        if self._waiting is not None:
            self._waiting.asked = True

    def _waited(self) -> None:
        """The wait is over, if there was one."""
        if self._waiting is not None:
            self._waiting.end()
            self._waiting = None

    def _ask(self) -> None:
        """Send a ping; raises Closed if one was sent since something arrived."""
        if self._asked:
            self._gone = True
            raise Closed(f"it said nothing for {self._silence:g} s")
        self._asked = True
        self._protocol.send_ping(b"")
        self._write()

    def _write(self) -> None:
        for part in self._protocol.data_to_send():
            if part:
                self._out.append(memoryview(part))

    def _flush(self) -> None:
        """Send all pending bytes, reading meanwhile if the peer needs it."""
        while self._out:
            try:
                sent = self._socket.send(self._out[0])
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                if not self._take_in():
                    self._wait()
            except OSError as e:
                raise Closed(str(e)) from e
            else:
                self._sent(sent)

    def _push(self) -> None:
        """Send what of the pending bytes the socket takes at once."""
        while self._out:
            try:
                self._sent(self._socket.send(self._out[0]))
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            except OSError as e:
                raise Closed(str(e)) from e

    def _sent(self, count: int) -> None:
        if count == len(self._out[0]):
            self._out.popleft()
        else:
            self._out[0] = self._out[0][count:]

    def _read(self) -> bool:
        """Receive what has arrived, and answer pings; False if nothing has."""
        found = self._take_in()
        if self._out:
            self._flush()
        return found

    def _take_in(self) -> bool:
        try:
            data = self._socket.recv(_CHUNK)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError as e:
            raise Closed(str(e)) from e
        if data:
            self._asked = False
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            self._take(event)
        self._write()
        return True

    def _take(self, event: Any) -> None:
        if isinstance(event, Frame) and event.opcode in _MESSAGE:
            if event.fin and not self._parts:
                self._messages.append(bytes(event.data))
                return
            self._parts.append(bytes(event.data))
            if event.fin:
                self._messages.append(b"".join(self._parts))
                self._parts.clear()

    def _tell(self) -> None:
        if self.told is not None:
            self.told()
