"""The nodes of a cluster over HTTP, and `gradd nodes`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradd_runtime.store import make_record
from gradd_server import cli
from gradd_server.commands import exits
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile
from gradd_server.placement.cluster.nodes import HostShares
from gradd_server.placement.cluster.placement import ClusterPlacement

from tests.server.cluster.hosts import cluster
from tests.server.fake_placement import FakePlacement
from tests.server.one_front import front


class Asking:
    """Requests with a key."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._headers = url, {"authorization": f"Bearer {key}"}

    def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        return httpx.request(
            method, f"{self._url}{path}", headers=self._headers, trust_env=False, timeout=60.0, **more
        )


@pytest.fixture(scope="module")
def warm() -> None:
    """The first daemon of a process opens what stays open."""
    with front(placement=FakePlacement()) as url:
        httpx.get(f"{url}/livez", trust_env=False)


@pytest.fixture
def placement(warm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterPlacement]:
    with cluster(tmp_path, monkeypatch, "node-a", "node-b") as made:
        yield made


@pytest.fixture
def asking(
    placement: ClusterPlacement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Asking, Asking]]:
    """A user of the tenant acme and an operator, with four sessions of acme's, two on each node."""
    file = KeyFile(tmp_path)
    user, _ = file.create("acme")
    operator, _ = file.create("acme", "operator")
    with front(Keyring(file), placement=placement) as url:
        monkeypatch.setenv("GRADD_API_KEY", operator)
        monkeypatch.setenv("GRADD_URL", url)
        users = Asking(url, user)
        for n in range(4):
            make_record(tmp_path / f"s{n}.db")
            options = {"store": str(tmp_path / f"s{n}.db"), "durability": "process"}
            placement.open(f"acme/s{n}", options)  # as where they were kept
            assert users("PUT", f"/v1/sessions/s{n}").status_code in (200, 201)
        yield users, Asking(url, operator)


def slug(answer: httpx.Response) -> str:
    return str(answer.json()["type"]).removeprefix("/problems/")


def test_nodes_are_for_operators(asking: tuple[Asking, Asking]) -> None:
    user, operator = asking
    for method, path in (
        ("GET", "/v1/nodes"), ("POST", "/v1/nodes/node-a:drain"), ("POST", "/v1/nodes/node-a:resume"),
    ):  # fmt: skip
        answer = user(method, path)
        assert (answer.status_code, slug(answer)) == (403, "forbidden")
    nodes = operator("GET", "/v1/nodes").json()["nodes"]
    assert [(node["node"], node["sessions"], node["up"], node["drained"]) for node in nodes] == [
        ("node-a", 2, True, False), ("node-b", 2, True, False),
    ]  # fmt: skip


def test_a_node_is_drained_and_resumed(asking: tuple[Asking, Asking], placement: ClusterPlacement) -> None:
    _, operator = asking
    answer = operator("POST", "/v1/nodes/nowhere:drain")
    assert slug(answer) == "invalid-data"
    placement.open("acme/plain", {})
    node = placement.node_of("acme/plain")
    answer = operator("POST", f"/v1/nodes/{node}:drain")
    assert (answer.status_code, answer.json()) == (200, {"moved": 2, "left": 1})
    assert [n["drained"] for n in operator("GET", "/v1/nodes").json()["nodes"]].count(True) == 1
    assert operator("POST", f"/v1/nodes/{node}:resume").status_code == 204
    assert [n["drained"] for n in operator("GET", "/v1/nodes").json()["nodes"]].count(True) == 0


def test_who_has_a_session_moves_it(asking: tuple[Asking, Asking], placement: ClusterPlacement) -> None:
    user, _ = asking
    home = placement.node_of("acme/s0")
    answer = user("POST", "/v1/sessions/s0:move")
    other = {"node-a": "node-b", "node-b": "node-a"}[str(home)]
    assert (answer.status_code, answer.json()) == (200, {"node": other})
    assert user("POST", "/v1/sessions/s0:move", json={"node": home}).json() == {"node": home}
    assert slug(user("POST", "/v1/sessions/s0:move", json={"node": "z"})) == "invalid-data"
    assert slug(user("POST", "/v1/sessions/s0:move", json={"knot": "z"})) == "invalid-json"
    assert slug(user("POST", "/v1/sessions/nobody:move")) == "session-not-found"


@pytest.mark.usefixtures("asking")
def test_the_command(placement: ClusterPlacement, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["nodes"]) == exits.OK
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["node-a", "node-b"]
    assert all(line.endswith("2 sessions") for line in lines)
    assert cli.main(["nodes", "drain", "node-a"]) == exits.OK
    assert capsys.readouterr().out == "2 sessions moved, 0 are left\n"
    assert cli.main(["nodes", "--json"]) == exits.OK
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(node["node"], node["drained"], node["sessions"]) for node in said] == [
        ("node-a", True, 0), ("node-b", False, 4),
    ]  # fmt: skip
    assert cli.main(["nodes", "resume", "node-a"]) == exits.OK
    assert cli.main(["nodes", "move", "s0"]) == exits.OK
    assert capsys.readouterr().out == "node-a\n"
    assert cli.main(["nodes", "move", "s0", "node-b"]) == exits.OK
    assert capsys.readouterr().out == "node-b\n"
    assert placement.node_of("acme/s0") == "node-b"
    for arguments in (["drain", "node"], ["drain", "other"], ["move", "nobody"], ["move", "s0", "x"]):
        assert cli.main(["nodes", *arguments]) == exits.UNAVAILABLE
        assert capsys.readouterr().out == ""


def test_a_daemon_without_a_cluster_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = KeyFile(tmp_path)
    operator, _ = file.create("acme", "operator")
    with front(Keyring(file), placement=FakePlacement()) as url:
        monkeypatch.setenv("GRADD_API_KEY", operator)
        assert slug(Asking(url, operator)("GET", "/v1/nodes")) == "invalid-data"
        assert cli.main(["nodes", "--url", url]) == exits.UNAVAILABLE
    assert "no cluster" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "has", "most", "count"),
    [
        ("", {}, 1, 1),
        ("", {"CPU": 4.0}, 3, 3),
        ("gradd=1", {"CPU": 4.0}, 3, 0),
        ("gradd=0.1", {"gradd": 1.0}, 64, 10),
        ("num_gpus=1", {"GPU": 4.0, "CPU": 1.0}, 64, 4),
        ("num_gpus=1,num_cpus=2,memory=8e9", {"GPU": 4.0, "CPU": 7.0, "memory": 32e9}, 64, 3),
        ("num_gpus=0.5", {"GPU": 1.0}, 64, 2),
        ("memory=8e9", {"memory": 7e9}, 64, 0),
    ],
)
def test_a_node_has_as_many_hosts_as_it_has_room_for(
    asked: str, has: dict[str, float], most: int, count: int
) -> None:
    assert HostShares.parse(asked).fitting(has, most) == count
