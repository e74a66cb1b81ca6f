"""Sweeps have the bits of the kernels whose place they take, over random programs; faults in them show."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import messages as m
from gradd_protocol.program import Step, Value
from gradd_runtime.plan import learn, lower, replay, rows, sweep
from gradd_runtime.plan.recipes import Watched
from gradd_runtime.session import Session

from tests.runtime.peer import Peer
from tests.runtime.plan.sweeps import Case, case, differs

Patch = pytest.MonkeyPatch
pytestmark = [
    pytest.mark.usefixtures("settled"),
    pytest.mark.skipif(NUMPY.kernels.loops is None, reason="nothing is compiled here"),
]
#: random programs; `make fuzz` runs more of them
PROGRAMS = int(os.environ.get("GRADD_SWEEPS", "160"))
PARTS = 4


@pytest.fixture
def forgetful(monkeypatch: Patch) -> None:
    """Nothing is known of kernels from before, nor afterwards."""
    monkeypatch.setattr(rows, "_known", {})


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_have_the_same_bits_with_sweeps_and_without(part: int) -> None:
    swept = 0
    for seed in range(part, PROGRAMS, PARTS):
        told, found = differs(case(seed))
        assert not told, f"seed {seed}: {told}"
        swept += found.swept
    assert swept > PROGRAMS // PARTS


def chain(*more: Step) -> list[Step]:
    """A few multiplications and additions of input 0 and run-time numbers."""
    steps = []
    for n in range(4):
        steps += [Step("mul", [2 * n, Value("float")]), Step("add", [2 * n + 1, 0])]
    return [*steps, *more]


def chained(rounds: int = 5, size: int = 4) -> Case:
    """The chain, over values and numbers that change."""
    data = [np.linspace(-1, n + 1, size).astype(np.float32) for n in range(rounds)]
    return Case(chain(), [data], [False], [[0.5 + n, 2.0, -0.0, n] for n in range(rounds)], [8, 3])


def test_a_chain_is_one_sweep() -> None:
    told, found = differs(chained())
    assert not told
    (made,) = found.sweeps
    assert (made.first, made.end, len(made.rows)) == (0, 8, 8)
    assert [len(x) for x in (made.loads, made.cells, made.stores)] == [1, 4, 2]


def turned() -> Case:
    """A chain, a sum of it, and a chain of what the first one left."""
    there = [Step("mul", [0, 0])] + [
        Step("tanh" if n % 2 else "mul", [n, *[0][n % 2 :]]) for n in range(1, 7)
    ]
    back = [Step("sum", [7])] + [Step("mul", [8 + n, 7 - n]) for n in range(6)]
    data = [np.linspace(-1, n + 1, 6).astype(np.float32) for n in range(5)]
    return Case([*there, *back], [data], [False], [[]] * 5, [14])


def test_what_only_sweeps_use_is_not_copied() -> None:
    told, found = differs(turned())
    assert not told
    first, second = found.sweeps
    # The sum needs the last one, and the second gets it and the sum; the rest stays where it is.
    assert [len(first.loads), len(first.stores), len(second.loads), len(second.stores)] == [1, 1, 2, 1]


def divisions() -> Case:
    """A chain in which integers are divided, at last by zero."""
    steps = [Step("add", [0, 0]), Step("mul", [2, 0]), Step("div", [3, 1], {"rounding_mode": "floor"})]
    steps += [Step("add", [4, 3]), Step("sub", [5, 0]), Step("mul", [6, 4])]
    whole = [np.arange(1, 5) + n for n in range(5)]
    by = [np.array([1, 2, -3, 4]) * (1 if n < 4 else [1, 0, 1, 1]) for n in range(5)]
    return Case(steps, [whole, by], [False, False], [[]] * 5, [7])


def repeated() -> Case:
    """An element that is repeated, made by the chain itself."""
    steps = [Step("mul", [1, 1]), Step("add", [2, 1]), Step("mul", [0, 3])]
    steps += [Step("add", [4, 2]), Step("mul", [5, 3])]
    data = [np.arange(4, dtype=np.float32) + n for n in range(5)]
    ones = [np.array([n + 0.5], np.float32) for n in range(5)]
    return Case(steps, [data, ones], [False, False], [[]] * 5, [6])


# -- planted faults --------------------------------------------------------------------------------------


def sweeps_what_may_raise(patch: Patch) -> None:
    real = Watched.__array_ufunc__

    def note(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return np.True_ if method == "reduce" else real(self, ufunc, method, *inputs, **options)

    loops = NUMPY.kernels.loops
    patch.setattr(Watched, "__array_ufunc__", note)
    patch.setattr(Watched, "__array_function__", lambda self, *_: np.True_)
    patch.setattr(lower, "cannot_raise", lambda i: True)
    patch.setattr(loops, "_OF_ALL", loops._OF_ALL | {"floor_divide"})
    patch.setattr("gradd_engine.ops.elementwise.arithmetic.nonzero_divisor", _checks_what_is_watched)


def _checks_what_is_watched(xp: Any, b: Any) -> None:
    if not isinstance(b, Watched) and not b.all():
        raise ZeroDivisionError


def reuses_what_is_live(patch: Patch) -> None:
    real = sweep.Places.take

    def take(self: Any, nbytes: int) -> int:
        at = real(self, nbytes)
        self.give(at, nbytes)
        return at

    patch.setattr(sweep.Places, "take", take)
    patch.setattr(sweep.Sweeping, "_agrees", lambda *_: True)


def keeps_a_number(patch: Patch) -> None:
    real = replay.Plan._learn

    def learn(self: Any, *args: Any) -> None:
        real(self, *args)
        self._cells = []

    patch.setattr(replay.Plan, "_learn", learn)


def hands_its_memory_out(patch: Patch) -> None:
    class Kept(np.ndarray[Any, Any]):
        def copy(self, order: Any = "C") -> Any:
            return self.view(np.ndarray)

    real = sweep.Sweeping.make

    def make(self: Any) -> Any:
        made = real(self)
        if made is not None:
            made.stores = [(register, place.view(Kept)) for register, place in made.stores]
        return made

    patch.setattr(sweep.Sweeping, "make", make)


def repeats_an_input_wrongly(patch: Patch) -> None:
    patch.setattr(rows, "_stride", lambda shape, into, itemsize: itemsize)
    patch.setattr(sweep.Sweeping, "_agrees", lambda *_: True)


def forgets_who_uses_it(patch: Patch) -> None:
    class Nobody(dict[int, Any]):
        def __missing__(self, register: int) -> Any:
            return []

    real = learn.join
    nobody = Nobody()
    patch.setattr(learn, "join", lambda sweeps, code, loops: real(sweeps, code._replace(users=nobody), loops))


FAULTS: list[tuple[Callable[[Patch], None], Callable[[], Case]]] = [
    (sweeps_what_may_raise, divisions),
    (reuses_what_is_live, chained),
    (keeps_a_number, chained),
    (repeats_an_input_wrongly, repeated),
    (forgets_who_uses_it, turned),
]


@pytest.mark.parametrize(("fault", "of"), FAULTS, ids=lambda f: f.__name__)
@pytest.mark.usefixtures("forgetful")
def test_a_fault_shows(fault: Callable[[Patch], None], of: Callable[[], Case]) -> None:
    c = of()
    assert differs(c)[0] == ""
    rows._known.clear()
    with pytest.MonkeyPatch.context() as patch:
        fault(patch)
        assert differs(c)[0]


@pytest.mark.usefixtures("forgetful")
def test_a_sweep_with_other_bits_is_not_used(monkeypatch: Patch) -> None:
    with monkeypatch.context() as patch:
        reuses_what_is_live(patch)
        patch.undo()
        take = sweep.Places.take
        patch.setattr(sweep.Places, "take", lambda self, nbytes: take(self, nbytes) * 0)
        told, found = differs(chained())
    assert not told
    assert not found.sweeps


def test_what_outlives_a_batch_is_not_overwritten_by_the_next() -> None:
    for hands_out in (False, True):
        session = Session("outlives")
        session.plans.first_eager = False
        peer = Peer(session)
        peer.put("x", np.ones(4, np.float32))
        with pytest.MonkeyPatch.context() as patch:
            if hands_out:
                hands_its_memory_out(patch)
            for n in range(5):
                peer.batch(*chain(), inputs=["x"], values=[1.0 + n] * 4, bind={f"y{n}": 8})
        found = [float(peer.get(f"y{n}")[0]) for n in range(5)]
        expected = [sum((1.0 + n) ** k for k in range(5)) for n in range(5)]
        assert (found == expected) is not hands_out


def worked(rounds: int, body: Any, **more: Any) -> Session:
    """A session that ran the chain so often."""
    session = Session("worked")
    session.plans.first_eager = False
    peer = Peer(session)
    peer.put("x", np.ones(4, np.float32))
    for n in range(rounds):
        reply = peer.batch(*body, inputs=["x"], values=[1.0 + n] * 4, fetch=[8], **more)
        assert reply.problem is None
    return session


def test_the_memory_of_sweeps_counts_as_that_of_plans() -> None:
    before, after = (worked(n, chain()).plans for n in (1, 2))
    (plan,) = next(iter(after._known.values()))
    assert plan._cells
    assert after.counts["bytes"] - before.counts["bytes"] > 8 * 72
    assert after.counts["bytes"] == plan.own_bytes
    after._keep(plan.key, "another")
    assert after.counts["bytes"] == 0


def test_a_plan_that_runs_once_learns_nothing(monkeypatch: Patch) -> None:
    monkeypatch.setattr(replay, "learn", lambda *args: pytest.fail("learns"))
    assert worked(1, chain()).plans.counts["planned"] == 1


def test_few_kernels_or_many_copies_are_not_looked_at(monkeypatch: Patch) -> None:
    monkeypatch.setattr(replay, "learn", lambda *args: pytest.fail("learns"))
    one = np.ones(4, np.float32)
    few = Case(chain()[:3], [[one]], [False], [[2.0, 3.0]], [3])
    apart = [Step("exp", [n]) for n in range(6)]
    many = Case(apart, [[one * n] for n in range(6)], [False] * 6, [[]], [*range(6, 12)])
    for c in (few, many):
        session = Session("few")
        session.plans.first_eager = False
        peer = Peer(session)
        names = [f"i{k}" for k in range(len(c.inputs))]
        for name, data in zip(names, c.inputs, strict=True):
            peer.put(name, data[0])
        for _ in range(5):
            peer.batch(*c.steps, inputs=names, values=c.values[0], fetch=c.fetch)
        assert session.plans.counts["planned"] == 5


def test_without_compiled_kernels_there_are_no_sweeps(monkeypatch: Patch) -> None:
    monkeypatch.setattr(NUMPY.kernels, "_loops", None)
    told, found = differs(chained())
    assert not told
    assert found.planned == 5
    assert not found.sweeps


def test_large_results_are_not_swept() -> None:
    for size, swept in ((512, 8), (513, 0)):
        told, found = differs(chained(size=size))
        assert (told, found.swept) == ("", swept)


def test_the_longest_sweep(monkeypatch: Patch) -> None:
    monkeypatch.setattr(learn, "MOST", 4)
    told, found = differs(chained())
    assert not told
    assert [s.end - s.first for s in found.sweeps] == [4, 4]


def test_a_profile_names_every_kernel() -> None:
    session = Session("profiled")
    session.plans.first_eager = False
    peer = Peer(session)
    peer.put("x", np.ones(4, np.float32))
    found = []
    for n in range(6):
        if n == 4:
            peer.ask(m.ProfileSwitch(True))
        peer.batch(*chain(), inputs=["x"], values=[1.0 + n] * 4, fetch=[8])
        found.append(peer.arrays[0].tobytes())
    told, _ = peer.ask(m.ProfileSwitch(False))
    assert session.plans.counts["planned"] == 6
    names = {(k.name, k.calls) for k in told.kernels}
    assert names == {("mul", 8), ("add", 8)}
    assert len({*found}) == 6
