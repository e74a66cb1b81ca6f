"""Nodes with GPUs and nodes without under one front; GPUs are the stand-in's."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradd_protocol.problems import ProtocolError
from gradd_runtime.store import make_record
from gradd_server.commands.leading import _kinds
from gradd_server.placement.cluster.nodes import HostKind, HostShares, kind_for
from gradd_server.placement.cluster.placement import ClusterPlacement
from gradd_server.settings import BadConfig, Settings

from tests.server.cluster.hosts import NODES, cluster, until
from tests.server.cluster.test_placement import patient
from tests.standin.processes import on_standin


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterPlacement]:
    """Over the nodes a and b, and g and h with a GPU each."""
    on_standin(monkeypatch)
    with cluster(tmp_path, monkeypatch, "a", "b", gpus=("g", "h")) as placement:
        yield placement


def opened(placement: ClusterPlacement, folder: Path, name: str, device: str | None) -> str:
    """A session with a record, which holds a tensor; the node where it is."""
    record = folder / f"{name}.db"
    make_record(record)
    options: dict[str, Any] = {"store": str(record), "durability": "process", "seed": 3}
    placement.open(name, options if device is None else {**options, "device": device})
    patient(placement, name).put("w", np.arange(4.0), requires_grad=False)
    return str(placement.node_of(name))


def value(placement: ClusterPlacement, name: str) -> list[float]:
    return list(patient(placement, name).get("w"))


def test_a_session_is_on_the_kind_of_device_that_it_asks_for(made: ClusterPlacement, tmp_path: Path) -> None:
    assert sorted(made.devices) == ["cpu", "cuda:0"]
    where = {
        device: {opened(made, tmp_path, f"{device}-{n}", device) for n in range(4)}
        for device in ("cpu", "cuda")
    }
    assert where == {"cpu": {"a", "b"}, "cuda": {"g", "h"}}
    assert opened(made, tmp_path, "any", None) in "abgh"
    assert {status.node: status.device for status in made.nodes()} == {
        "a": "cpu", "b": "cpu", "g": "cuda:0", "h": "cuda:0"
    }  # fmt: skip


def test_a_session_moves_to_nodes_alike(made: ClusterPlacement, tmp_path: Path) -> None:
    home = opened(made, tmp_path, "one", "cuda")
    other = made.move("one")
    assert {home, other} == {"g", "h"}
    with pytest.raises(ProtocolError, match="no node 'a' takes sessions on cuda"):
        made.move("one", "a")
    made.drain(home)
    with pytest.raises(ProtocolError, match="no other node takes sessions on cuda"):
        made.move("one")
    assert made.node_of("one") == other
    assert value(made, "one") == [0, 1, 2, 3]


def test_where_a_node_ends_its_sessions_go_to_those_alike_or_wait(
    made: ClusterPlacement, tmp_path: Path
) -> None:
    for survivors in ("one GPU", "none"):
        home = opened(made, tmp_path, survivors, "cuda")
        pid = NODES.pids(home)[0]
        NODES.stop(home)
        os.kill(pid, signal.SIGKILL)
        NODES.tell()
        if survivors == "one GPU":
            until(lambda there=home: made.node_of("one GPU") not in (None, there))  # type: ignore[misc]
            assert made.node_of("one GPU") in {"g", "h"} - {home}
    until(lambda: made.node_of("none") is None)
    assert made.node_of("one GPU") is None
    NODES.start("i", device="cuda")
    NODES.tell()
    until(lambda: made.node_of("none") == made.node_of("one GPU") == "i")
    assert value(made, "none") == value(made, "one GPU") == [0, 1, 2, 3]


# -- which node is of which kind ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("has", "device", "count"),
    [({"CPU": 8.0}, "cpu", 2), ({"CPU": 8.0, "GPU": 4.0}, "cuda", 4), ({"GPU": 1.0}, "cuda", 1)],
)
def test_a_node_has_hosts_of_the_first_kind_that_fits(has: dict[str, float], device: str, count: int) -> None:
    kinds = [HostKind("cuda", HostShares(num_gpus=1), 64), HostKind("cpu", HostShares(), 2)]
    kind, found = kind_for(has, kinds)
    assert (kind.device, found) == (device, count)
    assert kind_for({"CPU": 1.0}, kinds[:1])[1] == 0


def test_what_hosts_of_each_kind_ask_for() -> None:
    def asked(device: str, share: str = "") -> list[HostKind]:
        environ = {"GRADD_DEVICE": device, "GRADD_PLACEMENT": "ray", "GRADD_RAY_SHARE": share}
        return _kinds(Settings.load({}, environ))

    assert asked("cpu", "num_cpus=2") == [HostKind("cpu", HostShares(num_cpus=2), 1)]
    assert asked("cuda") == [HostKind("cuda", HostShares(num_gpus=1), 64)]
    assert asked("cuda", "gradd=1") == [HostKind("cuda", HostShares(resources={"gradd": 1}), 64)]
    for both in ("cpu,cuda", "cuda,cpu"):
        assert asked(both, "gradd=1") == [
            HostKind("cuda", HostShares(num_gpus=1, resources={"gradd": 1}), 64),
            HostKind("cpu", HostShares(resources={"gradd": 1}), 1),
        ]
        half = asked(both, "num_gpus=0.5,num_cpus=1")
        assert [(kind.shares.num_gpus, kind.shares.num_cpus) for kind in half] == [(0.5, 1), (0, 1)]


def test_several_kinds_are_for_clusters() -> None:
    with pytest.raises(BadConfig, match="several kinds of device are for --placement ray"):
        Settings.load({}, {"GRADD_DEVICE": "cpu,cuda"})
    settings = Settings.load({}, {"GRADD_DEVICE": "cuda,cpu", "GRADD_PLACEMENT": "ray"})
    assert settings.devices == ["cuda", "cpu"]
