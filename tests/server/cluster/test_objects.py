"""Sessions on the nodes of a cluster with their records in an object store."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from gradd_protocol import names
from gradd_runtime.process import InlinePlacement

from tests.objectstore import ObjectStore, reached, serving
from tests.server.cluster.hosts import NODES, cluster
from tests.server.cluster.test_placement import patient, train


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    with serving() as made, reached(made):
        yield made


CHANGES = ("move", "kill", "move", "kill", "move")


def test_a_session_moves_and_loses_its_process(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = names.keyed("acme", "moved")
    with cluster(tmp_path, monkeypatch, "a", "b") as made:
        made.open(key, {"store": f"{store.url}/acme/moved", "durability": "process", "seed": 3})
        one = patient(made, key)
        train(one, 5)
        for change in CHANGES:
            home = made.node_of(key)
            assert home is not None
            if change == "move":
                assert made.move(key) != home
            else:
                os.kill(NODES.pids(home)[0], signal.SIGKILL)
            train(one, 5)
    undisturbed = InlinePlacement()
    try:
        undisturbed.open(key, {"seed": 3})
        other = patient(undisturbed, key)
        for _ in range(len(CHANGES) + 1):
            train(other, 5)
    finally:
        undisturbed.shutdown()
    assert one.replies == other.replies
