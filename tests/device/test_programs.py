"""Random programs on the stand-in: planned, unplanned and on NumPy alike."""

from __future__ import annotations

import os
from math import prod
from typing import Any

import pytest
from gradd_engine.backends.cupy import CupyBackend
from gradd_runtime.plan import fuse

from tests.device.programs import run
from tests.standin.sessions import device

#: random programs; `make device` runs more
PROGRAMS = int(os.environ.get("GRADD_DEVICE_PROGRAMS", "25"))


@pytest.fixture(scope="module")
def on() -> CupyBackend:
    return device()


def test_plans_on_the_device_are_bit_equal_and_give_numpys_numbers(on: CupyBackend) -> None:
    planned, bad = run(range(PROGRAMS), on)
    assert bad == []
    assert planned > PROGRAMS


def test_what_a_sum_is_split_into_has_numbers_of_its_own(on: CupyBackend) -> None:
    """In this one a block that another replaced has the next number of those that are in the code."""
    assert run(range(350, 351), on)[1] == []


def _part_alone(
    self: fuse.Group, part: Any, shape: tuple[int, ...], flat: bool, reads: Any, target: Any
) -> bool:
    """As `_fits`, but for who reads and writes the same memory."""
    return bool(part.many == prod(shape) and (flat or part.shape in (None, shape)))


@pytest.mark.parametrize(
    ("of", "name", "planted"),
    [
        (fuse.Group, "_fits", _part_alone),
        (fuse.Group, "meets", lambda self, i: False),
        (fuse.BlockMemory, "stays", lambda self, block, members: block.source is not None),
        (fuse, "strides_over", lambda what, shape: tuple([0] * len(shape))),
    ],
)
def test_a_fault_in_what_is_fused_is_seen(
    on: CupyBackend, monkeypatch: pytest.MonkeyPatch, of: Any, name: str, planted: Any
) -> None:
    monkeypatch.setattr(of, name, planted)
    assert any(run(range(seed, seed + 1), on)[1] for seed in range(8))


def test_a_kernel_that_differs_in_a_plan_is_seen(on: CupyBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    lawful = type(on).lawful

    def off(self: Any, a: Any, meta: Any, given: Any) -> Any:
        found = lawful(self, a, meta, given)
        if found.dtype.kind == "f" and found.size:
            found[...] += 1
        return found

    monkeypatch.setattr(type(on), "lawful", off)
    assert run(range(8), on)[1]
