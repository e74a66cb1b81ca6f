"""The wire with nothing on it: a TCP peer in a process of its own that echoes, takes and gives bytes."""

from __future__ import annotations

import socket
import struct
from typing import Any

import numpy as np

from .daemon import child

_ECHO, _TAKE, _GIVE = range(3)
_HEAD = struct.Struct("<BQ")
_SMALL = b"\0" * (64 - _HEAD.size)


def _fill(connection: socket.socket, view: memoryview) -> None:
    while view:
        count = connection.recv_into(view)
        if not count:
            raise ConnectionError("the peer went away")
        view = view[count:]


def _serve() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    head = bytearray(_HEAD.size)
    while True:
        try:
            _fill(connection, memoryview(head))
        except ConnectionError:
            return
        what, size = _HEAD.unpack(head)
        body = np.ones(size, np.uint8)
        if what != _GIVE:
            _fill(connection, memoryview(body))
        connection.sendall(body if what != _TAKE else b"\0")


class Peer:
    """The other end, for as long as the block runs."""

    def __enter__(self) -> Peer:
        self._process = child("benchmarks.rawtcp")
        assert self._process.stdout is not None
        self._socket = socket.create_connection(("127.0.0.1", int(self._process.stdout.readline())))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answer = bytearray(len(_SMALL))
        return self

    def __exit__(self, *exc: object) -> None:
        self._socket.close()
        self._process.communicate()

    def echo(self) -> None:
        """64 bytes there, and their body back."""
        self._socket.sendall(_HEAD.pack(_ECHO, len(_SMALL)) + _SMALL)
        _fill(self._socket, memoryview(self._answer))

    def give(self, array: np.ndarray[Any, Any]) -> None:
        """The array's bytes into memory of the peer's; returns when they are there."""
        self._socket.sendall(_HEAD.pack(_TAKE, array.nbytes))
        self._socket.sendall(array.view(np.uint8))
        _fill(self._socket, memoryview(bytearray(1)))

    def take(self, nbytes: int) -> np.ndarray[Any, Any]:
        """So many bytes of the peer's into a new array."""
        found = np.empty(nbytes, np.uint8)
        self._socket.sendall(_HEAD.pack(_GIVE, nbytes))
        _fill(self._socket, memoryview(found))
        return found


if __name__ == "__main__":
    _serve()
