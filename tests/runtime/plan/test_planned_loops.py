"""A loop of every layer, loss and optimizer is planned from its third step on, with the unplanned run's bits.

GRADD_PLANNED_LOOPS=all tries every layer with every loss and every optimizer, a number so many of them.
"""

from __future__ import annotations

import itertools
import os
import random

import gradd
import pytest
from gradd import nn, optim
from gradd.optim import lr_scheduler
from gradd_runtime.plan import replay

from tests.runtime.plan import ways
from tests.runtime.plan.loops import (
    CLIPS,
    GROWS,
    LAYERS,
    LOOKUPS,
    LOSSES,
    NO_LAYERS,
    OPTIMIZERS,
    SCHEDULES,
    SPARSE,
    Loop,
    run,
    steps_of,
)

SHARE = os.environ.get("GRADD_PLANNED_LOOPS", "60")
PARTS = [
    *(Loop(layer=name) for name in (*LAYERS, *LOOKUPS)),
    *(Loop(loss=name) for name in LOSSES),
    *(Loop(optimizer=name) for name in OPTIMIZERS if name not in GROWS),
    *(Loop(clip=name) for name in CLIPS),
    *(Loop(schedule=name) for name in SCHEDULES),
]
HABITS = [{"early": early, "kept": kept} for early in (False, True) for kept in (False, True)]


def products() -> list[Loop]:
    """A share of all loops there are, as the seed has it."""
    every = [
        Loop(layer, loss, optimizer)
        for layer, loss, optimizer in itertools.product((*LAYERS, *LOOKUPS), LOSSES, OPTIMIZERS)
        if optimizer not in GROWS
    ]
    if SHARE == "all":
        return every
    choose = random.Random(9)
    return [
        loop.__class__(
            loop.layer, loop.loss, loop.optimizer, choose.choice(["", *CLIPS]),
            choose.choice(["", *SCHEDULES]), choose.random() < 0.5, choose.random() < 0.5,
        )
        for loop in choose.sample(every, int(SHARE))
    ]  # fmt: skip


def check(loop: Loop) -> None:
    """The loop is planned, and does what it does unplanned."""
    found, expected = run(lambda: steps_of(loop)), run(lambda: steps_of(loop), planned=False)
    assert (found.whys, found.planned > 0) == (set(), True)
    assert expected.planned == 0
    assert found.losses == expected.losses
    assert found.tensors == expected.tensors


def _subclasses(room: object, names: list[str], base: type) -> set[str]:
    found = {n: getattr(room, n) for n in names}
    return {n for n, c in found.items() if isinstance(c, type) and issubclass(c, base) and c is not base}


def test_all_that_the_sdk_has_is_tried() -> None:
    modules = _subclasses(nn, nn.__all__, nn.Module)
    assert modules == {*LAYERS, *LOOKUPS, *LOSSES, *(NO_LAYERS - {"Module"})}
    assert _subclasses(optim, optim.__all__, optim.Optimizer) == {*OPTIMIZERS, *SPARSE}
    schedules = _subclasses(lr_scheduler, dir(lr_scheduler), lr_scheduler.LRScheduler)
    assert {name for name in schedules if name[0] != "_"} == set(SCHEDULES)
    public = {name for name in dir(nn.utils) if name.startswith("clip_") and name.endswith("_")}
    assert public == set(CLIPS)


@pytest.mark.parametrize("loop", PARTS, ids=str)
def test_a_loop_is_planned(loop: Loop) -> None:
    for habits in HABITS:
        check(Loop(loop.layer, loop.loss, loop.optimizer, loop.clip, loop.schedule, **habits))


@pytest.mark.parametrize("loop", products(), ids=str)
def test_a_loop_of_any_parts_is_planned(loop: Loop) -> None:
    check(loop)


@pytest.mark.parametrize("loop", [loop for loop in PARTS if "BatchNorm" not in loop.layer], ids=str)
def test_gradients_that_are_kept_need_not_be_copied(monkeypatch: pytest.MonkeyPatch, loop: Loop) -> None:
    """However large they are: batch norms alone write statistics before what may raise."""
    monkeypatch.setattr(replay, "UNDO_BYTES", 0)
    found = run(lambda: steps_of(Loop(loop.layer, loop.loss, loop.optimizer, loop.clip, kept=True)))
    assert (found.whys, found.planned > 0) == (set(), True)


@pytest.mark.parametrize("name", ways.WAYS)
def test_a_way_to_write_a_loop(name: str) -> None:
    way = ways.WAYS[name]
    found = run(lambda: ways.steps_of_way(name))
    expected = run(lambda: ways.steps_of_way(name), planned=False)
    assert (found.losses, found.tensors) == (expected.losses, expected.tensors)
    assert ways.said(found.whys) == way.says
    assert bool(way.says) == bool(way.because)


def test_the_page_says_what_is_planned() -> None:
    text = ways.PAGE.read_text()
    assert text.count(ways.BEGIN) == text.count(ways.END) == 1
    assert ways.page(text) == text, "docs/speed.md is stale: make planned"


def test_a_loop_that_is_not_planned_is_noticed() -> None:
    def make() -> tuple[nn.Module, object]:
        model, step = steps_of(Loop())

        def reseeding() -> object:
            gradd.manual_seed(3)
            return step()

        return model, reseeding

    assert run(make).whys == {"a step is manual_seed"}
