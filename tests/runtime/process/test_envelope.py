"""Envelopes over a socket pair, in whatever pieces they come."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from gradd_runtime.process import BULK_BYTES, Bulk, Envelope, EnvelopeKind, Incoming, sealed, send, unsent

from tests.waiting import PATIENCE

SIZES = (0, 1, 1000, 65_503, 65_504, 65_505, 300_000)
"""Around the size at which an envelope no longer fits the receiver's buffer."""


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    a, b = socket.socketpair()
    with a, b:
        yield a, b


def whole(sizes: tuple[int, ...]) -> bytes:
    """Envelopes with payloads of those sizes, as bytes."""
    parts = [
        part
        for n, size in enumerate(sizes)
        for part in sealed(EnvelopeKind.FRAME, n, 9, [bytes([n]) * size])[0]
    ]
    return b"".join(parts)


def check(found: list[Envelope]) -> None:
    assert [(e.kind, e.request, e.session) for e in found] == [
        (EnvelopeKind.FRAME, n, 9) for n in range(len(SIZES))
    ]
    for e, size in zip(found, SIZES, strict=True):
        assert not isinstance(e.payload, Bulk)
        assert bytes(e.payload) == bytes([e.request]) * size


@pytest.mark.parametrize("step", [7, 4096, 65_536, 1 << 20])
def test_envelopes_come_whole_in_any_pieces(pair: tuple[socket.socket, socket.socket], step: int) -> None:
    ours, theirs = pair
    incoming = Incoming(theirs)
    found: list[Envelope] = []
    data = memoryview(whole(SIZES if step > 7 else SIZES[:3]))
    while data:
        ours.setblocking(False)
        data = data[ours.send(data[:step]) :]
        while came := incoming.receive(socket.MSG_DONTWAIT):
            found += came
    if step > 7:
        check(found)
    else:
        assert [len(bytes(e.payload)) for e in found if not isinstance(e.payload, Bulk)] == list(SIZES[:3])
    assert incoming.receive(socket.MSG_DONTWAIT) == []
    ours.close()
    assert incoming.receive() is None


def test_large_frames_come_as_files_between_small_ones(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    incoming = Incoming(theirs)
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for n in range(6):
        parts, bulk = sealed(EnvelopeKind.FRAME, n, 0, [b"head", bytes([n]) * (BULK_BYTES if n % 3 else 10)])
        assert (bulk is not None) is bool(n % 3)
        assert not unsent(parts, send(ours, parts, bulk))
        del bulk
    ours.close()
    found: list[Envelope] = []
    while (came := incoming.receive()) is not None:
        found += came
    assert [e.request for e in found] == list(range(6))
    for n, e in enumerate(found):
        assert e.kind == (EnvelopeKind.BULK if n % 3 else EnvelopeKind.FRAME)
        data = e.payload.map() if isinstance(e.payload, Bulk) else e.payload
        assert bytes(data) == b"head" + bytes([n]) * (BULK_BYTES if n % 3 else 10)
    del found, e, data
    if descriptors:
        assert len(os.listdir("/proc/self/fd")) == descriptors - 1  # ours is closed, and every file


def test_many_parts_are_one_message(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    parts, bulk = sealed(EnvelopeKind.FRAME, 1, 0, [b"x"] * 5000)
    assert len(parts) == 2
    send(ours, parts, bulk)
    came = Incoming(theirs).receive()
    assert came is not None
    assert came[0].payload == b"x" * 5000


def test_what_is_left_after_a_part() -> None:
    parts = [b"abc", memoryview(b"de"), b""]
    assert [bytes(view) for view in unsent(parts, 0)] == [b"abc", b"de"]
    assert [bytes(view) for view in unsent(parts, 2)] == [b"c", b"de"]
    assert [bytes(view) for view in unsent(parts, 4)] == [b"e"]
    assert unsent(parts, 5) == []


CLOSED = """
import os, threading
from gradd_runtime.process import Bulk
from gradd_runtime.process.bulk import LARGE

from tests.waiting import PATIENCE

def look():
    made = Bulk()
    made.size, fd = LARGE, made.fd
    del made
    while os.path.exists(f"/proc/self/fd/{fd}"):
        threading.Event().wait(0.001)
    assert "gradd-closer" in [thread.name for thread in threading.enumerate()]

look()
child = os.fork()
if not child:
    look()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_large_file_is_closed_by_a_thread() -> None:
    """In a fork too, which has none of its parent's threads."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", CLOSED]
    assert subprocess.run(command, timeout=PATIENCE).returncode == 0
