"""Samples of ops on the CuPy backend, by a strict stand-in: the same results and refusals as NumPy's."""

from __future__ import annotations

import os
import random

import pytest
from gradd_engine.backends.cupy import CupyBackend
from gradd_engine.declare.declarators import REGISTRY

from tests.device.runs import Run, backend, complaint, may_wait, runs, waiting

#: so many of them unless GRADD_DEVICE is "all", chosen by the seed it has
SOME = 600


def chosen() -> list[Run]:
    """The runs of this session: all, or a seeded share with one of each op."""
    every, wish = list(runs()), os.environ.get("GRADD_DEVICE", "1")
    if wish == "all":
        return every
    rng = random.Random(wish)
    rng.shuffle(every)
    one_each = list({run.key: run for run in every}.values())
    return one_each + rng.sample(every, SOME)


@pytest.fixture(scope="module")
def cupy() -> CupyBackend:
    return backend()


def test_cupy_gives_what_numpy_gives(cupy: CupyBackend) -> None:
    with waiting(cupy) as waits:
        complaints = {str(run): said for run in chosen() if (said := complaint(run, cupy)) is not None}
    assert complaints == {}
    assert {name: seen for name, seen in waits.items() if not may_wait(name)} == {}


def test_an_undeclared_wait_is_seen(cupy: CupyBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    run = next(run for run in runs() if run.key == "exp")
    monkeypatch.setitem(cupy.kernels, REGISTRY["exp"], lambda xp, a: xp.exp(a) if a.any() else a)
    with waiting(cupy) as waits:
        assert complaint(run, cupy) is None
    assert list(waits) == ["exp"]
    assert not may_wait("exp")
    assert may_wait("multinomial")


def test_another_value_is_a_complaint(cupy: CupyBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    run = next(run for run in runs() if run.key == "exp")
    assert complaint(run, cupy) is None
    monkeypatch.setitem(cupy.kernels, REGISTRY["exp"], lambda xp, a: xp.exp(a) + 1e-3)
    assert complaint(run, cupy) == "result 0: other values"
    monkeypatch.setitem(cupy.kernels, REGISTRY["exp"], lambda xp, a: xp.maximum.accumulate(a))
    assert str(complaint(run, cupy)).endswith("`cupy_maximum.accumulate` is not supported yet")
