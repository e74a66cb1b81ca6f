"""Snapshots of strangers: whatever is in the file, it is refused in words or is a session like others.

`GRADD_STRANGERS` says how many files are tried (`make faults`: 5,000), `GRADD_STRANGERS_SEED` which.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

from tests.waiting import PATIENCE

COUNT = int(os.environ.get("GRADD_STRANGERS", "40"))
SEED = int(os.environ.get("GRADD_STRANGERS_SEED", "0"))


def test_files_of_strangers(tally: Callable[..., None]) -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.faults.strangers", str(SEED), str(COUNT)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=max(PATIENCE, COUNT), check=False)
    said = [line.rpartition("\r")[2] for line in run.stdout.splitlines()]
    assert run.returncode == 0, f"{said[-20:]}\n{run.stderr[-3000:]}"
    came = json.loads(said[-1])
    assert came["refused"] > COUNT // 4
    assert came["sound"] > COUNT // 10
    tally("files of strangers", came["tried"], differing=came.get("wrong", 0))
