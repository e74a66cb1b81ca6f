"""Plans with ops that no graph can hold, on the stand-in: what is between them runs as graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest
from gradd.nn import functional
from gradd_runtime.plan import segments
from gradd_runtime.plan.cache import NOT_ONE, Plans
from gradd_runtime.plan.captured import GraphCapture, GraphKeys, StepsBetween
from gradd_runtime.plan.graph import PlanGraph
from gradd_runtime.plan.segments import GraphSteps, Segmenting

from tests import standin
from tests.cuda import host
from tests.device.graphs import differ, outcomes, waiting_ways
from tests.device.test_graphs import lent
from tests.standin.sessions import sessions_there

#: seeds of random loops that have ops which wait
SEEDS = [seed for seed in range(3000, 3024) if waiting_ways(seed)]

pytestmark = pytest.mark.skipif(host.MISSING is not None, reason=str(host.MISSING))


def chain(x: Any) -> Any:
    """Some launches that do not become one: a segment of its own."""
    for _ in range(3):
        x = (x @ x.t()).tanh()
    return x


def seen(step: Callable[[int], Any], steps: int = 9) -> tuple[list[Any], dict[str, int], list[str]]:
    """What steps give, fetched when all are done; the launches of the last; what is told of plans that are
    not one graph.
    """
    with sessions_there() as placement, gradd.connect("local:") as session:
        gradd.manual_seed(3)
        kept = []
        for n in range(steps):
            standin.reset()
            kept.append(step(n))
            session.flush()
        launches = dict(standin.LAUNCHES)
        told = placement._sessions[session.name].session.plans.reasons
        return [_listed(x) for x in kept], launches, [why for why in told if why.startswith(NOT_ONE)]


def wanted(step: Callable[[int], Any], steps: int = 9) -> list[Any]:
    """What they give in a NumPy session."""
    with gradd.connect("local:"):
        gradd.manual_seed(3)
        return [_listed(step(n)) for n in range(steps)]


def _listed(x: Any) -> Any:
    return [*map(_listed, x)] if isinstance(x, (list, tuple)) else x.tolist()


def _fresh(make: Callable[[], Any]) -> Callable[[int], Any]:
    """What a script makes in its first step."""
    made: list[Any] = []

    def get(n: int) -> Any:
        if not n:
            made[:] = [make()]
        return made[0]

    return get


X = _fresh(lambda: gradd.arange(9.0).reshape(3, 3) / 10)


def alike(got: Any, want: Any) -> None:
    np.testing.assert_allclose(np.array(got), np.array(want), rtol=1e-5, atol=1e-6)


def _around(n: int) -> Any:
    first = chain(X(n))
    return chain(first.masked_scatter(first > 0.2, first * 3)) + first


def test_what_is_before_and_after_an_op_that_waits_are_graphs() -> None:
    values, launches, told = seen(_around)
    alike(values, wanted(_around))
    assert launches["graph"] == 2
    (why,) = told
    assert why.startswith(f"{NOT_ONE}as 2, since masked_scatter cannot be captured (")
    assert "int while a stream is capturing" in why


def test_what_is_too_short_for_a_graph_runs_with_the_op_beside_it() -> None:
    def step(n: int) -> Any:
        first = chain(X(n))
        second = first.masked_scatter(first > 0.2, first * 3)
        return second.masked_scatter(second @ second > 0.3, first) * 2

    values, launches, told = seen(step)
    alike(values, wanted(step))
    assert launches["graph"] == 1
    assert len(told) == 1
    assert "as 1, since masked_scatter" in told[0]


def test_results_of_each_part_stay_what_they_were() -> None:
    w = _fresh(lambda: gradd.eye(3))

    def step(n: int) -> Any:
        w(n).add_(0.1 * chain(w(n)))
        left, values, right = gradd.linalg.svd(w(n))
        again = chain(left * values @ right)
        last = gradd.linalg.pinv(again + 2 * gradd.eye(3))
        return again, values, last, w(n) * 1, chain(again) + last

    values, launches, told = seen(step)
    for got, want in zip(values, wanted(step), strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
    assert launches["graph"] == 3
    assert ["as 3, since linalg_svd and linalg_pinv_kernel" in why for why in told] == [True]


def test_draws_are_those_of_a_session_without_graphs() -> None:
    def step(n: int) -> Any:
        x = chain(functional.dropout(X(n) + 1, 0.5))
        x = x + gradd.poisson(x.abs() * 3)  # its keys come from the host
        return chain(x) + gradd.rand(3, 3)

    values, launches, told = seen(step)
    alike(values, wanted(step))
    assert launches["graph"] == 2
    assert len(told) == 1


def test_numbers_of_results_may_change_from_step_to_step() -> None:
    def step(n: int) -> Any:
        x = chain(X(n) + (n % 3) / 5)
        rows = gradd.nonzero(x > 0.5)
        return chain(x + rows.sum() + x[x > 0.6].sum())

    values, _, _ = seen(step, 24)
    alike(values, wanted(step, 24))


def _raising() -> list[Any]:
    """What a session has after steps of which some raise, between graphs and after writes."""
    with gradd.connect("local:") as session:
        w, limit, told = gradd.eye(3), gradd.zeros(()), []
        for n in range(14):
            limit.fill_(9.0 if n in (9, 12) else -9.0)
            session.flush()
            try:
                w[0].add_(0.1 * chain(w)[1])
                w.copy_(chain(w.masked_scatter(w < limit, w[0])) + gradd.eye(3))
                session.flush()
            except RuntimeError as error:
                told.append((f"{n}: {str(error)[:28]}", w.tolist()))
        return [*told, ("end", w.tolist())]


def test_what_raises_between_graphs_leaves_what_came_before_it_done_once() -> None:
    want = _raising()
    with sessions_there(), outcomes() as found:
        got = _raising()
    raised = [f"{n}: Number of elements of source" for n in (9, 12)]
    assert [said for said, _ in got] == [said for said, _ in want] == [*raised, "end"]
    alike([values for _, values in got], [values for _, values in want])
    assert found["in segments"] > 3


def test_what_a_graph_found_out_of_bounds_is_told_though_an_op_after_it_raises() -> None:
    with sessions_there(), outcomes() as found, gradd.connect("local:") as session:
        table, limit, at = gradd.eye(3), gradd.zeros(()), gradd.tensor([0, 1, 2])
        told, kept = [], []
        for n in range(14):
            limit.fill_(9.0 if n == 10 else -9.0)
            at.copy_(gradd.tensor([0, 1, 7 if n == 9 else 2]))
            session.flush()
            try:
                first = chain(functional.embedding(at, table))
                kept.append(chain(first.masked_scatter(first < limit, first[0])))
                session.flush()
                if n > 9:
                    kept[-1].tolist()
            except (IndexError, RuntimeError) as error:
                told.append((n, type(error)))
    assert told == [(10, RuntimeError), (11, IndexError)]
    assert found["in segments"] > 5


def test_a_write_that_is_not_undone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    run = GraphCapture.run

    def planted(self: GraphCapture, f: Any, *make: Any) -> None:
        f.keep = None
        run(self, f, *make)

    monkeypatch.setattr(GraphCapture, "run", planted)
    with pytest.raises(AssertionError):
        test_what_raises_between_graphs_leaves_what_came_before_it_done_once()


def _written(n: int, factor: float | None) -> Any:
    first = chain(X(n) + gradd.eye(3))
    made = gradd.linalg.pinv(first)
    part = made[:, 1:]
    if factor is None:
        return chain(made.masked_scatter(made > 9, first) + part.sum() + made.sum())
    waited = part.masked_scatter(part > 9, first)
    part.mul_(factor)
    return chain(made + waited.sum())


def test_what_an_op_made_may_be_written_to_in_several_ways() -> None:
    for factor, graphs in ((None, 2), (0.5, 1)):
        step = lambda n, factor=factor: _written(n, factor)  # noqa: E731
        values, launches, _ = seen(step)
        np.testing.assert_allclose(values, wanted(step), rtol=1e-3, atol=1e-4)
        assert launches["graph"] >= graphs


def test_only_so_many_ops_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "MOST_BLOCKED", 1)

    def step(n: int) -> Any:
        x = X(n)
        for _ in range(3):
            x = chain(x).masked_scatter(x > 0.2, x * 3)
        return chain(x)

    values, launches, told = seen(step)
    alike(values, wanted(step))
    assert launches["graph"] == 1
    assert len(told) == 1


def test_all_memory_of_segments_counts() -> None:
    def kept(step: Callable[[int], Any]) -> int:
        with sessions_there() as placement, gradd.connect("local:") as session:
            results = []
            for n in range(9):
                results.append(step(n))
                session.flush()
            (graph,) = placement._sessions[session.name].session.plans._graphs
            return graph.nbytes

    assert kept(_around) > kept(lambda n: chain(chain(X(n))))


def test_random_loops_with_ops_that_wait_give_what_numpy_gives() -> None:
    with outcomes() as found:
        assert [said for seed in SEEDS[:8] if (said := differ(seed))] == []
    assert found["in segments"] > 20


def _unsettled(self: StepsBetween, f: Any) -> None:
    settle, self._settle = self._settle, lambda those, to: None
    try:
        _RUN(self, f)
    finally:
        self._settle = settle


def _copied(self: StepsBetween, body: Any, given: list[Any], *more: Any) -> None:
    _MAKE(self, body, [a.copy() if isinstance(a, standin.CUPY.ndarray) else a for a in given], *more)


def _let_go(self: GraphCapture, taken: dict[int, Any]) -> None:
    _SETTLE(self, taken)
    self._made = [a.borrowed() for a in self._made]


_RUN, _MAKE, _SETTLE = StepsBetween.run, StepsBetween.__init__, GraphCapture._settle_results


@pytest.mark.parametrize(
    ("of", "name", "planted"),
    [
        (StepsBetween, "run", _unsettled),
        (StepsBetween, "__init__", _copied),
        (GraphCapture, "_settle_results", _let_go),
        (GraphCapture, "_taken", lent),
        (GraphCapture, "_renew", lambda self, arrays: None),
        (GraphKeys, "draw", lambda self, stream: None),
        (GraphKeys, "move", lambda self: None),
        (PlanGraph, "_addresses", lambda self, arrays: {}),
        (Segmenting, "_settling", lambda self, moved, at: {}),
        (GraphSteps, "used", lambda self, first, end: set()),
        (Plans, "_because", lambda self, why: None),
    ],
)
def test_the_finder_sees_a_fault_in_segments(
    monkeypatch: pytest.MonkeyPatch, of: Any, name: str, planted: Any
) -> None:
    monkeypatch.setattr(of, name, planted)
    assert any(differ(seed) for seed in SEEDS)
