"""Power is lost after each fsync, with all that was written otherwise: at level `disk` no entry that was
acknowledged is.

`GRADD_POWER` says how many requests (`make faults`: 60).
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted
from gradd_runtime.store import BLOB_BYTES
from gradd_server.folder_stores import FolderStores

from tests.faults.power import Machine
from tests.runtime.peer import FILL, Peer

REQUESTS = int(os.environ.get("GRADD_POWER", "12"))

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler, which the shim needs")


def _entries(home: Path) -> int:
    """How many entries the session has that the files make."""
    found = list(FolderStores(home).found())
    if not found:
        return 0
    ((_, name, options, record),) = found
    host = Hosted(name, {**options, "store": str(record)}, NUMPY)
    while not host.wake():
        pass
    try:
        return 0 if host.session is None else host.session.entries
    finally:
        host.close()


def _run(machine: Machine) -> list[int]:
    """After how many fsyncs each request was answered."""
    dice = random.Random(REQUESTS)
    one = Peer(submit=machine.submit)
    acknowledged = [machine.safe]
    for n in range(REQUESTS):
        if dice.random() < 0.2:  # a blob, some of them the same
            one.put(f"x{n % 3}", np.full(BLOB_BYTES // 8, float(dice.randrange(4))))
        else:
            assert isinstance(one.batch(FILL, keep=[0], first=n + 1), m.BatchReply)
        acknowledged.append(machine.safe)
    machine.end()
    return acknowledged


def test_nothing_acknowledged_is_lost_with_the_power(tmp_path: Path, tally: Callable[..., None]) -> None:
    machine = Machine(tmp_path, "disk")
    acknowledged = _run(machine)
    assert sorted(set(acknowledged)) == acknowledged  # each waited for the disk
    lost = 0
    for after in range(machine.safe + 1):
        image = tmp_path / "image"
        machine.lost_power(after, image)
        entries = _entries(image)
        shutil.rmtree(image)
        lost += max(sum(n <= after for n in acknowledged) - entries, 0)
        assert entries <= len(acknowledged)
    tally("power lost, level disk", machine.safe + 1, lost)


def test_a_record_that_does_not_wait_loses_its_end(tmp_path: Path) -> None:
    """So the machine loses what it should."""
    machine = Machine(tmp_path, "process")
    acknowledged = _run(machine)
    machine.lost_power(acknowledged[-1], tmp_path / "image")
    try:
        entries = _entries(tmp_path / "image")
    except (OSError, sqlite3.Error):
        entries = 0
    assert entries < len(acknowledged)
