"""The models that are measured beside torch learn as they do under torch; one that does not is no figure."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import gradd
import pytest

from benchmarks import LONG, MODELS, QUESTIONS, QUICK
from benchmarks.bench import Bench
from benchmarks.beside import TOLERANCE, Chance, Drawn, Step, compare, losses, script
from benchmarks.char_gpt import INDEXED

STEPS = 3  # the last one replays a plan

MAKES = {name: importlib.import_module(f"benchmarks.{name}").make for name in MODELS}


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*MODELS, "char_gpt, indexed"])
def test_models_learn_as_under_the_oracle(oracle: Callable[..., Any], name: str) -> None:
    make = MAKES.get(name, INDEXED)
    with gradd.connect("local:"):
        mine = losses(gradd, make, STEPS)
    assert mine == pytest.approx(oracle(lambda lib: losses(lib, make, STEPS)), rel=TOLERANCE)
    assert len(set(mine)) == len(mine) >= STEPS


def test_all_of_them_are_asked_and_few_of_them_in_a_quick_run() -> None:
    assert set(MODELS) < set(QUESTIONS)
    assert set(QUESTIONS) - set(MODELS) - set(LONG) < set(QUICK)
    assert set(QUICK).isdisjoint(LONG)
    assert len(set(QUICK) & set(MODELS)) == 2


def _alike(lib: Any, chance: Chance) -> Step:
    w = lib.ones(3, requires_grad=True)

    def step() -> tuple[Any, ...]:
        return ((w * chance.randn(3)).sum(), w.sum())

    return step


def test_what_a_step_gives_is_read_at_each_step_to_compare_and_at_some_to_measure() -> None:
    read: list[float] = []

    class Loss(float):
        def item(self) -> float:
            read.append(self)
            return float(self)

    def make(lib: Any, chance: Chance) -> Step:
        found = iter(range(100))
        return lambda: (Loss(next(found)), Loss(0.5))

    assert losses(gradd, make, 3) == [0, 0.5, 1, 0.5, 2, 0.5]
    read.clear()
    with gradd.connect("local:"):
        run = script(gradd, make, 4, 2)
    run()
    assert read == [1, 0.5, 3, 0.5]


def test_losses_that_differ_are_no_figure() -> None:
    sides = iter((1.0, 1.0, 1.0, 1.01))

    def make(lib: Any, chance: Chance) -> Step:
        factor = next(sides)
        step = _alike(lib, chance)
        return lambda: tuple(loss * factor for loss in step())

    with gradd.connect("local:"):  # gradd stands for torch as well
        bench = Bench("local:", None, gradd)
        compare(bench, "same", make)
        with pytest.raises(SystemExit, match="other: the losses of gradd are"):
            compare(bench, "other", make)


def test_losses_that_are_not_finite_are_no_figure() -> None:
    def make(lib: Any, chance: Chance) -> Step:
        return lambda: (lib.tensor(float("nan")),)

    with pytest.raises(SystemExit, match="nan"):
        compare(Bench("local:", None, None), "work", make)


@pytest.mark.parametrize("probs", [[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
def test_numpy_draws_by_the_probabilities(probs: list[float]) -> None:
    with gradd.connect("local:"):
        categorical = gradd.distributions.Categorical(gradd.tensor([probs] * 1000))
        drawn = Drawn(gradd).sample(categorical)
        assert drawn.dtype == categorical.sample().dtype
        share = gradd.bincount(drawn, minlength=3) / 1000
        assert share.tolist() == pytest.approx(probs, abs=0.06)
