"""Writes that wait until nothing more can raise: random programs of writes, reads and ops that refuse."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import gradd
import gradd.nn.functional as F
import pytest
from gradd._transports.local import _inline
from gradd_runtime.plan import postpone, replay

PROGRAMS = int(os.environ.get("GRADD_POSTPONED", "60"))
SIZE = 4
STEPS = 10
RUNS = 5

#: what a step does to the tensors `s` at places `i` and `j`, with a number; some give a tensor that is read
WRITES: list[Callable[..., Any]] = [
    lambda s, i, j, x: s[i].add_(x),
    lambda s, i, j, x: s[i].mul_(s[j]),
    lambda s, i, j, x: s[i].copy_(s[j]),
    lambda s, i, j, x: s[i].zero_(),
    lambda s, i, j, x: s[i][1:3].add_(s[j][:2] * x),
    lambda s, i, j, x: s[i].sub_(s[j] * x),
    lambda s, i, j, x: s[i].flip(0).add_(s[j]),
    lambda s, i, j, x: s[i].uniform_(),
]
READS: list[Callable[..., Any]] = [
    lambda s, i, j, x: s[i] * s[j],
    lambda s, i, j, x: s[i][1:].clone(),
    lambda s, i, j, x: gradd.rand(SIZE) + s[i],
    lambda s, i, j, x: s[i].t() + x,
]
RAISERS: list[Callable[..., Any]] = [
    lambda s, i, j, x: F.binary_cross_entropy(s[i].sigmoid(), s[j].sigmoid()),
    lambda s, i, j, x: s[i].index_select(0, gradd.tensor([0, 3])),
    lambda s, i, j, x: F.binary_cross_entropy(gradd.full((SIZE,), x), gradd.ones(SIZE)),
]


def told(t: Any) -> Any:
    """The values of a tensor, or what was refused before."""
    try:
        return t.tolist()
    except RuntimeError as refused:
        return str(refused).partition("\n")[0]


def run(seed: int, planned: bool) -> tuple[list[Any], int]:
    """All that the program of that seed gives in several runs, and how many batches were planned."""
    choose = random.Random(seed)
    steps = [
        (choose.choice(choose.choice((WRITES, WRITES, READS, RAISERS))), *choose.choices(range(3), k=2))
        for _ in range(STEPS)
    ]
    out: list[Any] = []
    with gradd.connect("local:") as session:
        plans = _inline()._sessions[session.name].session.plans
        plans.enabled = planned
        gradd.manual_seed(seed)
        tensors = [gradd.rand(SIZE) for _ in range(3)]
        for n in range(RUNS):
            session.flush()
            number = 1.5 if n == RUNS - 2 else 0.25 + n / 16  # 1.5 is refused where a loss looks at it
            made = [found for step, i, j in steps if (found := step(tensors, i, j, number)) is not None]
            out += map(told, made + tensors)
        return out, plans.counts["planned"]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_what_waits_changes_nothing(seed: int) -> None:
    found, planned = run(seed, True)
    expected, _ = run(seed, False)
    assert repr(found) == repr(expected)
    assert planned > 0


def test_some_writes_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = 0
    real = postpone.postpone_writes

    def postponed(code: Any) -> Any:
        nonlocal moved
        found = real(code)
        moved += [id(i) for i in found] != [id(i) for i in code]
        return found

    monkeypatch.setattr(replay, "postpone_writes", postponed)
    for seed in range(10):
        run(seed, True)
    assert moved >= 10
