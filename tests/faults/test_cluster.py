"""Two fronts whose engine processes are on the nodes of a Ray cluster: what is killed or stopped under
training clients costs nothing that was acknowledged, and nothing is applied twice.

`GRADD_NODE_FAULTS` says how many faults (`make faults-cluster`: 50), `GRADD_NODE_KINDS` of which kinds,
`GRADD_NODE_SEED` in which order, `GRADD_NODE_CLIENTS` under how many clients, `GRADD_NODE_SESSIONS` how many
sessions are opened, moved and drained. `GRADD_NODE_STORE` says whether sessions are kept in ``files`` that
all nodes see, or in ``objects`` of an object store that is here. The head is among what is killed where there
is a Redis for what it knows.
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import gradd
import httpx
import pytest
from gradd_runtime.store import Bucket, Files, Folder
from gradd_server.fronts.leads import Leads
from gradd_server.keys import KeyFile
from gradd_server.placement.cluster.nodes import AgentOrder, HostKind, HostShares
from gradd_server.placement.cluster.overseer import Overseer

from tests.faults.daemon import Daemon
from tests.faults.nodes import SHARE, RayNodes, keeps_head, parent, signalled, whole_node
from tests.faults.trainings import Expected, Progress, train_on
from tests.objectstore import reached, serving
from tests.server.cluster import test_links as links
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'gradd[ray]'"
)

FAULTS = int(os.environ.get("GRADD_NODE_FAULTS", "2"))
SEED = int(os.environ.get("GRADD_NODE_SEED", "0"))
CLIENTS = int(os.environ.get("GRADD_NODE_CLIENTS", "2"))
STORE = os.environ.get("GRADD_NODE_STORE", "files")
SESSIONS = int(os.environ.get("GRADD_NODE_SESSIONS", "20"))
NODES, FRONTS = 3, 2
#: seconds after which a node or a front is given up; one that is stopped wakes after more
SILENCE = 4.0
#: seconds that a client waits for one answer, before it asks the other front
ASKING = 5.0
KINDS: tuple[str, ...] = ("engine", "front", "pause", "node", "front pause", "move", "actor")
if keeps_head():
    KINDS += ("head",)
KINDS = tuple(filter(None, os.environ.get("GRADD_NODE_KINDS", "").split(","))) or KINDS


class Lab:
    """The cluster, and the fronts before it, the one that leads first."""

    def __init__(self, nodes: RayNodes, fronts: list[Daemon], key: str, leads: Leads) -> None:
        self.nodes, self.fronts, self.key, self.leads = nodes, fronts, key, leads
        self._asleep: list[tuple[threading.Timer, list[int]]] = []

    @property
    def url(self) -> str:
        """The addresses of all fronts."""
        return ",".join(front.url for front in self.fronts)

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """What the fronts answer to an operator: the first of them that does."""
        headers = {"authorization": f"Bearer {self.key}"}
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for front in self.fronts:
                try:
                    return httpx.request(
                        method, front.url + path, headers=headers, timeout=ASKING, trust_env=False, **request
                    )
                except httpx.TransportError:
                    continue
            threading.Event().wait(0.1)
        raise AssertionError(f"no front answers {method} {path}")

    def clear(self) -> None:
        """Delete all sessions."""
        for entry in self.ask("GET", "/v1/sessions").json()["sessions"]:
            self.ask("DELETE", f"/v1/sessions/{entry['name']}")

    def seen(self) -> list[dict[str, Any]]:
        """The engine processes, as `GET /v1/nodes` has them."""
        return self.ask("GET", "/v1/nodes").json()["nodes"]

    def ready(self, count: int = NODES) -> list[dict[str, Any]]:
        """Those that are well, once there are so many; fronts that were stopped are awake, too."""
        end = time.monotonic() + PATIENCE
        for alarm, pids in self._asleep:
            if pids[0] in {front.process.pid for front in self.fronts}:
                alarm.join(PATIENCE)
        while time.monotonic() < end:
            well = [node for node in self.seen() if node["up"] and not node["drained"]]
            if len(well) >= count:
                return well
            threading.Event().wait(0.1)
        raise AssertionError(f"there are not {count} nodes: {self.seen()}")

    def fault(self, kind: str, dice: random.Random) -> float:
        """Let that happen to a node, the one with most sessions more often, or to the front that leads; when
        it began.
        """
        well = self.ready()
        began = time.monotonic()
        engine = max(well, key=lambda node: (node["sessions"], dice.random()))["pid"]
        if kind == "engine":
            signalled([engine], signal.SIGKILL)
        elif kind == "actor":
            signalled([parent(engine)], signal.SIGKILL)
            gone(engine)  # what it answers on its way is no sign that all is well
        elif kind == "node":
            signalled(whole_node(engine), signal.SIGKILL)
        elif kind == "pause":
            self._stop(whole_node(engine))
        elif kind == "front":
            self.leading().kill()
        elif kind == "front pause":
            self._stop([self.leading().process.pid])
        elif kind == "head":
            self.nodes.kill_head()
        else:
            for entry in self.ask("GET", "/v1/sessions").json()["sessions"]:
                self.ask("POST", f"/v1/sessions/{entry['name']}:move")
        return began

    def leading(self) -> Daemon:
        """The front that leads."""
        number, front = self.leads.latest()
        found = [each for each in self.fronts if front is not None and each.url == front.url]
        assert found, f"lead {number} is that of {front}"
        return found[0]

    def _stop(self, pids: list[int]) -> None:
        """Let them sleep, and wake when they have been given up."""
        signalled(pids, signal.SIGSTOP)
        alarm = threading.Timer(2.5 * SILENCE, signalled, (pids, signal.SIGCONT))
        alarm.start()
        self._asleep.append((alarm, pids))

    def close(self) -> None:
        """Let whoever is stopped go on, so that it can end."""
        for alarm, pids in self._asleep:
            alarm.cancel()
            signalled(pids, signal.SIGCONT)


def gone(pid: int) -> None:
    """Wait until a process has ended."""
    end = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < end
        threading.Event().wait(0.02)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A head, three nodes and two fronts."""
    tmp_path = tmp_path_factory.mktemp("cluster")
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    key, _ = KeyFile(data).create("acme", "operator")
    flags = ["--placement", "ray", "--ray-share", SHARE, "--node-silence-seconds", str(SILENCE)]
    with ExitStack() as stack:
        leads: Files = Folder(data / "leads")
        if STORE == "objects":
            url = stack.enter_context(reached(stack.enter_context(serving()))).url
            leads = Bucket(f"{url}/leads")
            flags += ["--records", url]
        nodes = stack.enter_context(RayNodes(NODES, tmp_path / "ray.log"))
        flags += ["--ray-address", nodes.address]
        fronts = []
        for n in range(FRONTS):
            (tmp_path / f"front-{n}").mkdir()
            fronts.append(stack.enter_context(Daemon(tmp_path / f"front-{n}", *flags, data=data)))
        made = Lab(nodes, fronts, key, Leads(leads))
        stack.callback(made.close)
        yield made


def test_nothing_acknowledged_is_lost_and_nothing_is_applied_twice(
    lab: Lab, script: list[bytes], undisturbed: Expected, tally: Callable[..., None],
    figure: Callable[[str, str], None],
) -> None:  # fmt: skip
    dice = random.Random(SEED)
    progress = Progress()
    clients = [
        threading.Thread(target=train_on, args=(lab.url, n, script, undisturbed, progress, ASKING, lab.key))
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
            began = lab.fault(kind, dice)
            progress.wait_for_each(CLIENTS, 2)
            back[kind].append(time.monotonic() - began)
            if kind == "node":
                lab.nodes.add()
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
    # A request that its client gave up may wait at a front that slept, and be answered when nobody hears.
    lab.clear()
    names = [f"s{n}" for n in range(SESSIONS)]
    for n, name in enumerate(names):
        assert lab.ask("PUT", f"/v1/sessions/{name}").status_code == 201
        put = {"dtype": "float64", "shape": [1], "data": [n]}
        assert lab.ask("PUT", f"/v1/sessions/{name}/tensors/x", json=put).status_code in (200, 201)
    first, *others = sorted(lab.ready(), key=lambda node: node["node"])
    counts = [node["sessions"] for node in (first, *others)]
    assert sum(counts) == SESSIONS
    assert min(counts) >= SESSIONS // 6
    for name in names[::2]:
        answer = lab.ask("POST", f"/v1/sessions/{name}:move", json={"node": first["node"]})
        assert answer.json() == {"node": first["node"]}
    answer = lab.ask("POST", f"/v1/nodes/{first['node']}:drain")
    assert answer.json()["left"] == 0
    left = {node["node"]: node["sessions"] for node in lab.seen()}
    assert left.pop(first["node"]) == 0
    assert sum(left.values()) == SESSIONS
    assert min(left.values()) > 0
    differing = 0
    for n, name in enumerate(names):
        differing += lab.ask("GET", f"/v1/sessions/{name}/tensors/x").json()["data"] != [n]
    tally("sessions of a cluster that were opened, moved and drained", SESSIONS, differing=differing)
    assert lab.ask("POST", f"/v1/nodes/{first['node']}:resume").status_code == 204
    lab.clear()  # they are all that a tenant may have


def test_by_rays_calls_it_is_the_same(lab: Lab) -> None:
    """As where a firewall is between the front and the port of the host."""
    order = AgentOrder(lab.nodes.address, [HostKind("cpu", HostShares.parse(SHARE), 1)], 1.0)
    with closing(Overseer(order)) as overseer:
        seen = overseer.first(PATIENCE)
        way = next(host.way for host in seen.hosts if host.way is not None)
        by_calls = links.OverOneHost(way=way)
        try:
            links.test_a_scenario_over_a_host_equals_inline(by_calls)
        finally:
            by_calls.shutdown()


def test_the_pages_commands_do_what_it_says(lab: Lab) -> None:
    page = (Path(__file__).parents[2] / "docs/cluster.md").read_text()
    commands = re.findall(r"^    gradd (nodes.*)$", page, re.MULTILINE)
    assert len(commands) == 4
    assert lab.ask("PUT", "/v1/sessions/training").status_code == 201
    for command in commands:
        before = lab.ready()
        (home,) = (lab.ask("GET", "/v1/sessions/training").json()["node"],)
        said = command.replace("5c17", home[:8]).split()
        run = subprocess.run(
            [sys.executable, "-m", "gradd_server", *said],
            env={**os.environ, "GRADD_URL": lab.url, "GRADD_API_KEY": lab.key},
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        there = lab.ask("GET", "/v1/sessions/training").json()["node"]
        if said == ["nodes"]:
            assert all(node["node"][:8] in run.stdout for node in before)
        else:
            assert (there == home) is (said[1] == "resume")
        if said[1:2] == ["drain"]:
            drained = home
            assert {node["node"] for node in lab.seen() if node["drained"]} == {home}
            assert lab.ask("POST", f"/v1/nodes/{drained}:resume").status_code == 204
    assert lab.ask("DELETE", "/v1/sessions/training").status_code == 204


def test_a_script_trains_on_while_fronts_end(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADD_API_KEY", lab.key)

    def trained(url: str, name: str | None, between: Callable[[int], None]) -> list[Any]:
        with gradd.connect(url, session=name):
            gradd.manual_seed(5)
            model = gradd.nn.Sequential(gradd.nn.Linear(8, 16), gradd.nn.Dropout(0.2), gradd.nn.Linear(16, 1))
            optimizer = gradd.optim.Adam(model.parameters(), lr=0.01)
            losses = []
            for step in range(60):
                between(step)
                optimizer.zero_grad()
                loss = (model(gradd.randn(32, 8)) ** 2).mean()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return [losses, [p.tolist() for p in model.parameters()]]

    def end(step: int) -> None:
        if step in (20, 40):
            lab.leading().kill()

    lab.ready()
    expected = trained(lab.url, "undisturbed", lambda step: None)
    assert trained(lab.url, "unaware", end) == expected
    for name in ("undisturbed", "unaware"):
        gradd.delete_session(name, lab.url)
