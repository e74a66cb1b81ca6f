"""A way to a host by Ray's calls, for where its own port is not reached: octets go as they are, from a port
of the agent's to the host, and back. It costs a call for each piece, about a millisecond.
"""

from __future__ import annotations

import itertools
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PIECE = 1 << 20
"""Most octets of a call."""

logger = logging.getLogger("gradd.server")


class WayEnds:
    """The host's end: connections to the port where it listens, by number."""

    def __init__(self, host: str, port: int) -> None:
        self._at = host, port
        self._numbers = itertools.count()
        self._ends: dict[int, socket.socket] = {}

    def open(self) -> int:
        """Connect; the number of the connection. Raises OSError."""
        sock = socket.create_connection(self._at)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = next(self._numbers)
        self._ends[number] = sock
        return number

    def send(self, number: int, data: bytes) -> None:
        """Send what came. Raises OSError, and KeyError where it is closed."""
        self._ends[number].sendall(data)

    def receive(self, number: int) -> bytes:
        """What comes next; waits for it. Empty when that is over."""
        try:
            return self._ends[number].recv(PIECE)
        except (OSError, KeyError):
            return b""

    def close(self, number: int) -> None:
        """End the connection, also where somebody waits for it."""
        sock = self._ends.pop(number, None)
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


class Ways:
    """The agent's end: what connects to its `port`, on this machine, is connected to the host that `call`
    reaches: the name of a method of `WayEnds` and what it takes, to what it gives. `call` may raise anything.
    """

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._listen, name="gradd-ways", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more connections. Those that are there stay."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(sock,), name="gradd-way", daemon=True).start()

    def _carry(self, sock: socket.socket) -> None:
        with sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                number = self._call("open")
            except Exception as error:
                logger.warning("no way by Ray's calls: %s", type(error).__name__)
                return
            back = threading.Thread(target=self._bring, args=(sock, number), name="gradd-way", daemon=True)
            back.start()
            with suppress(Exception):  # the host is gone, or the front
                while data := sock.recv(PIECE):
                    self._call("send", number, data)
            with suppress(Exception):
                self._call("close", number)
            back.join()

    def _bring(self, sock: socket.socket, number: int) -> None:
        with suppress(Exception):
            while data := self._call("receive", number):
                sock.sendall(data)
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
