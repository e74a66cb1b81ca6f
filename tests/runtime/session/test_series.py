"""Curves: bounded, the whole course and the last point kept, and the same after a replay or a snapshot."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Program
from gradd_runtime.session import Session
from gradd_runtime.session.series import MOST_NAMES, MOST_POINTS, Curves, Series


def told(session: Session) -> Any:
    """What the session answers to GetSeries."""
    reply = session.submit(frames.join(frames.encode(m.GetSeries())))
    _, (text,) = frames.decode_reply(reply)
    return json.loads(bytes(text))


def logged(session: Session, seq: int, *log: m.Logged) -> None:
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
    curves.take([m.Logged(f"c{n}", 1.0) for n in range(MOST_NAMES + 3)], session.table)
    assert len(curves.images()) == MOST_NAMES
    assert curves.dropped == 3


def test_a_batch_logs_numbers_and_leaves_out_what_is_not_there() -> None:
    session = Session("s")
    logged(
        session, 1, m.Logged("a", 0.5), m.Logged("a", "NaN"), m.Logged("b", "@1.99"), m.Logged("c", "word")
    )
    assert told(session)["series"] == {"a": {"count": 2, "every": 1, "steps": [0, 1], "values": [0.5, "NaN"]}}


def test_a_tensor_of_one_element_is_a_number_and_no_other() -> None:
    session = Session("s")
    for name, data in (("x", 2.5), ("y", [1.0, 2.0])):
        text = frames.text_buffer(json.dumps({"data": data, "dtype": "float32"}).encode())
        session.submit(frames.join(frames.encode(m.PutJson(name), [text])))
    session.table.keep("@9.1", session.table.find("x"))
    session.table.keep("@9.2", session.table.find("y"))
    logged(session, 1, m.Logged("x", "@9.1", 4), m.Logged("y", "@9.2"))
    assert told(session)["series"] == {"x": {"count": 1, "every": 1, "steps": [4], "values": [2.5]}}


@pytest.mark.parametrize("count", [1, 5, MOST_POINTS + 9])
def test_a_snapshot_has_the_curves(count: int) -> None:
    session = Session("s")
    for seq in range(1, 3):
        logged(session, seq, *(m.Logged("a", n + 0.25) for n in range(count)))
    file = io.BytesIO(frames.join(session.freeze()))
    again = Session.thaw(file)
    assert told(again)["series"] == told(session)["series"]
    logged(again, 3, m.Logged("a", 9.0))
    assert told(again)["series"]["a"]["count"] == 2 * count + 1
