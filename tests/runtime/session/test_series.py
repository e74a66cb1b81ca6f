"""Curves: bounded, the whole course and the last point kept, and the same after a replay or a snapshot."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.fields import Logged
from gradd_protocol.program import Program
from gradd_runtime.session import Session
from gradd_runtime.session.series import MOST_NAMES, MOST_POINTS, Curves, Series

from tests.runtime.peer import Peer


def told(session: Session) -> Any:
    """What the session answers to GetSeries."""
    reply = session.submit(frames.join(frames.encode(m.GetSeries())))
    _, (text,) = frames.decode_reply(reply)
    return json.loads(bytes(text))


def logged(session: Session, seq: int, *log: Logged) -> None:
    """A batch that logs."""
    if seq == 1:
        session.submit(frames.join(frames.encode(m.Attach())))
    empty = Program(0, [])
    batch = m.Batch(writer=1, epoch=1, seq=seq, ack=seq - 1, program=empty.id(), definition=empty, log=[*log])
    reply, _ = frames.decode_reply(session.submit(frames.join(frames.encode(batch))))
    assert isinstance(reply, m.BatchReply)
    assert reply.problem is None


def test_a_long_curve_keeps_its_course_and_its_end() -> None:
    series = Series()
    for n in range(3 * MOST_POINTS):
        series.add(None, float(n))
    said = series.told()
    assert said["count"] == 3 * MOST_POINTS
    assert said["every"] == 4
    assert len(said["steps"]) <= MOST_POINTS
    assert said["steps"] == said["values"]
    assert said["steps"][:3] == [0, 4, 8]
    assert said["steps"][-1] == 3 * MOST_POINTS - 1


def test_what_is_not_finite_has_its_name() -> None:
    series = Series()
    for value in (float("nan"), float("inf"), float("-inf"), 1.5):
        series.add(7, value)
    assert series.told()["values"] == ["NaN", "Infinity", "-Infinity", 1.5]
    assert series.told()["steps"] == [7, 7, 7, 7]


def test_names_are_bounded() -> None:
    curves, session = Curves(), Session("s")
    curves.take([Logged(f"c{n}", 1.0) for n in range(MOST_NAMES + 3)], session.table)
    assert len(curves.images()) == MOST_NAMES
    assert curves.dropped == 3


def test_a_batch_logs_numbers_and_leaves_out_what_is_not_there() -> None:
    session = Session("s")
    logged(session, 1, Logged("a", 0.5), Logged("a", "NaN"), Logged("b", "@1.99"), Logged("c", "word"))
    assert told(session)["series"] == {"a": {"count": 2, "every": 1, "steps": [0, 1], "values": [0.5, "NaN"]}}


def test_a_tensor_of_one_element_is_a_number_and_no_other() -> None:
    session = Session("s")
    for name, data in (("x", 2.5), ("y", [1.0, 2.0])):
        text = frames.text_buffer(json.dumps({"data": data, "dtype": "float32"}).encode())
        session.submit(frames.join(frames.encode(m.PutJson(name), [text])))
    session.table.keep("@9.1", session.table.find("x"))
    session.table.keep("@9.2", session.table.find("y"))
    logged(session, 1, Logged("x", "@9.1", 4), Logged("y", "@9.2"))
    assert told(session)["series"] == {"x": {"count": 1, "every": 1, "steps": [4], "values": [2.5]}}


@pytest.mark.parametrize("count", [1, 5, MOST_POINTS + 9])
def test_a_snapshot_has_the_curves(count: int) -> None:
    session = Session("s")
    for seq in range(1, 3):
        logged(session, seq, *(Logged("a", n + 0.25) for n in range(count)))
    file = io.BytesIO(frames.join(session.freeze()))
    again = Session.thaw(file)
    assert told(again)["series"] == told(session)["series"]
    logged(again, 3, Logged("a", 9.0))
    assert told(again)["series"]["a"]["count"] == 2 * count + 1


SQUARE = {"op": "mul", "inputs": ["x", "x"], "outputs": ["%y"]}
TOTAL = {"op": "sum", "inputs": ["%y"], "outputs": ["%loss"]}


@pytest.fixture
def peer() -> Peer:
    """A session with a tensor of two elements that requires gradients."""
    peer = Peer()
    peer.put("x", np.array([1.0, 2.0], np.float32), requires_grad=True)
    return peer


def test_a_batch_in_json_logs_numbers_and_tensors_after_the_last_step(peer: Peer) -> None:
    log = [
        {"name": "loss", "value": "%loss", "step": 7},
        {"name": "lr", "value": 0.5},
        {"name": "lr", "value": {"scalar": "NaN"}},
    ]
    status, answer = peer.json({"steps": [SQUARE, TOTAL], "fetch": ["%loss"], "log": log})
    assert status == 200
    assert answer["results"] == {"%loss": {"dtype": "float32", "shape": [], "data": 5.0}}
    assert told(peer.session)["series"] == {
        "loss": {"count": 1, "every": 1, "steps": [7], "values": [5.0]},
        "lr": {"count": 2, "every": 1, "steps": [0, 1], "values": [0.5, "NaN"]},
    }


def test_it_logs_as_often_as_it_runs(peer: Peer) -> None:
    """Also where its program runs as a plan, and once where it is sent again under its key."""
    batch = {"steps": [SQUARE, TOTAL], "log": [{"name": "loss", "value": "%loss"}]}
    for n in range(4):
        assert peer.json(batch, idempotency_key=f"key {n}")[0] == 200
    assert peer.json(batch, idempotency_key="key 0")[0] == 200
    assert told(peer.session)["series"]["loss"]["values"] == [5.0] * 4


@pytest.mark.parametrize(
    ("value", "reason"),
    [("x", r"float32 of shape [2]"), ("x.grad", "None"), ("%z", "complex64 of shape []")],
)
def test_what_is_no_real_number_is_refused_and_nothing_of_its_batch_logged(
    peer: Peer, value: str, reason: str
) -> None:
    log = [{"name": "lr", "value": 0.5}, {"name": "loss", "value": value}]
    z = {"op": "mul", "inputs": ["%loss", {"scalar": [0, 1]}], "outputs": ["%z"]}
    status, problem = peer.json({"steps": [SQUARE, TOTAL, z], "log": log})
    assert (status, problem["type"], problem["applied"]) == (422, "/problems/op-failed", 3)
    assert problem["detail"] == f"a point of 'loss' is no real number: {reason}"
    assert told(peer.session)["series"] == {}


@pytest.mark.parametrize(
    ("point", "status"),
    [
        ({"name": "loss", "value": "nobody"}, 404),
        ({"name": "loss", "value": "a/b"}, 400),
        ({"name": "loss", "value": {"scalar": [0, 1]}}, 422),
        ({"name": "loss", "value": None}, 400),
        ({"name": "loss"}, 400),
        ({"name": "", "value": 1.0}, 400),
        ({"name": "n" * 129, "value": 1.0}, 400),
        ({"name": "loss", "value": 1.0, "step": 1.5}, 400),
        ({"name": "loss", "value": 1.0, "step": 1 << 63}, 400),
        ({"name": "loss", "value": 1.0, "stepp": 1}, 400),
    ],
)
def test_a_bad_point_is_refused_before_any_step(peer: Peer, point: Any, status: int) -> None:
    batch = {"steps": [{"op": "mul", "inputs": ["x", "x"], "outputs": ["y"]}], "log": [point]}
    assert peer.json(batch)[0] == status
    assert peer.get("y").status == 404
    assert told(peer.session)["series"] == {}


def test_a_batch_that_fails_logs_nothing(peer: Peer) -> None:
    twice = [{"op": "backward", "inputs": ["%loss"]}] * 2
    log = [{"name": "lr", "value": 0.5}]
    assert peer.json({"steps": [SQUARE, TOTAL, *twice], "log": log})[0] == 422
    assert told(peer.session)["series"] == {}
