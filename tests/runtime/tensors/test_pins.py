"""Results too large for their reply, and frames whose memory becomes the session's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Step, Value
from gradd_runtime.process import Bulk, InlinePlacement, bulk_of

from tests.runtime.peer import FILL, Peer

BIG = Step("arange", [], {"start": 0, "end": 100_000, "step": 1, "dtype": "float32"})
ADD = Step("add_", [0, Value("float")])


@pytest.fixture
def peer() -> Peer:
    return Peer()


def pinned(peer: Peer) -> str:
    """Keep a large tensor as @1.2 and pin its values; the key."""
    key = peer.batch(BIG, fetch=[0], keep=[0], first=2).results[0].pinned
    assert isinstance(key, str)
    return key


def values(peer: Peer, key: str) -> Any:
    """The session's own array under that key."""
    return peer.session.pins.read(key)[0]


def test_nothing_is_copied_where_nothing_runs(peer: Peer) -> None:
    key = pinned(peer)
    assert values(peer, key) is peer.session.table.find("@1.2").array
    peer.ask(m.DeleteTensor("@1.2"))
    assert peer.ask(m.GetResult(key))[1][0][-1] == 99_999.0
    peer.batch(FILL)  # has read it
    assert len(peer.session.pins) == 0


def test_what_runs_before_it_was_read_does_not_change_it(peer: Peer) -> None:
    key = pinned(peer)
    peer.ack = 0
    peer.batch(ADD, inputs=["@1.2"], values=[1.0])
    assert values(peer, key)[0] == 0.0
    assert peer.get("@1.2")[0] == 1.0
    own = values(peer, key)
    peer.ack = 0
    peer.batch(ADD, inputs=["@1.2"], values=[1.0])
    assert values(peer, key) is own  # copied once


def test_nor_does_a_batch_in_the_json_form(peer: Peer) -> None:
    key = pinned(peer)
    peer.json({"steps": [{"op": "add_", "inputs": ["@1.2", 1.0]}]})
    assert peer.get("@1.2")[0] == 1.0
    assert values(peer, key)[0] == 0.0


def test_a_result_in_pieces(peer: Peer) -> None:
    key = pinned(peer)
    octets = values(peer, key).tobytes()
    for begin, count in ((0, 0), (0, 7), (4096, 65_536), (399_990, 100), (1 << 40, 1)):
        reply, (piece,) = peer.ask(m.GetResult(key, begin, count))
        assert (reply.info.shape, reply.info.dtype, piece.dtype) == ([100_000], "float32", np.uint8)
        assert piece.tobytes() == octets[begin : begin + count]


@pytest.mark.parametrize("writable", [False, True])
def test_a_frame_in_writable_memory_is_the_sessions(peer: Peer, writable: bool) -> None:
    data = np.arange(6, dtype=np.complex128).reshape(2, 3)
    for message, place in (
        (m.PutTensor("x"), lambda: peer.session.table.find("x").array),
        (m.Stage("1.1"), lambda: peer.session.staged["1.1"]),
    ):
        frame = frames.join(frames.encode(message, [data]))
        given = bytearray(frame) if writable else frame
        peer.session.submit(given)
        kept = place()
        assert np.shares_memory(kept, np.frombuffer(given, np.uint8)) is writable
        assert kept.flags.writeable
        assert kept.flags.aligned
        assert np.array_equal(kept, data)


def test_a_frame_in_a_file_of_memory_is_not_copied() -> None:
    data = np.arange(1 << 18, dtype=np.float64)
    placement = InlinePlacement()
    try:
        placement.open("a", {})
        peer = Peer(submit=lambda frame: placement.submit("a", frame).result())
        bulk = bulk_of(frames.encode(m.PutTensor("x"), [data]))
        assert bulk.size > data.nbytes
        reply, _ = frames.decode_reply(placement.submit("a", bulk).result())
        assert isinstance(reply, m.Done)
        view = np.frombuffer(bulk.map(), np.uint8)
        del bulk
        peer.json({"steps": [{"op": "add_", "inputs": ["x", 1.0]}]})
        assert view[-data.nbytes :].view(np.float64)[5] == 6.0  # both look at the same pages
    finally:
        placement.shutdown()


def test_a_file_of_memory_is_written_piece_by_piece() -> None:
    bulk = Bulk()
    for piece in (b"ab", memoryview(b"cde")):
        bulk.write(piece)
    assert (bulk.size, bytes(bulk.map())) == (5, b"abcde")
