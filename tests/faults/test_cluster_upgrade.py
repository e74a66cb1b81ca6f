"""A cluster gets another version of gradd, node by node, under clients that train: nothing is lost."""

from __future__ import annotations

import importlib.util
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradd_protocol.version import VERSION
from gradd_server.keys import KeyFile

from tests.faults.daemon import Daemon
from tests.faults.nodes import SHARE, RayNodes
from tests.faults.trainings import Expected, Progress, train_on
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'gradd[ray]'"),
    pytest.mark.skipif("GRADD_NODE_FAULTS" not in os.environ, reason="make faults-cluster runs it"),
]

ROOT = Path(__file__).parents[2]
LATER = f"{VERSION}.post1"
CLIENTS = 2


def later(folder: Path) -> str:
    """gradd in a later version, as a PYTHONPATH: it is another in what says so, and else the same files, so
    that nothing has to be compiled.
    """
    shutil.copytree(ROOT / "protocol", folder)
    file = folder / "gradd_protocol/version.py"
    file.write_text(file.read_text().replace(f'"{VERSION}"', f'"{LATER}"'))
    return str(folder)


def test_nodes_and_fronts_are_upgraded_one_after_the_other(
    tmp_path: Path, script: list[bytes], undisturbed: Expected, tally: Callable[..., None]
) -> None:
    environ = {"PYTHONPATH": later(tmp_path / "later")}
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    key, _ = KeyFile(data).create("acme", "operator")
    headers = {"authorization": f"Bearer {key}"}

    def asked(front: Daemon, path: str) -> Any:
        """An answer; a front that takes the lead ends the connections that it passed on."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                return httpx.get(front.url + path, headers=headers, timeout=PATIENCE, trust_env=False).json()
            threading.Event().wait(0.1)
        raise AssertionError(f"{front.url} does not answer")

    def up(front: Daemon, count: int) -> set[str]:
        """The nodes that run engine processes of that front, once there are so many."""
        end = time.monotonic() + PATIENCE
        while len(found := {n["node"] for n in asked(front, "/v1/nodes")["nodes"] if n["up"]}) != count:
            assert time.monotonic() < end, found
            threading.Event().wait(0.1)
        return found

    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    with RayNodes(2, tmp_path / "ray.log") as nodes:
        flags = ["--placement", "ray", "--ray-address", nodes.address, "--ray-share", SHARE]
        with (
            Daemon(tmp_path / "old", *flags, data=data) as old,
            Daemon(tmp_path / "new", *flags, data=data, environ=environ) as new,
        ):
            progress = Progress()
            address = f"{old.url},{new.url}"
            given = address, 0, script, undisturbed, progress, 15.0, key
            clients = [
                threading.Thread(target=train_on, args=(given[0], n, *given[2:])) for n in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            try:
                progress.wait_for_each(CLIENTS, 10)
                before = up(old, 2)
                for _ in range(2):
                    nodes.add(**environ)
                assert asked(new, "/v1")["version"] == VERSION  # it passes on
                progress.wait_for_each(CLIENTS, 10)
                assert up(old, 2) == before
                old.process.terminate()
                assert old.process.wait(PATIENCE) == 0
                assert up(new, 2).isdisjoint(before)
                assert asked(new, "/v1")["version"] == LATER
                progress.wait_for_each(CLIENTS, 10)
            finally:
                progress.done = True
                for client in clients:
                    client.join(PATIENCE)
    assert progress.failures == []
    tally(
        "batches while a cluster is upgraded", progress.batches, progress.lost, progress.twice,
        progress.differing,
    )  # fmt: skip
