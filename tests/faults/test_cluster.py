"""A daemon whose engine processes are on the nodes of a Ray cluster: what is killed or stopped under training
clients costs nothing that was acknowledged, and nothing is applied twice.

`GRADD_NODE_FAULTS` says how many faults (`make faults-cluster`: 50), `GRADD_NODE_SEED` which,
`GRADD_NODE_CLIENTS` under how many clients, `GRADD_NODE_SESSIONS` how many sessions are opened, moved and
drained.
"""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from gradd_protocol import runtimefile

from tests.faults.daemon import Daemon
from tests.faults.nodes import SHARE, RayNodes, parent, signalled, whole_node
from tests.faults.trainings import Expected, Progress, train_on
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'gradd[ray]'"
)

FAULTS = int(os.environ.get("GRADD_NODE_FAULTS", "2"))
SEED = int(os.environ.get("GRADD_NODE_SEED", "0"))
CLIENTS = int(os.environ.get("GRADD_NODE_CLIENTS", "2"))
SESSIONS = int(os.environ.get("GRADD_NODE_SESSIONS", "20"))
NODES = 2
#: seconds after which a node is given up; one that is stopped wakes after more
SILENCE = 4.0
KINDS = ("engine", "pause", "node", "move", "actor", "front")


class Lab:
    """The cluster, and the daemon before it."""

    def __init__(self, nodes: RayNodes, daemon: Daemon) -> None:
        self.nodes, self.daemon = nodes, daemon
        self._asleep: list[tuple[float, list[int]]] = []

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """What the daemon answers to an operator."""
        found = runtimefile.find(self.daemon.url)
        headers = {} if found is None else {"authorization": f"Bearer {found.key}"}
        return httpx.request(
            method, self.daemon.url + path, headers=headers, timeout=PATIENCE, trust_env=False, **request
        )

    def seen(self) -> list[dict[str, Any]]:
        """The engine processes, as `GET /v1/nodes` has them."""
        return self.ask("GET", "/v1/nodes").json()["nodes"]

    def ready(self, count: int = NODES) -> list[dict[str, Any]]:
        """Those that are well, once there are so many; nodes that were stopped wake when they are due."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self._wake()
            well = [node for node in self.seen() if node["up"] and not node["drained"]]
            if len(well) >= count:
                return well
            threading.Event().wait(0.1)
        raise AssertionError(f"there are not {count} nodes: {self.seen()}")

    def fault(self, kind: str, dice: random.Random) -> None:
        """Let that happen to a node, the one with most sessions more often."""
        well = self.ready()
        engine = max(well, key=lambda node: (node["sessions"], dice.random()))["pid"]
        if kind == "engine":
            signalled([engine], signal.SIGKILL)
        elif kind == "actor":
            signalled([parent(engine)], signal.SIGKILL)
        elif kind == "node":
            signalled(whole_node(engine), signal.SIGKILL)
            self.nodes.add()
        elif kind == "pause":
            pids = whole_node(engine)
            signalled(pids, signal.SIGSTOP)
            self._asleep.append((time.monotonic() + 2.5 * SILENCE, pids))
        elif kind == "front":
            self.daemon.kill()
        else:
            for entry in self.ask("GET", "/v1/sessions").json()["sessions"]:
                self.ask("POST", f"/v1/sessions/{entry['name']}:move")

    def _wake(self) -> None:
        now = time.monotonic()
        for due, pids in self._asleep:
            if due <= now:
                signalled(pids, signal.SIGCONT)
        self._asleep = [each for each in self._asleep if each[0] > now]

    def close(self) -> None:
        """Let whoever is stopped go on, so that it can end."""
        for _, pids in self._asleep:
            signalled(pids, signal.SIGCONT)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A head, two nodes and a daemon."""
    tmp_path = tmp_path_factory.mktemp("cluster")
    with RayNodes(NODES, tmp_path / "ray.log") as nodes:
        flags = ["--placement", "ray", "--ray-address", nodes.address, "--ray-share", SHARE]
        with Daemon(tmp_path, *flags, "--node-silence-seconds", str(SILENCE)) as daemon:
            made = Lab(nodes, daemon)
            try:
                yield made
            finally:
                made.close()


def test_nothing_acknowledged_is_lost_and_nothing_is_applied_twice(
    lab: Lab, script: list[bytes], undisturbed: Expected, tally: Callable[..., None],
    figure: Callable[[str, str], None],
) -> None:  # fmt: skip
    dice = random.Random(SEED)
    progress = Progress()
    clients = [
        threading.Thread(target=train_on, args=(lab.daemon.url, n, script, undisturbed, progress))
        for n in range(CLIENTS)
    ]
    kinds = [*KINDS, *dice.choices(KINDS, k=FAULTS)][:FAULTS]
    dice.shuffle(kinds)
    back: defaultdict[str, list[float]] = defaultdict(list)
    for client in clients:
        client.start()
    try:
        for kind in kinds:
            progress.wait_for(progress.frames + dice.randint(1, 30))
            lab.fault(kind, dice)
            began = time.monotonic()
            progress.wait_for_each(CLIENTS, 2)
            back[kind].append(time.monotonic() - began)
        lab.ready()
    finally:
        progress.done = True
        for client in clients:
            client.join(PATIENCE)
    assert progress.failures == []
    for kind, count in Counter(kinds).items():
        tally(f"cluster: {kind}", count)
        figure(
            f"cluster: {kind}, seconds until batches are answered again, at most", f"{max(back[kind]):.1f}"
        )
    tally(
        "batches under faults of a cluster",
        progress.batches,
        progress.lost,
        progress.twice,
        progress.differing,
    )


def test_sessions_are_spread_moved_and_drained(lab: Lab, tally: Callable[..., None]) -> None:
    names = [f"s{n}" for n in range(SESSIONS)]
    for n, name in enumerate(names):
        assert lab.ask("PUT", f"/v1/sessions/{name}").status_code == 201
        put = {"dtype": "float64", "shape": [1], "data": [n]}
        assert lab.ask("PUT", f"/v1/sessions/{name}/tensors/x", json=put).status_code in (200, 201)
    first, second = sorted(lab.ready(), key=lambda node: node["node"])
    assert first["sessions"] + second["sessions"] == SESSIONS
    assert min(first["sessions"], second["sessions"]) >= SESSIONS // 4
    for name in names[::2]:
        answer = lab.ask("POST", f"/v1/sessions/{name}:move", json={"node": first["node"]})
        assert answer.json() == {"node": first["node"]}
    answer = lab.ask("POST", f"/v1/nodes/{first['node']}:drain")
    assert answer.json()["left"] == 0
    assert {node["node"]: node["sessions"] for node in lab.seen()} == {
        first["node"]: 0,
        second["node"]: SESSIONS,
    }
    differing = 0
    for n, name in enumerate(names):
        differing += lab.ask("GET", f"/v1/sessions/{name}/tensors/x").json()["data"] != [n]
    tally("sessions of a cluster that were opened, moved and drained", SESSIONS, differing=differing)
    assert lab.ask("POST", f"/v1/nodes/{first['node']}:resume").status_code == 204
