"""Engine processes and daemons are killed at random under clients that train: what was acknowledged is
there, once, and everything ends as it does undisturbed, to the bit.

`GRADD_KILLS` says how many kills (`make faults`: 200), `GRADD_KILLS_SEED` which, `GRADD_KILLS_CLIENTS` under
how many clients, `GRADD_KILLS_DAEMONS` on how many daemons, which may run at a time: a kill takes about 2 s
of a core, the start of a process.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable

import pytest

from tests.faults.daemon import Daemon
from tests.faults.trainings import Expected, Progress, train_on
from tests.waiting import PATIENCE

KILLS = int(os.environ.get("GRADD_KILLS", "4"))
SEED = int(os.environ.get("GRADD_KILLS_SEED", "0"))
CLIENTS = int(os.environ.get("GRADD_KILLS_CLIENTS", "2"))
DAEMONS = int(os.environ.get("GRADD_KILLS_DAEMONS", "1"))


@pytest.mark.parametrize("number", range(DAEMONS))
def test_nothing_acknowledged_is_lost_and_nothing_is_applied_twice(
    daemon: Daemon,
    script: list[bytes],
    undisturbed: Expected,
    tally: Callable[..., None],
    number: int,
) -> None:
    dice = random.Random(f"{SEED} {number}")
    progress = Progress()
    clients = [
        threading.Thread(target=train_on, args=(daemon.url, n, script, undisturbed, progress))
        for n in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    kills = {"engine": 0, "daemon": 0}
    try:
        for _ in range(number, KILLS, DAEMONS):
            progress.wait_for(progress.frames + dice.randint(1, 30))
            threading.Event().wait(dice.random() * 0.01)  # anywhere within what goes on, not after an answer
            kind = dice.choice(["engine", "engine", "daemon"])
            kills[kind] += 1
            daemon.kill() if kind == "daemon" else daemon.kill_engine()
    finally:
        progress.done = True
        for client in clients:
            client.join(PATIENCE)
    assert progress.failures == []
    assert progress.frames >= CLIENTS * len(script)
    for kind, count in kills.items():
        tally(f"kill -9 of {'an engine process' if kind == 'engine' else 'the daemon'}", count)
    tally("batches under kills", progress.batches, progress.lost, progress.twice, progress.differing)
