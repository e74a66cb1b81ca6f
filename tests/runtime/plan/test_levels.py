"""Forward-mode levels in a session: over batches, by hand, and never in a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradd_engine.data import collect
from gradd_engine.graph.tangents import LEVELS
from gradd_protocol.program import Step
from gradd_runtime.session import Session

from tests.runtime.peer import Peer


@pytest.fixture
def peer() -> Peer:
    """A writer with `x` and `t`, and a dual of them, `dual`, at the level `level`."""
    peer = Peer()
    peer.put("x", np.array([1.0, 2.0]))
    peer.put("t", np.array([3.0, 4.0]))
    begun = {"level": 2, "dual": 3}
    peer.batch(Step("enter_dual_level", []), Step("make_dual", [0, 1, 2]), inputs=["x", "t"], bind=begun)
    return peer


def test_a_level_spans_batches(peer: Peer) -> None:
    peer.batch(Step("mul", [0, 0]), inputs=["dual"], bind={"square": 1})
    reply = peer.batch(
        Step("dual_tangent", [0, 1]), Step("dual_primal", [0, 1]), inputs=["square", "level"], fetch=[2, 3]
    )
    assert reply.problem is None
    assert [a.tolist() for a in peer.arrays] == [[6.0, 16.0], [1.0, 4.0]]


def test_after_its_end_there_are_no_tangents(peer: Peer) -> None:
    peer.batch(Step("exit_dual_level", [0], outputs=0), inputs=["level"])
    reply = peer.batch(Step("dual_tangent", [0, 1]), inputs=["dual", "level"])
    assert reply.problem.detail == "the forward AD level has been exited"
    assert reply.problem.exception == "RuntimeError"
    assert peer.get("dual").tolist() == [1.0, 2.0]


def test_programs_with_tangents_run_eagerly_and_say_why(peer: Peer) -> None:
    plans = peer.session.plans
    for _ in range(4):
        peer.batch(Step("mul", [0, 0]), inputs=["dual"])
        assert "tangents" in plans.why
        peer.batch(Step("dual_primal", [0, 1]), inputs=["dual", "level"])
        assert plans.why == "step 0 is dual_primal"
    peer.batch(Step("exit_dual_level", [0], outputs=0), inputs=["level"])
    for _ in range(3):
        peer.batch(Step("mul", [0, 0]), inputs=["dual"])
    assert plans.counts["planned"]


def test_refusals_name_the_step(peer: Peer) -> None:
    reply = peer.batch(Step("make_dual", [0, 1, 2]), inputs=["dual", "t", "level"])
    assert reply.problem.detail.startswith(
        "Making a dual Tensor based on a Tensor that already has a forward"
    )
    reply = peer.batch(Step("make_dual", [0, 1, 0]), inputs=["x", "t"])
    assert reply.problem.detail.startswith("the tensor given as a forward AD level is not")


def test_levels_go_with_their_session() -> None:
    collect()
    before = len(LEVELS)
    peer = Peer(Session("levels"))
    peer.batch(Step("enter_dual_level", []), bind={"level": 0})
    assert len(LEVELS) == before + 1
    del peer
    collect()
    assert len(LEVELS) == before


def test_other_languages_have_them(peer: Peer) -> None:
    def step(op: str, *inputs: Any, out: Any = None) -> dict[str, Any]:
        return {"op": op, "inputs": list(inputs), "outputs": out or []}

    steps = [
        step("enter_dual_level", out=["now"]),
        step("make_dual", "x", "t", "now", out=["moving"]),
        step("exp", "moving", out=["grown"]),
        step("dual_tangent", "grown", "now", out=["slope"]),
        step("exit_dual_level", "now"),
    ]
    status, body = peer.json({"steps": steps, "fetch": ["slope"]})
    assert status == 200
    np.testing.assert_allclose(body["results"]["slope"]["data"], np.exp([1.0, 2.0]) * [3.0, 4.0])
