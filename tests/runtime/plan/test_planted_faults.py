"""The differential test of plans catches what can go wrong: a planted fault for each of their parts."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradd
import pytest
from gradd_engine.graph.view_history import CopySlices
from gradd_engine.schema.registry import REGISTRY
from gradd_engine.tracing import commit, ending, graphs, mirror
from gradd_runtime.plan import lower, postpone, replay, simplify
from gradd_runtime.process import InlinePlacement

from tests.runtime.plan import test_plans
from tests.runtime.plan.test_plans import compare, random_program

Patch = pytest.MonkeyPatch
pytestmark = pytest.mark.usefixtures("settled")


@pytest.fixture(scope="module")
def scenarios() -> list[list[bytes]]:
    """Frames of loops and of random programs."""
    found: dict[str, list[bytes]] = {}
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        found.setdefault(name, []).append(bytes(frame))
        return real(self, name, frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InlinePlacement, "_run", run)
        for loop in (
            train,
            read_between,
            keep_gradients,
            change_values,
            transposed,
            look_at_graphs,
            hand_gradients_over,
            share_memory,
            compute_twice,
            free_what_crossed,
            change_shapes,
            write_through_views,
            refuse_values,
        ):
            with gradd.connect("local:"):
                gradd.manual_seed(0)
                loop()
        for seed in range(40):
            random_program(seed, "faults")
    return list(found.values())


def train() -> None:
    test_plans._train(gradd.optim.AdamW, lr=0.01)


def read_between() -> None:
    w = gradd.ones(4, requires_grad=True)
    for _ in range(4):
        y = (w * w).exp().sum()
        y.item()
        y.backward()
        w.grad.tolist()


def free_what_crossed() -> None:
    w = gradd.ones(4, requires_grad=True)
    for _ in range(4):
        y = (w * w).exp().sum()
        y.item()
        y.backward()
        gradd.current_session().info()  # tells bytes


def change_shapes() -> None:
    for n in (2, 2, 2, 3, 3, 2):
        x = gradd.ones(n)
        gradd.current_session().flush()
        gradd.current_session()["y"] = x * 2
        gradd.current_session().tensors()


def write_through_views() -> None:
    w = gradd.ones(2, requires_grad=True)
    for _ in range(4):
        w.grad = None
        s = gradd.zeros(4)
        for n in range(2):
            s[2 * n + 1] = w[n]
        s.sum().item()
        (s * s).sum().backward()
        w.grad.tolist()


def refuse_values() -> None:
    v, w, t = gradd.zeros(2), gradd.zeros(2), gradd.ones(2)
    for value in (0.5, 0.25, 0.5, 1.5, 0.5):
        x = gradd.full((2,), value)
        w.add_(1)
        gradd.current_session().flush()
        w.add_(1)
        twice = w * 2
        try:
            gradd.nn.functional.binary_cross_entropy(x + 0 * w, t).item()
        except RuntimeError:
            w.tolist()
        v.add_(1)
        twice = v * 2
        try:
            gradd.nn.functional.binary_cross_entropy(x, t).item()
        except RuntimeError:
            v.tolist()
        twice.tolist()


def keep_gradients() -> None:
    w = gradd.ones(4, requires_grad=True)
    for n in range(5):
        h = w * float(n)
        h.retain_grad()
        (h + h * 2).sum().backward()
        kept = w.grad
        w.grad = None
        kept.add_(h.grad).tolist()
        with gradd.no_grad():
            w.mul_(0.5)
        gradd.current_session().step_done()


def change_values() -> None:
    x = gradd.ones(3, requires_grad=True)
    for alpha in (2.0, 0.0, 3.0, 1.0, float("inf")):
        gradd.add(x, x, alpha=alpha).sum().backward()
        (x.grad / 2 * alpha).tolist()
    for weight in (0.25, 0.75, 0.25):
        x.grad = None
        gradd.lerp(x, x * 2, weight).sum().backward()
        x.grad.tolist()


def compute_twice() -> None:
    x = gradd.ones(3)
    for _ in range(4):
        a = x.exp()
        x.add_(1)
        b = x.exp()
        x.exp()
        (a + b).tolist()


def hand_gradients_over() -> None:
    x = gradd.ones(3, requires_grad=True)
    for _ in range(4):
        x.grad = None
        g = gradd.ones(3)
        x.clone().backward(g)
        gradd.current_session().step_done()
        g.add_(1)
        x.grad.tolist()


def share_memory() -> None:
    for share in (False, False, False, True, True):
        a = gradd.ones(2)
        b = a.data if share else gradd.ones(2)
        gradd.current_session().flush()
        a.add_(1)
        (b * 2).tolist()


def transposed() -> None:
    x = gradd.arange(6).reshape(2, 3).t()
    for n in range(4):
        y = x.double()
        y.reshape(-1).tolist()
        (x[n % 3 :][:1] * y[:1]).tolist()
        (gradd.ones(n + 1) * 2).tolist()


def look_at_graphs() -> None:
    w = gradd.ones(3, requires_grad=True)
    for _ in range(4):
        h = w * 2
        y = (h * h).sum()
        with gradd.no_grad():
            w.add_(1)
        y.tolist()
        y.backward()
        w.grad.tolist()


def takes_memory_that_outlives(patch: Patch) -> None:
    real = replay.elide_copies
    patch.setattr(replay, "elide_copies", lambda code, outliving: real(code, set()))


def merges_what_was_written_between(patch: Patch) -> None:
    patch.setattr(simplify, "written", lambda i: [])


def leaves_the_last_step_out_later(patch: Patch) -> None:
    real = replay.straight
    patch.setattr(replay, "straight", lambda steps, writes_at: real(steps[:-1], writes_at))


def drops_what_is_looked_at(patch: Patch) -> None:
    patch.setattr(replay, "drop_dead", lambda code, outliving: simplify.drop_dead(code[:-1], outliving))


def forgets_to_copy(patch: Patch) -> None:
    def copy(self: Any, i: Any) -> Callable[[Any], None]:
        target = self.register(i.target)
        return lambda frame: frame.arrays[target].fill(0)

    patch.setattr(lower.Lowering, "_copy", copy)


def ignores_guards(patch: Patch) -> None:
    patch.setattr(replay.Plan, "fits", lambda self, values: True)


def keeps_old_numbers(patch: Patch) -> None:
    patch.setattr(marshal, "dumps", lambda values: b"the same")


def starts_windows_at_zero(patch: Patch) -> None:
    def window(self: Any, i: Any) -> Callable[[Any], None]:
        return lambda frame: frame.starts.__setitem__(i.block.number, 0)

    patch.setattr(lower.Lowering, "_window", window)


def swaps_arguments(patch: Patch) -> None:
    real = lower._fetcher
    patch.setattr(lower, "_fetcher", lambda wanted: real(wanted[::-1] if len(wanted) == 2 else wanted))


def trusts_every_layout(patch: Patch) -> None:
    patch.setattr("gradd_engine.backends.array.ArrayBackend.lawful", lambda self, a, meta, given: a)


def forgets_versions(patch: Patch) -> None:
    real = ending.TraceOutputs._note_inputs

    def note(self: Any) -> None:
        real(self)
        self.changed = [(i, t, 0) for i, t, _ in self.changed]

    patch.setattr(ending.TraceOutputs, "_note_inputs", note)


def forgets_to_free(patch: Patch) -> None:
    real = ending.TraceOutputs._note_inputs

    def note(self: Any) -> None:
        real(self)
        self.released = []

    patch.setattr(ending.TraceOutputs, "_note_inputs", note)


def shares_history(patch: Patch) -> None:
    patch.setattr(commit.Commit, "_history", lambda self, traced, graph: traced)


def stamps_old_versions(patch: Patch) -> None:
    real = graphs.ReplayedGraph.__init__

    def init(self: Any, *args: Any) -> None:
        real(self, *args)
        self._ahead = dict.fromkeys(self._ahead, 1)

    patch.setattr(graphs.ReplayedGraph, "__init__", init)


def forgets_geometry(patch: Patch) -> None:
    real = mirror.InputSignature._tensor
    patch.setattr(mirror.InputSignature, "_tensor", lambda self, t: real(self, t)[2:])


def loses_an_edge_of_a_written_view(patch: Patch) -> None:
    real = graphs.ReplayedGraph._connect

    def connect(self: Any, node: Any) -> None:
        real(self, node)
        if isinstance(node, CopySlices):
            self._nodes[id(node)].edges = (None, *self._nodes[id(node)].edges[1:])

    patch.setattr(graphs.ReplayedGraph, "_connect", connect)


def forgets_where_a_view_begins(patch: Patch) -> None:
    patch.setattr(commit.Commit, "begin", lambda self, block: 0)


def promises_what_it_does_not_keep(patch: Patch) -> None:
    op = REGISTRY["binary_cross_entropy"]
    patch.setattr(op, "effects", replace(op.effects, raises=False))


def gives_nothing_back(patch: Patch) -> None:
    patch.setattr(replay.Plan, "_flats", lambda self, found: [])


def does_not_wait_for_what_waits(patch: Patch) -> None:
    patch.setattr(postpone, "touched", lambda i: ())


FAULTS: list[Callable[[Patch], None]] = [
    merges_what_was_written_between,
    drops_what_is_looked_at,
    leaves_the_last_step_out_later,
    takes_memory_that_outlives,
    forgets_to_copy,
    ignores_guards,
    keeps_old_numbers,
    starts_windows_at_zero,
    swaps_arguments,
    trusts_every_layout,
    forgets_versions,
    forgets_to_free,
    shares_history,
    stamps_old_versions,
    forgets_geometry,
    loses_an_edge_of_a_written_view,
    forgets_where_a_view_begins,
    promises_what_it_does_not_keep,
    gives_nothing_back,
    does_not_wait_for_what_waits,
]


def test_without_a_fault_all_agrees(scenarios: list[list[bytes]]) -> None:
    assert sum(compare(frames)["planned"] for frames in scenarios) > len(scenarios)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_a_fault_is_caught(scenarios: list[list[bytes]], fault: Callable[[Patch], None]) -> None:
    for frames in scenarios:
        with pytest.MonkeyPatch.context() as patch:
            fault(patch)
            try:
                compare(frames)
            except Exception:
                return
    pytest.fail("every scenario agrees")
