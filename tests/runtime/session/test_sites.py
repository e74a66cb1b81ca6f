"""The lines of a program's steps: told with its definition, kept with it, and found at the nodes."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Sites, Step
from gradd_runtime.session import Session

from tests.runtime.peer import Peer

MUL = Step("mul", [0, 0])
EXP = Step("exp", [1])
SITES = Sites(["train.py", "model.py"], [(0, 7), (1, 20)])


def lines(session: Session, name: str) -> dict[str, Any]:
    reply, (text,) = frames.decode_reply(session.submit(frames.join(frames.encode(m.GetGraph(name)))))
    assert isinstance(reply, m.JsonReply)
    return {node["name"]: node.get("source") for node in json.loads(frames.text_of(text))["nodes"]}


@pytest.fixture
def peer() -> Peer:
    peer = Peer(Session("test"))
    peer.put("x", np.ones(2, np.float32), requires_grad=True)
    return peer


def test_nodes_have_the_lines_of_their_steps_however_they_were_run(peer: Peer) -> None:
    for n in range(4):
        sites = SITES if n == 0 else None
        reply = peer.batch(MUL, EXP, inputs=["x"], bind={"y": 2}, sites=sites)
        assert reply.problem is None
        assert lines(peer.session, "y") == {
            "ExpBackward0": {"file": "model.py", "line": 20},
            "MulBackward0": {"file": "train.py", "line": 7},
            "torch::autograd::AccumulateGrad": None,
        }
    assert peer.session.plans.counts["planned"] == 3


def test_who_defines_a_program_first_tells_its_lines(peer: Peer) -> None:
    peer.batch(MUL, EXP, inputs=["x"], bind={"y": 2})
    peer.batch(MUL, EXP, inputs=["x"], bind={"y": 2}, sites=SITES)
    assert set(lines(peer.session, "y").values()) == {None}


@pytest.mark.parametrize(
    ("sites", "detail"),
    [
        (Sites(["a.py"], [(0, 1)]), "the program has 2 steps, the lines of 1 are told"),
        (Sites(["a.py"], [(0, 1)] * 3), "the program has 2 steps, the lines of 3 are told"),
        (Sites([], [(0, 1), (0, 2)]), "a line is in a file that has no name"),
        (Sites(["a.py"], [(0, 1), (1, 2)]), "a line is in a file that has no name"),
    ],
)
def test_lines_that_are_not_those_of_the_steps_are_refused(peer: Peer, sites: Sites, detail: str) -> None:
    reply = peer.batch(MUL, EXP, inputs=["x"], bind={"y": 2}, sites=sites)
    assert (reply.problem.slug, reply.problem.detail, reply.applied) == ("malformed-frame", detail, 0)
    assert peer.batch(MUL, EXP, inputs=["x"], bind={"y": 2}, sites=SITES).problem is None
    assert lines(peer.session, "y")["ExpBackward0"] == {"file": "model.py", "line": 20}


def test_a_snapshot_keeps_the_lines_of_nodes_and_of_programs(peer: Peer) -> None:
    peer.batch(MUL, EXP, inputs=["x"], bind={"y": 2}, sites=SITES)
    other = Session.thaw(io.BytesIO(frames.join(peer.session.freeze())))
    assert lines(other, "y") == lines(peer.session, "y")
    again = peer.message(MUL, EXP, inputs=["x"], bind={"z": 2})
    frames.decode_reply(other.submit(frames.join(frames.encode(again))))
    assert lines(other, "z") == lines(peer.session, "y")
