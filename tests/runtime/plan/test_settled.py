"""Batches that leave their inputs as they were, again and again: no walk over them, and the same answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine.tracing import InputSignature
from gradd_protocol import messages as m
from gradd_protocol.program import Step, Value
from gradd_runtime.plan.cache import Plans
from gradd_runtime.plan.settled import Inputs, Settled

from tests.runtime.peer import Peer

ADD = Step("add", [0, 1], {})
SCALE = Step("mul", [0, Value("float")], {})
WRITE = Step("add_", [0, 1], {})


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of inputs of each walk."""
    found: list[int] = []
    real = InputSignature.__init__

    def walked(self: InputSignature, inputs: Any, deep: Any = None) -> None:
        found.append(len(inputs))
        real(self, inputs, deep)

    monkeypatch.setattr(InputSignature, "__init__", walked)
    monkeypatch.setattr(Plans, "checks", False)
    return found


@pytest.fixture
def peer() -> Peer:
    one = Peer()
    one.put("a", np.array([1.0, 2.0], np.float32))
    one.put("b", np.array([3.0, 4.0], np.float32))
    return one


def add(peer: Peer, first: int = 5, **more: Any) -> list[float]:
    reply = peer.batch(ADD, inputs=["a", "b"], keep=[2], first=first, fetch=[2], **more)
    assert reply.problem is None
    return list(peer.arrays[0].tolist())


def test_it_is_walked_until_it_settles(peer: Peer, walks: list[int]) -> None:
    for n in range(8):
        assert add(peer, first=n) == [4.0, 6.0]
    assert len(walks) == 3  # seen, traced, replayed once more
    assert peer.session.plans.counts["planned"] == 7


def test_values_may_change(peer: Peer, walks: list[int]) -> None:
    for n in range(8):
        peer.batch(SCALE, inputs=["a"], values=[n + 0.5], keep=[1], first=n, fetch=[1])
        assert peer.arrays[0].tolist() == [n + 0.5, 2 * n + 1]
    assert len(walks) == 3


def otherwise(peer: Peer) -> dict[str, Callable[[], Any]]:
    """What may come between two of the same batches."""
    return {
        "another program": lambda: peer.batch(SCALE, inputs=["a"], values=[2.0]),
        "a write": lambda: peer.batch(WRITE, inputs=["a", "b"]),
        "another value": lambda: peer.put("a", np.array([5.0, 5.0], np.float32)),
        "another name": lambda: peer.put("c", np.array([5.0, 5.0], np.float32)),
        "another shape": lambda: peer.put("a", np.array([[5.0, 5.0]], np.float32)),
        "a gradient": lambda: peer.ask(m.PutTensor("a.grad"), [np.array([7.0, 8.0], np.float32)]),
        "another writer": lambda: peer.ask(m.Attach("other")),
        "forgetting": lambda: peer.session.forget(),
    }


@pytest.mark.parametrize("name", [*otherwise(None)])  # type: ignore[arg-type]
def test_what_comes_between_is_seen(peer: Peer, walks: list[int], name: str) -> None:
    for n in range(5):
        add(peer, first=n)
    before = len(walks)
    otherwise(peer)[name]()
    between = len(walks)
    peer.batch(ADD, inputs=["a", "b"], keep=[2], first=9, fetch=[2])
    assert len(walks) == between + 1 > before
    now = [peer.session.table.find(i).array for i in "ab"]
    assert peer.arrays[0].tolist() == (now[0] + now[1]).tolist()


def test_reading_comes_between_unseen(peer: Peer, walks: list[int]) -> None:
    for n in range(5):
        add(peer, first=n)
    before = len(walks)
    peer.ask(m.GetTensor("a"))
    peer.ask(m.ListTensors())
    assert add(peer) == [4.0, 6.0]
    assert len(walks) == before


def test_other_outputs_are_another_batch(peer: Peer, walks: list[int]) -> None:
    for n in range(5):
        add(peer, first=n)
    before = len(walks)
    assert peer.batch(ADD, inputs=["a", "b"], keep=[2], first=9).problem is None
    assert len(walks) == before + 1
    assert peer.batch(ADD, inputs=["b", "a"], keep=[2], first=10, fetch=[2]).problem is None
    assert len(walks) == before + 2


def test_what_it_was_given_dies_when_it_would() -> None:
    used = []
    for settles in (False, True):
        one = Peer()
        one.session.plans.enabled = settles
        for name in "ab":
            one.put(name, np.ones(1000, np.float32))
        for n in range(6):
            one.batch(ADD, inputs=["a", "b"], keep=[2], first=n, free=[f"@1.{n - 1}"] if n else [])
        assert (one.session.plans._settled is not None) is settles
        one.session.table.drop("a")
        used.append(one.session.account.used)
    assert used == [8000, 8000]


def test_inputs_that_change_or_have_graphs_do_not_settle(peer: Peer) -> None:
    peer.put("w", np.array([1.0, 2.0], np.float32), requires_grad=True)
    for steps, inputs in (((WRITE,), ["a", "b"]), ((ADD,), ["w", "b"])):
        for n in range(6):
            peer.batch(*steps, inputs=inputs, keep=[2], first=n)
        assert peer.session.plans._settled is None


def test_a_planted_fault_is_caught(
    peer: Peer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The check, which is on in all tests, finds a batch that is taken for settled and is not."""
    for n in range(5):
        add(peer, first=n)
    settled = peer.session.plans._settled
    assert settled is not None
    monkeypatch.setattr(Settled, "again", lambda self, work: Inputs(list(work.tensors)))
    assert add(peer) == [4.0, 6.0]
    peer.put("a", np.array([[5.0, 5.0]], np.float32))
    peer.session.plans._settled = settled
    reply = peer.batch(ADD, inputs=["a", "b"], keep=[2], first=9, fetch=[2])
    assert reply.problem.status == 500
    assert "what was settled has" in caplog.text
