"""A clock that counts round trips: how long a script waits for a daemon that is far away, in trips.

What is sent at some moment is answered a trip later, a connection is open a trip after it is asked for, and
all else takes no time. So the count is the same on every machine, however busy; the bytes really go to a
daemon.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

_CLIENT = ("gradd._transports.websocket", "gradd._transports.link")


class Clock:
    """`now`: the trips so far. `connections` and `requests`: how many there were, of HTTP and of streams."""

    def __init__(self) -> None:
        self.now = self.connections = self.requests = 0

    @contextmanager
    def counting(self) -> Iterator[Clock]:
        """Have what this process's sessions send and wait for counted."""
        sockets = SimpleNamespace(**{name: getattr(socket, name) for name in dir(socket)})
        sockets.create_connection = self._connection
        sockets.socket = self._socket
        polls = SimpleNamespace(**{name: getattr(select, name) for name in dir(select)})
        polls.poll = _Poll
        with (
            patch("socket.create_connection", self._connection),  # http.client's
            patch(f"{_CLIENT[0]}.socket", sockets),
            patch(f"{_CLIENT[1]}.socket", sockets),
            patch(f"{_CLIENT[0]}.select", polls),
            patch(f"{_CLIENT[0]}.FAR", 0.0),
        ):
            yield self

    def _connection(self, *arguments: Any, **options: Any) -> _Socket:
        plain = _CONNECT(*arguments, **options)
        within = plain.gettimeout()
        made = self._socket(fileno=plain.detach())
        made.settimeout(within)
        self.connections += 1
        self.now += 1
        return made

    def _socket(self, *arguments: Any, **options: Any) -> _Socket:
        made = _Socket(*arguments, **options)
        made.clock = self
        return made


_CONNECT = socket.create_connection


class _Socket(socket.socket):
    """A socket whose peer is a trip away. What is sent while its connection is opened leaves it then."""

    clock: Clock
    #: when the peer answers what was sent last, and when the connection is open
    answered = opened = 0

    def connect_ex(self, address: Any) -> int:
        """Begin to connect."""
        self.opened = self.clock.now + 1
        self.clock.connections += 1
        return super().connect_ex(address)

    def arrive(self) -> None:
        """Somebody waited until the answer was there."""
        self.clock.now = max(self.clock.now, self.answered)

    def _sent(self, data: Any) -> None:
        self.answered = max(self.clock.now, self.opened) + 1
        if bytes(memoryview(data)[:4]) in (b"GET ", b"PUT ", b"POST", b"DELE"):
            self.clock.requests += 1

    def send(self, data: Any, flags: int = 0) -> int:
        """See socket.socket."""
        self._sent(data)
        return super().send(data, flags)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """See socket.socket."""
        self._sent(data)
        super().sendall(data, flags)

    def _look(self) -> None:
        if self.gettimeout() == 0 and self.answered > self.clock.now:
            raise BlockingIOError

    def recv(self, size: int, flags: int = 0) -> bytes:
        """See socket.socket."""
        self._look()
        data = super().recv(size, flags)
        self.arrive()
        return data

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0) -> int:
        """See socket.socket."""
        self._look()
        count = super().recv_into(buffer, size, flags)
        self.arrive()
        return count


class _Poll:
    """A poll for one socket."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._of: Any = None

    def register(self, of: Any, wanted: int) -> None:
        """See select.poll."""
        self._of = of
        self._poll.register(of, wanted)

    def modify(self, of: Any, wanted: int) -> None:
        """See select.poll."""
        self._poll.modify(of, wanted)

    def poll(self, timeout: float) -> Any:
        """See select.poll."""
        found = self._poll.poll(timeout)
        if any(event & select.POLLIN for _, event in found):
            self._of.arrive()
        return found
