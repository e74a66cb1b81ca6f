"""Engine processes are killed while several sessions train as one: they end as undisturbed, to the bit.

`GRADD_PARALLEL_KILLS` says how many loops are disturbed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradd
import pytest

from tests.client.replicas import Loop, connected
from tests.faults.daemon import Daemon

LOOPS = int(os.environ.get("GRADD_PARALLEL_KILLS", "2"))
#: seeds of loops of several sessions
SEEDS = [seed for seed in range(200) if Loop(seed).count > 1][:LOOPS]


@pytest.fixture
def daemon(tmp_path: Path) -> Any:
    """A daemon with two engine processes."""
    with Daemon(tmp_path, "--workers", "2") as made:
        yield made


def trained(daemon: Daemon, seed: int, name: str, between: Callable[[], None]) -> list[list[bytes]]:
    """The parameters of all sessions, after a loop in sessions that are kept."""
    loop = Loop(seed)
    sessions = connected(loop.count, daemon.url, f"{name}-{seed}")
    try:
        return [[p.tobytes() for p in each] for each in loop.together(sessions, between)]
    finally:
        for session in sessions:
            session.close()
            gradd.delete_session(session.name, daemon.url)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_loop_ends_as_undisturbed(daemon: Daemon, seed: int, tally: Callable[..., None]) -> None:
    dice, kills = random.Random(seed), 0

    def kill() -> None:
        nonlocal kills
        if kills == 0 or dice.random() < 0.2:
            kills += 1
            daemon.kill_engine()

    expected = trained(daemon, seed, "calm", lambda: None)
    found = trained(daemon, seed, "killed", kill)
    assert kills
    tally("kill -9 between parallel steps", kills, differing=int(found != expected))
