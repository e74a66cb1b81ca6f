"""A batch costs what it touches: the walk before it does not go through the graph that grew so far."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gradd
import pytest
from gradd_engine.tracing import InputSignature
from gradd_runtime.plan import cache


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tensors and nodes the walk of each batch came by."""
    found: list[int] = []

    class Counted(InputSignature):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            found.append(len(self.tensors) + len(self.nodes))

    monkeypatch.setattr(cache, "InputSignature", Counted)
    return found


def _plans(session: Any) -> Any:
    from gradd._transports.local import _inline

    return _inline()._sessions[session.name].session.plans


def chain(w: Any, n: int) -> Any:
    """A graph of 2 n nodes, read every fifth step."""
    h = gradd.ones(2)
    for i in range(n):
        h = (h * w).tanh()
        if i % 5 == 4:
            h.sum().item()
    return h.sum()


def losses(w: Any, n: int) -> Any:
    """The sum of all losses, with the history of each, beside a pass through each."""
    total = w.sum() * 0
    for _ in range(n):
        loss = (w * w).sum()
        total = total + loss
        loss.backward(retain_graph=True)
        w.grad = None
        gradd.current_session().step_done()
    return total


def writes(w: Any, n: int) -> Any:
    """A sequence written step by step into one tensor, and read."""
    out = gradd.zeros(n, 2)
    h = w
    for i in range(n):
        h = (h * w).tanh()
        out[i] = h
        out.sum().item()
    return out.sum()


def hooked(w: Any, n: int) -> Any:
    """A chain with a hook at its beginning."""
    h = w * 2
    h.register_hook(lambda g: g * 2)
    for i in range(n):
        h = (h * w).tanh()
        if i % 5 == 4:
            h.sum().item()
    return h.sum()


_SUMS = """
import gc
from collections import Counter
import gradd
found = []
with gradd.connect("local:") as session:
    total = one = gradd.ones(2, requires_grad=True)
    for _ in range(8):
        for _ in range(50):
            total = total + one
        session.flush()
        gc.collect()
        found.append(Counter(type(o).__name__ for o in gc.get_objects()))
grown = found[-1] - found[-2]
print(grown["OpNode"], grown["TensorMeta"] + grown["list"], sum(grown.values()))
"""


def test_nodes_have_in_common_what_is_the_same() -> None:
    """Of a client and its session in one process of their own, once the sums are planned."""
    done = subprocess.run([sys.executable, "-c", _SUMS], capture_output=True, text=True, check=True)
    nodes, several, objects = map(int, done.stdout.split())
    assert 96 <= nodes <= 104
    # Beside each node its edges, and the dict of what it has for itself.
    assert several <= 10
    assert objects <= 500


@pytest.mark.parametrize("grow", [chain, losses, writes, hooked], ids=lambda f: f.__name__)
def test_the_walk_of_a_batch_is_as_long_at_the_end_as_at_the_beginning(
    walks: list[int], grow: Callable[[Any, int], Any]
) -> None:
    with gradd.connect("local:") as session:
        w = gradd.tensor([0.5, 0.25], requires_grad=True)
        out = grow(w, 300)
        session.flush()
        assert max(walks[5:]) <= max(walks[:5]) + 4
        assert _plans(session).counts["planned"] > len(walks) * 0.8
        out.backward()
        assert w.grad.tolist() == pytest.approx(expected(grow, 300), rel=1e-4)


def expected(grow: Callable[[Any, int], Any], n: int) -> list[float]:
    """The gradient of the same in one batch."""
    with gradd.connect("local:") as session:
        _plans(session).enabled = False
        w = gradd.tensor([0.5, 0.25], requires_grad=True)
        grow(w, n).backward()
        return list(w.grad.tolist())


def test_a_graph_that_a_pass_goes_through_is_walked_and_planned(walks: list[int]) -> None:
    with gradd.connect("local:") as session:
        w = gradd.tensor([0.5, 0.25], requires_grad=True)
        for _ in range(6):
            w.grad = None
            loss = (w * w).exp().sum()
            loss.item()
            loss.backward()
            assert w.grad.tolist() == pytest.approx([1.2840254, 0.5322472])
        counts = _plans(session).counts
        assert counts["planned"] >= 8
        assert counts["traced"] == 2
        assert max(walks) > 5
