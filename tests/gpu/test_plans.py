"""Trainings and random programs, planned and not: NumPy's losses and numbers, and each other's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.device.graphs import differ, outcomes, waiting_ways
from tests.device.loops import LOOPS, curve, measured
from tests.device.programs import run
from tests.gpu.places import GpuPlace

PARTS = 16
#: of random programs, in each part
PROGRAMS = 25
STEPS = 5
#: numbers that steps carry on may differ by
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


@pytest.mark.parametrize("name", LOOPS)
def test_losses_are_those_of_a_numpy_session(place: GpuPlace, name: str) -> None:
    want = curve(name, STEPS)
    with place.sessions():
        got = curve(name, STEPS)
    assert len(set(want)) == STEPS
    np.testing.assert_allclose(got, want, rtol=place.half if name == "bfloat16" else 1e-3)


@pytest.mark.parametrize("name", LOOPS)
def test_plans_give_the_losses_of_steps_that_are_not_planned(place: GpuPlace, name: str) -> None:
    planned, eager = (measured(name, planned=how, there=place.sessions) for how in (True, False))
    assert (planned.planned > 0, eager.planned) == (True, 0)
    assert planned.losses == pytest.approx(eager.losses, rel=1e-2 if name == "bfloat16" else 1e-4)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("planned", [True, False], ids=["planned", "unplanned"])
def test_no_step_waits(place: GpuPlace, name: str, planned: bool) -> None:
    measured(name, planned=planned, there=place.sessions, watch=place.unwaited)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_give_numpys_numbers(place: GpuPlace, part: int) -> None:
    seeds = range(part * PROGRAMS, (part + 1) * PROGRAMS)
    some = seeds if place.gpu else seeds[:2]
    planned, bad = run(some, place.backend(), CLOSE, exact=not place.gpu)
    assert bad == []
    assert planned or len(some) < PROGRAMS


@pytest.mark.parametrize("part", range(PARTS))
def test_loops_whose_steps_become_graphs_give_numpys_numbers(place: GpuPlace, part: int) -> None:
    seeds = [*range(part, 10 * PARTS, PARTS)]
    with outcomes() as found:
        assert place.faults(seeds, lambda seed: differ(seed, place.sessions, CLOSE)) == {}
    assert found["launched"]


def test_ops_that_wait_run_between_graphs(place: GpuPlace) -> None:
    seeds = [seed for seed in range(1000, 1060) if "exponential" in waiting_ways(seed)]
    with outcomes() as found:
        assert place.faults(seeds, lambda seed: differ(seed, place.sessions, CLOSE)) == {}
    assert found["in segments"]
