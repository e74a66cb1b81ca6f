"""A repeated op is answered from what is remembered of it, and nobody can tell (`trails` compares)."""

from __future__ import annotations

import os
import threading
from typing import Any

import gradd
import gradd.nn.functional as F
import pytest
from gradd import nn
from gradd._recording import lessons, matching
from gradd._recording.pending import PendingGraph, PendingNode
from gradd._recording.trail import Trail
from gradd_engine.tensor import Node

from tests.client.trails import run

#: loops in all; `make fuzz` asks for more
TRAILS = int(os.environ.get("GRADD_TRAILS", "40"))


@pytest.fixture(autouse=True)
def as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes are answered where no sparse gradient and no turned tensor was ever seen."""
    monkeypatch.setattr(Node, "turned", False)
    monkeypatch.setattr(Node, "any_sparse", False)


@pytest.mark.parametrize("part", range(4))
def test_a_trail_changes_nothing(part: int) -> None:
    answered = 0
    for seed in range(part, TRAILS, 4):
        without, with_trail = run(seed, False), run(seed, True)
        assert without[1] == 0
        pairs = zip(map(repr, without[0]), map(repr, with_trail[0]), strict=False)  # nan is not nan
        first = next((pair for pair in pairs if pair[0] != pair[1]), None)
        assert first is None, f"seed {seed}: without {first[0]}\nwith {first[1]}"
        assert len(without[0]) == len(with_trail[0])
        answered += with_trail[1]
    assert answered > 5 * (TRAILS // 4)


@pytest.mark.parametrize("seed", [441, 1936, 11783])
def test_loops_that_differed_once(seed: int) -> None:
    assert repr(run(seed, False)[0]) == repr(run(seed, True)[0])


def _told(seeds: range) -> bool:
    """Whether a loop of these tells a fault that was planted."""
    for seed in seeds:
        try:
            if repr(run(seed, False)[0]) != repr(run(seed, True)[0]):
                return True
        except Exception:
            return True
    return False


def test_no_fault_is_told_where_none_is_planted() -> None:
    assert not _told(range(15))


def test_a_stale_lesson_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "same", lambda x, geometry, earlier: True)
    assert _told(range(100))


def _refused() -> bool:
    """Whether the mirror refuses a pass after a write to what its nodes, which are not made, keep."""
    with gradd.connect("local:") as session:
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(4):
            (w * w).exp().sum().backward()
        y = (w * w).exp().sum()
        assert type(y._fn) is PendingNode
        with gradd.no_grad():
            w.mul_(2)
        try:
            y.backward()
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            session.flush()  # the server refuses it, later
    return False


def test_a_write_behind_nodes_that_are_not_made_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _refused()
    monkeypatch.setattr(Trail, "_keep", lambda self, changed: False)
    assert not _refused()


def test_a_leaf_that_a_pass_forgets_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradd._recording import trail

    find = trail.in_slots
    monkeypatch.setattr(
        trail, "in_slots", lambda slots, building: dict(list(find(slots, building).items())[1:])
    )
    assert _told(range(100))


def test_nodes_out_of_order_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = PendingGraph.__init__

    def late(self: PendingGraph, *given: Any) -> None:
        begin(self, *given)
        self._first += 1 << 40

    monkeypatch.setattr(PendingGraph, "__init__", late)
    assert _told(range(100))


class Small(nn.Module):
    """Composites, views, a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 3)

    def forward(self, x: Any) -> Any:
        h = self.first(x)
        h = h + F.gelu(self.norm(h)).transpose(0, 1).contiguous().transpose(0, 1)
        return self.last(h.reshape(-1, 16))


def _step(model: Any, optimizer: Any, x: Any, y: Any) -> Any:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def test_a_step_of_training_is_answered() -> None:
    with gradd.connect("local:") as session:
        model = Small()
        optimizer = gradd.optim.Adam(model.parameters())
        x, y = gradd.randn(4, 2, 8), gradd.randint(0, 3, (8,))
        losses = [_step(model, optimizer, x, y) for _ in range(3)]
        trail = session.recorder().trail
        before = trail.answered
        losses += [_step(model, optimizer, x, y) for _ in range(5)]
        # linear, norm, gelu, transpose, contiguous, transpose, add, reshape, linear, cross_entropy, backward
        assert trail.answered - before == 5 * 11
        assert all(type(loss._fn) is PendingNode for loss in losses[3:])
        assert [loss.grad_fn.name() for loss in losses] == ["NllLossBackward0"] * 8
        with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
            losses[-1].backward()
        assert losses[-1].item() < losses[0].item()


def test_what_is_looked_at_midway_is_there() -> None:
    with gradd.connect("local:"):
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        for n in range(6):
            w.grad = None
            h = w * 2
            y = h.exp()
            if n > 3:
                assert h.grad_fn.name() == "MulBackward0"
                assert y.grad_fn._saved_result is not None
                assert y.grad_fn.next_functions[0][0] is h.grad_fn
                h.retain_grad()
            y.sum().backward()
            if n > 3:
                assert h.grad is not None
            assert w.grad.tolist() == pytest.approx([2 * 7.389056, 2 * 54.59815], rel=1e-5)


def test_where_nodes_are_always_made_after_all_ops_with_nodes_are_not_answered() -> None:
    with gradd.connect("local:") as session:
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        trail = session.recorder().trail
        counts = []
        for _ in range(12):
            y = (w * 2).exp().sum()
            y.item()  # the batch ends, and its graph stands
            y.backward()
            counts.append(trail.answered)
        assert counts[6] > 0
        assert counts[-1] - counts[-2] <= 1
        assert w.grad.tolist() == pytest.approx([24 * 7.389056, 24 * 54.59815], rel=1e-5)


def test_a_hook_where_gradients_are_accumulated_stays_while_a_graph_has_it() -> None:
    with gradd.connect("local:") as session:
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        first = w * 2
        called: list[int] = []
        first.grad_fn.next_functions[0][0].register_hook(lambda *_: called.append(1))
        for n in range(8):
            y = (w * 4).sum()
            if n == 6:
                del first
            y.backward()
        assert len(called) == 8
        assert session.recorder().trail.answered > 5


def test_a_lesson_for_each_of_a_few_shapes() -> None:
    with gradd.connect("local:") as session:
        w = gradd.tensor([1.0, 2.0, 3.0], requires_grad=True)
        trail = session.recorder().trail
        for n in range(24):
            (w[: 1 + n % 3] * 2).relu().sum().backward()
            session.flush()
            if n == 14:
                before = trail.answered
        assert trail.answered - before >= 3 * 9
        assert w.grad.tolist() == [48.0, 32.0, 16.0]


def test_of_ever_new_shapes_nothing_is_learned_for_ever() -> None:
    with gradd.connect("local:") as session:
        trail = session.recorder().trail
        for n in range(2, 60):
            (gradd.ones(n, requires_grad=True) * 2).relu().sum().backward()
            session.flush()
        taught = trail._lessons._programs.values()
        assert [len(each.lessons) <= lessons._KEPT and each.left >= 0 for each in taught] == [True] * len(
            taught
        )


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lessons, "_MOST", 40)
    with gradd.connect("local:") as session:
        trail = session.recorder().trail
        for n in range(1, 20):
            for _ in range(4):
                x = gradd.ones(2)
                for _ in range(n):
                    x = x * 2
                x.tolist()
        programs = trail._lessons._programs
        assert sum(len(lesson.repeats) for each in programs.values() for lesson in each.lessons) <= 40


def test_another_thread_writes_to_what_nodes_that_are_not_made_keep() -> None:
    with gradd.connect("local:"):
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(5):
            y = (w * w).exp()
            y.sum().backward()
        y = (w * w).exp()

        def write() -> None:
            with gradd.no_grad():
                w.mul_(2)

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_nodes_are_made_again_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    with gradd.connect("local:"):
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(4):
            (w * 2).exp().sum().backward()
        y = (w * 2).exp()
        assert type(y._fn) is PendingNode
        run_one = PendingGraph._run
        calls: list[int] = []

        def interrupted(self: PendingGraph, *given: Any) -> Any:
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return run_one(self, *given)

        monkeypatch.setattr(PendingGraph, "_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            assert y.grad_fn is not None
        assert y.grad_fn.name() == "ExpBackward0"
        w.grad = None
        y.sum().backward()
        assert w.grad.tolist() == pytest.approx([2 * 7.389056, 2 * 54.59815], rel=1e-5)


def test_the_trail_ends_with_its_session() -> None:
    from gradd_engine.data.state import state

    with gradd.connect("local:") as session:
        for _ in range(4):
            gradd.ones(2).mul(2).tolist()
        assert state.trail is session.recorder().trail
    assert state.trail is None
