"""Batches that are asked to stop: where they do, what they leave, and that their record says it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from gradd_engine.data import Account
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import problem
from gradd_protocol.program import Step
from gradd_runtime.plan import replay as plans
from gradd_runtime.session import Order, Session, replay
from gradd_runtime.session.orders import WRITERS

from tests.runtime.peer import FILL, Peer
from tests.runtime.store.scripts import ListStore, differences, opened

pytestmark = pytest.mark.usefixtures("settled")
ADD = Step("add_", [0, 1], {})
#: one that takes memory, one that does not, one that draws, a pass of many nodes
MIXED = [
    Step("mul", [0, 1], {}),  # 3
    Step("add_", [2, 0], {}),  # 4
    Step("rand", [], {"size": [2], "dtype": "float32"}),  # 5
    Step("mul", [3, 5], {}),  # 6
    Step("sum", [6], {}),  # 7
    Step("backward", [[7], None, None], outputs=0),
    Step("mul", [6, 6], {}),  # 8
]


class Stopping:
    """Orders a session to stop at the `n`-th time that somebody could notice it."""

    def __init__(self, session: Session, n: int) -> None:
        self.session, self.left = session, n
        real = session.orders._due

        def due() -> Any:
            self.left -= 1
            if self.left == 0:
                session.orders.give(Order(0, 0, problem("cancelled", "enough")))
            found = real()
            session.account.alarm()
            return found

        session.account.halts = due
        session.orders.give(Order(1, 1, problem("cancelled", "another")))  # so that it looks at its beginning


def started(store: Any = None) -> Peer:
    one = Peer(opened(store))
    one.put("x", np.array([1.0, 2.0], np.float32))
    one.put("z", np.array([3.0, 4.0], np.float32), requires_grad=True)
    one.put("w", np.array([5.0, 6.0], np.float32))
    return one


def everything(session: Session) -> Session:
    again = opened()
    replay(again, session.store)
    return again


@pytest.mark.parametrize("before", [0, 2, 3], ids=["eager", "planned first", "planned"])
def test_it_stops_anywhere_and_its_record_says_where(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(plans, "LOOKS_SECONDS", 0.0)
    places, planned = set(), 0
    for n in range(1, 40):
        one = started()
        for _ in range(before):
            one.batch(*MIXED, inputs=["x", "z", "w"], keep=[6, 8], first=10 * one.seq + 1, fetch=[7])
        session = one.session
        order = Stopping(session, n)
        reply = one.batch(*MIXED, inputs=["x", "z", "w"], keep=[6, 8], first=100, fetch=[7])
        if order.left > 0:
            assert reply.problem is None
            break
        planned = session.plans.counts["planned"]
        assert reply.problem.slug == "cancelled", n
        assert reply.problem.detail == "enough"
        assert not reply.results
        entry = session.store.entries()[-1]
        places.add((entry.trouble.stopped, reply.applied))
        session.orders._given.clear()
        again = everything(session)
        assert differences(session, again, ignored=["counts"]) == [], n
        # and both go on alike
        other = Peer.__new__(Peer)
        other.__dict__.update(one.__dict__, session=again, submit=again.submit)
        other.sent, other.replies = [], []
        message = one.message(*MIXED, inputs=["x", "z", "w"], keep=[6, 8], first=200, fetch=[7])
        frame = frames.join(frames.encode(message))
        assert one.frame(frame) == other.frame(frame) or one.replies[-1] == other.replies[-1]
        assert differences(session, again) == [], n
    else:
        raise AssertionError("it was never done")
    if not before:
        assert {place for place, _ in places} >= {0, -1, -6}
        assert {applied for _, applied in places} == set(range(len(MIXED)))
    else:
        assert {applied for _, applied in places} == {0}
        assert len(places) > 1
        assert planned == session.plans.counts["planned"] - 1


def test_a_batch_that_waits_is_not_begun() -> None:
    one = started()
    one.session.orders.give(Order(0, 7, problem("cancelled", "enough")))
    one.session.orders.request(7)
    reply = one.batch(ADD, inputs=["x", "z"])
    assert (reply.problem.slug, reply.applied) == ("cancelled", 0)
    assert one.get("x").tolist() == [1.0, 2.0]
    assert one.session.store.entries()[-1].trouble.stopped == 0
    # sent again it is answered as it was, and run no more
    again, _ = one.frame(one.sent[-2])
    assert again.replayed
    assert again.problem == reply.problem
    one.session.orders.request(8)
    assert one.batch(ADD, inputs=["x", "z"]).problem is None
    assert one.get("x").tolist() == [4.0, 6.0]
    assert differences(one.session, everything(one.session), ignored=["counts"]) == []


def test_one_that_waits_for_an_upload_is_consumed_without() -> None:
    one = started()
    upload = Step("upload", [], {"dtype": "float32", "shape": [2]})
    assert one.batch(upload, uploads=["1.7"]).problem.slug == "upload-missing"
    entries = len(one.session.store.entries())
    one.session.orders.give(Order(0, 9, problem("cancelled", "enough"), one.writer, 2))
    reply = one.batch(upload, uploads=["1.7"])
    assert (reply.seq, reply.problem.slug, reply.applied) == (1, "cancelled", 0)
    # the next was sent before that was known: it is skipped, and does not wait either
    skipped = one.batch(upload, uploads=["1.8"], ack=0)
    assert (skipped.seq, skipped.skipped, skipped.problem) == (2, True, None)
    assert len(one.session.store.entries()) == entries + 2
    assert one.batch(upload, uploads=["1.7"]).problem.slug == "upload-missing"
    one.ask(m.Stage("1.7"), [np.ones(2, np.float32)])
    assert one.batch(upload, uploads=["1.7"], keep=[0], first=1).problem is None
    assert differences(one.session, everything(one.session), ignored=["counts"]) == []


def test_batches_sent_after_it_are_skipped() -> None:
    one = started()
    one.session.orders.give(Order(0, 7, problem("cancelled")))
    one.session.orders.request(7)
    failed = one.batch(ADD, inputs=["x", "z"])
    one.session.orders.request(8)
    assert one.batch(FILL, ack=failed.seq - 1).skipped
    assert one.batch(FILL, ack=failed.seq).problem is None


def test_only_the_writer_that_is_meant() -> None:
    one = started()
    two = Peer(one.session)
    one.session.orders.give(Order(0, 9, problem("cancelled"), writer=two.writer))
    one.session.orders.request(9)
    assert one.batch(ADD, inputs=["x", "z"]).problem is None
    assert one.json({"steps": [{"op": "neg", "inputs": ["x"], "outputs": ["y"]}]})[0] == 200
    assert two.batch(ADD, inputs=["x", "z"]).problem.slug == "cancelled"


def test_only_up_to_a_number() -> None:
    one = started()
    one.session.orders.give(Order(0, 9, problem("cancelled"), writer=one.writer, seq=2))
    assert one.batch(ADD, inputs=["x", "z"]).problem.slug == "cancelled"
    assert one.batch(ADD, inputs=["x", "z"]).problem.slug == "cancelled"
    assert one.batch(ADD, inputs=["x", "z"]).problem is None


def test_batches_over_rest() -> None:
    one = started()
    body = {"steps": [{"op": "neg", "inputs": ["x"], "outputs": ["y"]}]}
    one.session.orders.give(Order(5, 5, problem("cancelled", "enough"), writer=0))
    one.session.orders.request(5)
    status, said = one.json(body, idempotency_key="k")
    assert (status, said["type"], said["detail"]) == (409, "/problems/cancelled", "enough")
    text = frames.text_buffer(json.dumps({}).encode())
    reply, out = one.ask(m.BackwardJson("z"), [text])
    assert (reply.status, json.loads(frames.text_of(out[0]))["type"]) == (409, "/problems/cancelled")
    one.session.orders.request(6)
    assert one.json(body, idempotency_key="k") == (status, said)
    assert one.json(body, idempotency_key="l")[0] == 200
    assert differences(one.session, everything(one.session), ignored=["counts"]) == []


def test_what_is_answered_for_another_reason_than_a_batch_is_not_stopped() -> None:
    one = started()
    one.session.orders.give(Order(0, 9, problem("cancelled")))
    one.put("y", [1.0])
    assert one.get("y").tolist() == [1.0]
    assert one.session.store.entries()[-1].outcome == "applied"


def test_an_alarm_without_an_order_changes_nothing() -> None:
    one = started()
    one.session.account.alarm()
    assert one.batch(*MIXED, inputs=["x", "z", "w"]).problem is None
    account = Account(100)
    account.alarm()
    account.take(60)
    account.alarm()
    with pytest.raises(RuntimeError, match="tried to allocate 50 bytes; 60 of"):
        account.take(50)
    assert account.refused == [(2, 50, 60)]


def test_a_replay_is_not_stopped() -> None:
    store = ListStore()
    one = started(store)
    for _ in range(3):
        one.batch(*MIXED, inputs=["x", "z", "w"], keep=[6], first=10 * one.seq + 1)
    again = opened()
    again.orders.give(Order(0, 0, problem("cancelled")))
    replay(again, store)
    assert differences(one.session, again) == []


def test_what_is_called_off_may_come_later() -> None:
    """An order travels beside the batches, and may overtake them."""
    session = opened()
    one, other = Peer(session), Peer(session)
    why = problem("cancelled", "enough")
    session.orders.request(7)
    session.orders.give(Order(0, 7, why, one.writer, 2))
    for number, (writer, stopped) in enumerate(((one, True), (other, False), (one, True), (one, False)), 8):
        session.orders.request(number)
        reply = writer.batch(FILL, ack=writer.seq)
        assert (reply.problem is not None and reply.problem.slug == "cancelled") == stopped
    assert not session.orders._off
    assert not differences(session, everything(session))


def test_only_so_many_are_remembered() -> None:
    session = opened()
    for writer in range(1, 3 * WRITERS):
        session.orders.give(Order(0, 0, problem("cancelled", "enough"), writer, 5))
    assert len(session.orders._off) == WRITERS
