"""Sequence numbers, replays, failures, acknowledgements: the rules of design section 6."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import Step, Value
from gradd_runtime.session import Session, Writer

from tests.runtime.peer import FILL, Peer

ADD = Step("add_", [0, Value("float")], {})
FAIL = Step("index", [0, [1]], {}), Step("add_", [0, Value("float")], {})


@pytest.fixture
def peer() -> Peer:
    """A writer of a session with `x` (ones of two elements, @1.1) and `bad`, an index out of range."""
    peer = Peer()
    peer.batch(FILL, keep=[0], first=1)
    peer.put("bad", np.array([99]))
    return peer


def add(peer: Peer, **more: Any) -> Any:
    return peer.batch(ADD, inputs=["@1.1"], values=[1.0], **more)


def fail(peer: Peer, **more: Any) -> Any:
    """Adds one to x, then fails, then would add another."""
    steps = [ADD, Step("index", [0, [1]], {}), ADD]
    return peer.batch(*steps, inputs=["@1.1", "bad"], values=[1.0, 1.0], **more)


def slug(reply: Any) -> str:
    return str(reply.problem.slug)


def test_batches_apply_in_order_and_have_positions(peer: Peer) -> None:
    first, second = add(peer), add(peer)
    assert (first.seq, second.seq, second.position - first.position) == (2, 3, 1)
    assert peer.get("@1.1").tolist() == [3.0, 3.0]


def test_a_batch_sent_again_has_its_stored_reply_and_runs_once(peer: Peer) -> None:
    reply = add(peer, fetch=["@1.1"], ack=0)
    again, arrays = peer.frame(peer.sent[-1])
    assert (again.replayed, again.position, arrays[0].tolist()) == (True, reply.position, [2.0, 2.0])
    assert peer.get("@1.1").tolist() == [2.0, 2.0]


def test_a_number_used_again_with_another_body_is_a_conflict(peer: Peer) -> None:
    add(peer, ack=0)
    reply = peer.batch(FILL, seq=2)
    assert (slug(reply), reply.problem.status, reply.problem.expected_seq) == ("sequence-conflict", 409, 3)


def test_a_gap_is_refused_and_consumes_nothing(peer: Peer) -> None:
    reply = add(peer, seq=5)
    assert (slug(reply), reply.problem.expected_seq) == ("sequence-gap", 2)
    assert add(peer).seq == 2


def test_an_acknowledged_reply_is_dropped(peer: Peer) -> None:
    add(peer)
    frame = peer.sent[-1]
    add(peer)
    reply, _ = peer.frame(frame)
    assert slug(reply) == "reply-expired"
    stored, _ = peer.ask(m.GetReply(peer.writer, 3))
    assert stored.seq == 3
    assert slug(peer.ask(m.GetReply(peer.writer, 2))[0]) == "reply-expired"
    assert slug(peer.ask(m.GetReply(peer.writer, 9))[0]) == "batch-not-found"


def test_a_failing_step_stops_its_program_and_earlier_steps_stand(peer: Peer) -> None:
    reply = fail(peer)
    assert (slug(reply), reply.applied, reply.problem.step, reply.problem.exception) == (
        "op-failed",
        1,
        1,
        "IndexError",
    )
    assert "out of bounds" in reply.problem.detail
    assert peer.get("@1.1").tolist() == [2.0, 2.0]


def test_batches_sent_before_their_writer_knew_are_skipped(peer: Peer) -> None:
    fail(peer)
    for _ in range(3):
        reply = add(peer, ack=1)
        assert (reply.skipped, reply.applied, reply.problem) == (True, 0, None)
    reply = add(peer, ack=2)
    assert (reply.skipped, reply.applied) == (False, 1)
    assert peer.get("@1.1").tolist() == [3.0, 3.0]


def test_a_refusal_is_consumed_and_skips_what_follows(peer: Peer) -> None:
    reply = peer.batch(Step("no_such_op", []))
    assert (slug(reply), reply.seq) == ("op-not-found", 2)
    assert add(peer, ack=1).skipped
    assert not add(peer, ack=2).skipped


def test_an_unknown_program_is_not_consumed(peer: Peer) -> None:
    known = peer.message(ADD, inputs=["@1.1"], values=[1.0])
    reply = add(peer, definition=None)
    assert slug(reply) == "program-unknown"
    assert add(peer).seq == 2
    assert add(peer, definition=None).applied == 1
    assert known.program in peer.session.programs


def test_a_program_that_is_not_its_id_is_refused(peer: Peer) -> None:
    reply = add(peer, program="0" * 32)
    assert slug(reply) == "malformed-frame"
    assert "0" * 32 not in peer.session.programs


def test_frees_of_a_batch_that_did_not_run_are_not_done(peer: Peer) -> None:
    fail(peer, free=["@1.1"])
    add(peer, free=["@1.1"], ack=1)
    assert peer.get("@1.1").tolist() == [2.0, 2.0]
    add(peer, free=["@1.1", "@1.77"])
    assert peer.get("@1.1").status == 404


def test_a_writer_learns_what_others_did() -> None:
    session = Session("test")
    one, two = Peer(session), Peer(session)
    one.batch(FILL, keep=[0], first=1, bind={"x": 0})
    assert not one.batch(FILL).others
    assert two.batch(ADD, inputs=["x"], values=[1.0]).others
    reply = one.batch(FILL)
    assert reply.others
    assert [(i.id, i.name, i.version) for i in reply.changed] == [("x", "x", 1)]
    assert not one.batch(FILL).others


def test_acquire_fences_earlier_writers_and_their_uploads() -> None:
    session = Session("test")
    one = Peer(session)
    one.batch(FILL, keep=[0], first=1)
    one.ask(m.Stage("1.1"), [np.zeros(3)])
    taken, _ = one.ask(m.Acquire())
    assert (taken.epoch, taken.writer) == (2, 2)
    reply = one.batch(FILL)
    assert (slug(reply), reply.problem.status) == ("writer-fenced", 409)
    assert (len(session.staged), session.staged.bytes) == (0, 0)
    assert one.get("@1.1").tolist() == [1.0, 1.0]


def test_attaching_again_as_the_writer_one_was() -> None:
    one = Peer()
    one.batch(FILL)
    resumed, _ = one.ask(m.Attach("test", resume=1, epoch=1))
    assert (resumed.writer, resumed.epoch) == (1, 1)
    assert one.batch(FILL).seq == 2
    assert slug(one.ask(m.Attach("test", resume=7, epoch=1))[0]) == "writer-unknown"
    assert slug(one.ask(m.Attach("test", resume=1, epoch=9))[0]) == "writer-fenced"


def test_state_names_every_tensor_by_its_writers_id(peer: Peer) -> None:
    peer.batch(Step("set_requires_grad", [0], outputs=0), inputs=["@1.1"], bind={"x": "@1.1"})
    peer.batch(
        Step("mul", [0, Value("float")]), Step("sum", [1]), Step("backward", [[2], None, None], outputs=0),
        inputs=["x"], values=[2.0],
    )  # fmt: skip
    peer.batch(Step("get_grad", [0]), inputs=["x"], keep=[1], first=2)
    reply = peer.batch(FILL, state=["@1.1", "x", "x.grad", "@1.1.grad", "@1.9", "nobody.grad"])
    assert [None if i is None else (i.id, i.name, i.has_grad) for i in reply.state] == [
        ("@1.1", "x", True), ("@1.1", "x", True), ("@1.2", None, False), ("@1.2", None, False), None, None,
    ]  # fmt: skip


def test_results_ride_or_are_pinned_until_acknowledged(peer: Peer) -> None:
    big = Step("ones", [], {"size": [100_000], "dtype": "float32"})
    reply = peer.batch(FILL, big, fetch=[0, 1])
    small, large = reply.results
    assert (small.buffer, small.pinned, large.buffer) == (0, None, None)
    assert peer.arrays[0].tolist() == [1.0, 1.0]
    found, arrays = peer.ask(m.GetResult(large.pinned))
    assert (found.info.dtype, arrays[0].shape) == ("float32", (100_000,))
    peer.batch(FILL)
    assert slug(peer.ask(m.GetResult(large.pinned))[0]) == "result-not-found"


def test_a_pinned_result_is_as_of_its_step(peer: Peer) -> None:
    big = Step("ones", [], {"size": [100_000], "dtype": "float32"})
    reply = peer.batch(big, fetch=[0], keep=[0], first=2)
    peer.batch(ADD, inputs=["@1.2"], values=[1.0], ack=1)
    _, arrays = peer.ask(m.GetResult(reply.results[0].pinned))
    assert arrays[0][0] == 1.0


def test_absent_gradients_are_absent_results(peer: Peer) -> None:
    reply = peer.batch(FILL, fetch=["@1.1.grad"])
    assert reply.results[0].absent


def test_every_consumed_batch_is_in_the_store(peer: Peer) -> None:
    add(peer)
    fail(peer)
    add(peer, ack=1)
    entries = [(entry.n, entry.outcome) for entry in peer.session.store.entries()]
    assert [n for n, _ in entries] == list(range(1, len(entries) + 1))
    assert [outcome for _, outcome in entries[-3:]] == ["applied", "op-failed", "skipped"]


def test_the_state_machine_alone() -> None:
    writer = Writer(1)
    assert writer.stored(1, b"a") is None
    assert writer.consume(1, 0)
    writer.replies[1] = (b"a", b"reply")
    assert writer.stored(1, b"a") == b"reply"
    with pytest.raises(ProtocolError) as conflict:
        writer.stored(1, b"b")
    assert conflict.value.problem.slug == "sequence-conflict"
    writer.failed = 1
    assert not writer.consume(2, 0)
    assert writer.consume(3, 1)
    assert (writer.replies, writer.ack, writer.failed) == ({}, 1, None)
    with pytest.raises(ProtocolError) as gap:
        writer.stored(5, b"c")
    assert gap.value.problem.expected_seq == 4


def test_garbage_is_refused_and_the_session_goes_on(peer: Peer) -> None:
    for frame in (b"", b"\0" * 8, b"\xff" * 100, frames.join(frames.encode(m.Done()))):
        reply, _ = peer.frame(frame)
        assert (slug(reply), reply.problem.status) == ("malformed-frame", 400)
    assert add(peer).applied == 1
