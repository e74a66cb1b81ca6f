"""Random histories of a session that is killed and made again from its record, beside a plain dict of NumPy
arrays.

`GRADD_HISTORIES` says how many (`make faults`: 5,000), `GRADD_HISTORIES_SEED` which.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from gradd_runtime.session.json_batches import JsonDesk
from gradd_runtime.session.writers import Writer, Writers
from gradd_runtime.store import FileStore
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.faults.history import History

HISTORIES = int(os.environ.get("GRADD_HISTORIES", "24"))
SEED = int(os.environ.get("GRADD_HISTORIES_SEED", "0"))
BLOCKS = 4
STEPS = 30


def _run(number: int, count: int, **more: Any) -> None:
    machine = seed(number)(type("History", (History,), {}))
    chosen = settings(
        max_examples=count, stateful_step_count=STEPS, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), **more,
    )  # fmt: skip
    run_state_machine_as_test(machine, settings=chosen)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_session_is_a_dict_of_arrays(block: int, tally: Callable[..., None]) -> None:
    count = HISTORIES // BLOCKS
    _run(SEED * BLOCKS + block, count)
    tally("histories beside a dict", count)


@pytest.mark.parametrize(
    "forgotten",
    [(FileStore, "append"), (Writer, "store"), (JsonDesk, "_keep"), (Writers, "fence")],
    ids=lambda forgotten: forgotten[1],
)
def test_what_is_left_out_is_missed(forgotten: tuple[type, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*forgotten, lambda *args: None)
    with pytest.raises((AssertionError, AttributeError, TypeError)):
        _run(0, 50, phases=[Phase.generate], report_multiple_bugs=False)
