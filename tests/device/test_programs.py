"""Random programs on the stand-in: planned, unplanned and on NumPy alike."""

from __future__ import annotations

import os
from typing import Any

import pytest
from gradd_engine.backends.cupy import CupyBackend

from tests.device.programs import run
from tests.standin.sessions import device

#: random programs; `make device` runs more
PROGRAMS = int(os.environ.get("GRADD_DEVICE_PROGRAMS", "40"))


@pytest.fixture(scope="module")
def on() -> CupyBackend:
    return device()


def test_plans_on_the_device_are_bit_equal_and_give_numpys_numbers(on: CupyBackend) -> None:
    planned, bad = run(range(PROGRAMS), on)
    assert bad == []
    assert planned > PROGRAMS


def test_a_kernel_that_differs_in_a_plan_is_seen(on: CupyBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    lawful = type(on).lawful

    def off(self: Any, a: Any, meta: Any, given: Any) -> Any:
        found = lawful(self, a, meta, given)
        if found.dtype.kind == "f" and found.size:
            found[...] += 1
        return found

    monkeypatch.setattr(type(on), "lawful", off)
    assert run(range(8), on)[1]
