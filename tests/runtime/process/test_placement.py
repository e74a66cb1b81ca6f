"""Placements: sessions by name, frames in order, only bytes across."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd._transports import local
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Step
from gradd_runtime.process import InlinePlacement

from tests.runtime.peer import FILL, Peer
from tests.runtime.pipe import PipePlacement


@pytest.fixture(params=[InlinePlacement, PipePlacement])
def placement(request: pytest.FixtureRequest) -> Iterator[Any]:
    made = request.param()
    yield made
    made.shutdown()


def writer(placement: Any, name: str) -> Peer:
    return Peer(submit=lambda frame: placement.submit(name, frame).result())


def test_sessions_are_apart(placement: Any) -> None:
    placement.open("a", {})
    placement.open("b", {})
    a, b = writer(placement, "a"), writer(placement, "b")
    a.put("x", [1.0, 2.0])
    assert a.get("x").tolist() == [1.0, 2.0]
    assert b.get("x").status == 404


def test_opening_again_changes_nothing_and_closing_ends_it(placement: Any) -> None:
    placement.open("a", {})
    a = writer(placement, "a")
    a.put("x", [1.0])
    placement.open("a", {"seed": 7})
    assert a.get("x").tolist() == [1.0]
    placement.close("a")
    placement.close("a")
    assert a.get("x").slug == "session-not-found"


def test_options_reach_the_session(placement: Any) -> None:
    placement.open("small", {"quota_bytes": 4})
    placement.open("one", {"seed": 1})
    placement.open("two", {"seed": 2})
    assert writer(placement, "small").batch(FILL).problem.slug == "quota-exceeded"
    drawn = []
    for name in ("one", "two"):
        peer = writer(placement, name)
        peer.batch(Step("rand", [], {"size": [2], "dtype": "float32"}), fetch=[0])
        drawn.append(peer.arrays[0].tolist())
    assert drawn[0] != drawn[1]


def test_garbage_is_answered(placement: Any) -> None:
    placement.open("a", {})
    reply, _ = frames.decode_reply(placement.submit("a", b"garbage").result())
    assert isinstance(reply, m.ProblemReply)
    assert reply.problem.slug == "malformed-frame"


def test_what_was_submitted_is_not_called_back() -> None:
    placement = InlinePlacement()
    placement.open("a", {})
    replies = [placement.submit("a", b"garbage") for _ in range(20)]
    assert not any(reply.cancel() for reply in replies)
    assert all(frames.decode_reply(reply.result())[0] for reply in replies)
    placement.shutdown()


def test_a_script_runs_the_same_in_a_child_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def script() -> Any:
        with gradd.connect("local:") as session:
            gradd.manual_seed(5)
            w = torch.randn(3, 2, requires_grad=True)
            optimizer = torch.optim.Adam([w], lr=0.1)
            losses = []
            for _ in range(5):
                optimizer.zero_grad()
                loss = (w * w).sum() + w.sum()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            with pytest.raises(IndexError, match="out of bounds"):
                w.detach()[torch.tensor([7])].tolist()
            session["w"] = w
            assert session.tensors() == session.mirror()
            return losses, w.tolist(), session.info().round_trips

    pipe = PipePlacement()
    here = script()
    monkeypatch.setattr(local, "_placement", pipe)
    there = script()
    assert pipe.crossed > 10
    pipe.shutdown()
    assert here == there
