"""A daemon that ends leaves snapshots, so that the next one has little to replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import InlinePlacement, Placement
from gradd_runtime.store import FileStore, make_record
from gradd_server.placement.workers import WorkersPlacement

from tests.waiting import PATIENCE


@pytest.mark.parametrize("place", [InlinePlacement, WorkersPlacement])
def test_kept_sessions_are_snapshots_when_the_daemon_ends(
    tmp_path: Path, place: Callable[[], Placement]
) -> None:
    records = {name: tmp_path / name / "record.db" for name in ("a", "b", "idle")}
    values = np.arange(4.0)

    def ask(placement: Placement, name: str, message: m.Request, *arrays: np.ndarray) -> list[np.ndarray]:
        reply = placement.submit(name, frames.join(frames.encode(message, arrays))).result(PATIENCE)
        return frames.decode_reply(reply)[1]

    for turn in range(2):
        placement = place()
        for name, record in records.items():
            record.parent.mkdir(exist_ok=True)
            if not turn:
                make_record(record)
            placement.open(name, {"store": str(record), "durability": "process"})
        for name in ("a", "b"):
            if turn:
                (found,) = ask(placement, name, m.GetTensor("x"))
                assert found.tolist() == values.tolist()
            else:
                ask(placement, name, m.PutTensor("x"), values)
        placement.shutdown()
    taken = {}
    for name, record in records.items():
        store = FileStore(record)
        taken[name] = store.snapshots()
        store.close()
    assert taken == {"a": [1], "b": [1], "idle": []}
