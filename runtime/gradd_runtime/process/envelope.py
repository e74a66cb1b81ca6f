"""Messages between the front and an engine process: a head of 32 bytes, then a payload.

A large payload is not sent: it is in a memory file whose descriptor comes with the head. To another machine
it is.
"""

from __future__ import annotations

import enum
import socket
import struct
from array import array
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from .bulk import BULK_BYTES, Bulk, bulk_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_protocol.frames import Bytes, Part

HEAD = struct.Struct("<QQQQ")
"""Kind, request number, session number (in a reply: the session's nanoseconds), bytes of the payload.

The front numbers requests and sessions, and reuses no number: a session that was closed and opened again
under the same name is a different one.
"""

_HEAD_BYTES = HEAD.size
_BUFFER = 1 << 16
_FILES = socket.CMSG_SPACE(8 * array("i").itemsize)
_PARTS = 64


class EnvelopeKind(enum.IntEnum):
    """The kind of an envelope."""

    OPEN = 0
    """To the engine: open the session of that number. Payload: JSON, `{"name": ..., "options": {...}}`."""
    FRAME = 1
    """To the engine: run a request frame; from it: the reply frame, with the same request number."""
    CLOSE = 2
    """To the engine: end the session. No payload, no answer."""
    READY = 3
    """From the engine, first and once: its device is ready, it takes work. Payload: `EngineFacts` as JSON."""
    FAILED = 4
    """From the engine instead of READY: why it cannot run, as UTF-8. It then exits."""
    BULK = 5
    """Like FRAME, with the payload in a file."""
    FIGURES = 6
    """To the engine: tell your figures, between two frames. No payload. From it: `Figures`, under the same
    request number.
    """
    STOP = 7
    """To the engine: stop batches of that session. Payload: an `Order` as JSON. No answer. It comes on a
    socket of its own, where it is heard while a frame runs.
    """
    FILE = 8
    """To the engine: like FRAME, with the JSON of a `FileOrder` for the session."""
    LEAVE = 9
    """To the engine: let the session fall asleep, and know nothing of it from then on. No payload. An empty
    answer comes when its files can be opened elsewhere.
    """


_BULK = EnvelopeKind.BULK


class EngineFacts(msgspec.Struct, frozen=True):
    """What an engine process finds where it runs."""

    device: str
    devices: int
    """How many of the kind it sees."""
    process_bytes: int
    """What its sessions may hold, and those of one tenant."""
    tenant_bytes: int


class FileOrder(msgspec.Struct, frozen=True):
    """What the front wants of a session, in its turn. The answer is a SessionReply."""

    path: str
    """A place, see `store.places`; clients never name one."""
    save: bool
    """Whether the session is to write a snapshot there; else it is to begin at the one that is there."""


_file_order = msgspec.json.Decoder(FileOrder)


def read_order(payload: Bytes | Bulk) -> FileOrder:
    """The order in an envelope of the kind FILE."""
    assert not isinstance(payload, Bulk)
    return _file_order.decode(payload)


class Envelope(NamedTuple):
    """A received envelope."""

    kind: int
    request: int
    session: int
    payload: Bytes | Bulk


def sealed(
    kind: EnvelopeKind, request: int, session: int, parts: Sequence[Part], near: bool = True
) -> tuple[list[Part], Bulk | None]:
    """An envelope around a payload in parts: what to send, and the file to send with its first byte. `near`:
    it stays on this machine.
    """
    size = sum(map(len, parts))
    if near and size >= BULK_BYTES and kind == EnvelopeKind.FRAME:
        return sealed_bulk(request, session, bulk_of(parts))
    if len(parts) > _PARTS:  # the kernel takes at most a thousand at a time
        parts = [b"".join(parts)]
    return [HEAD.pack(kind, request, session, size), *parts], None


def sealed_bulk(request: int, session: int, bulk: Bulk) -> tuple[list[Part], Bulk | None]:
    """`sealed`, for a frame in a file."""
    return [HEAD.pack(EnvelopeKind.BULK, request, session, bulk.size)], bulk


def send(sock: socket.socket, parts: Sequence[Part], bulk: Bulk | None, flags: int = 0) -> int:
    """One sendmsg of the result of `sealed`; returns the bytes sent. Raises what sendmsg raises."""
    files = [] if bulk is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [bulk.fd]))]
    return sock.sendmsg(parts, files, flags)


def unsent(parts: Sequence[Part], sent: int) -> list[memoryview]:
    """The parts that remain after `sent` bytes."""
    left: list[memoryview] = []
    if sent == sum(map(len, parts)):
        return left
    for part in parts:
        view = memoryview(part)
        if sent < len(view):
            left.append(view[sent:])
        sent = max(0, sent - len(view))
    return left


class Incoming:
    """Receives envelopes from a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = memoryview(bytearray(_BUFFER))
        self._held = 0
        self._files: deque[int] = deque()
        self._large: tuple[tuple[int, int, int], memoryview] | None = None
        self._missing = 0

    def receive(self, flags: int = 0) -> list[Envelope] | None:
        """Receive once; returns the envelopes that are complete now, None at the end of the socket."""
        place = self._buffer[self._held :] if self._large is None else self._large[1][-self._missing :]
        try:
            count, messages, _, _ = self._socket.recvmsg_into([place], _FILES, flags)
        except BlockingIOError:
            return []
        except ConnectionResetError:
            return None
        for _, _, data in messages:
            files = array("i")
            files.frombytes(data)
            self._files.extend(files)
        if not count:
            return None
        if self._large is None:
            return self._opened(self._held + count)
        self._missing -= count
        if self._missing:
            return []
        (head, payload), self._large = self._large, None
        return [Envelope(*head, payload.toreadonly())]

    def _opened(self, held: int) -> list[Envelope]:
        found = []
        at, buffer = 0, self._buffer
        while (begin := at + _HEAD_BYTES) <= held:
            kind, request, session, size = HEAD.unpack_from(buffer, at)
            if kind == _BULK:
                found.append(Envelope(kind, request, session, Bulk(self._files.popleft(), size)))
                at = begin
            elif (end := begin + size) <= held:
                found.append(Envelope(kind, request, session, bytes(buffer[begin:end])))
                at = end
            elif _HEAD_BYTES + size > _BUFFER:
                payload = np.empty(size, np.uint8).data  # not zeroed first
                payload[: held - begin] = buffer[begin:held]
                self._large, self._missing = ((kind, request, session), payload), end - held
                at = held
            else:
                break
        self._held = left = held - at
        if left:
            buffer[:left] = bytes(buffer[at:held])
        return found
