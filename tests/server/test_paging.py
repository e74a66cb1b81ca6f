"""A daemon whose sessions leave memory whenever they can: scripts, streams and keys go on as ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gradd
import numpy as np
import pytest

from tests.server.test_stopping import Daemon

AT_ONCE = "--idle-seconds=0.0001"
STEPS = 12


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[list[Daemon]]:
    made = [Daemon(tmp_path / "data", AT_ONCE)]
    yield made
    for daemon in made:
        daemon.process.kill()
        daemon.end()


def asleep(daemon: Daemon, *names: str) -> dict[str, dict[str, object]]:
    """The sessions, once they sleep."""
    while True:
        found = {session["name"]: session for session in daemon.client.get("/v1/sessions").json()["sessions"]}
        if all(found[name].get("asleep") for name in names):
            return found


def train(steps: int = STEPS) -> list[list[float]]:
    """The weights after each step, with momentum, random numbers, and a graph that outlives its batch."""
    gradd.manual_seed(3)
    model = gradd.nn.Sequential(gradd.nn.Linear(4, 8), gradd.nn.Dropout(0.3), gradd.nn.Linear(8, 1))
    optimizer = gradd.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    large = gradd.tensor(np.ones(1 << 17))  # is staged
    seen = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(gradd.randn(6, 4)).square().mean() * large[-1].float()
        seen.append([loss.item()])
        loss.backward()
        optimizer.step()
        seen.append(model[0].weight.detach().flatten().tolist())
    assert large.numpy().sum() == 1 << 17  # is pinned
    return seen


def test_a_script_does_not_notice(daemons: list[Daemon]) -> None:
    (daemon,) = daemons
    with gradd.connect("local:"):
        expected = train()
    with gradd.connect(daemon.url, "a"):
        assert train() == expected
        asleep(daemon, "a")
        first = gradd.arange(3.0)
        gradd.current_session()["x"] = first
        asleep(daemon, "a")
        with gradd.connect(daemon.url, "a") as other:  # beside the first
            assert other["x"].tolist() == [0.0, 1.0, 2.0]
            other["y"] = other["x"] + 1
        asleep(daemon, "a")
        assert (first * 2).tolist() == [0.0, 2.0, 4.0]
    metrics = daemon.client.get("/v1/status").json()["engines"][0]
    assert metrics["sessions"]["awake"] <= 1


def test_lists_and_infos_wake_nobody_whatever_became_of_the_daemon(
    daemons: list[Daemon], tmp_path: Path
) -> None:
    client = daemons[0].client
    for name in "abc":
        assert client.put(f"/v1/sessions/{name}").status_code == 201
        body = {"data": [1.0, 2.0], "dtype": "float64"}
        assert client.put(f"/v1/sessions/{name}/tensors/x", json=body).is_success
    found = asleep(daemons[0], *"abc")
    assert {session["tensors"] for session in found.values()} == {1}
    assert client.get("/v1/sessions/b").json() == found["b"]
    key = {"Idempotency-Key": "k"}
    batch = {"steps": [{"op": "mul", "inputs": ["x", "x"], "outputs": ["x2"]}], "fetch": ["x2"]}
    once = client.post("/v1/sessions/b/batches", json=batch, headers=key)
    assert once.status_code == 200, once.text
    asleep(daemons[0], *"abc")
    again = client.post("/v1/sessions/b/batches", json=batch, headers=key)
    assert (again.json(), again.headers["gradd-replayed"]) == (once.json(), "?1")
    before = asleep(daemons[0], *"abc")
    for awake in ("", "b"):
        if awake:
            assert daemons[-1].client.get(f"/v1/sessions/{awake}/tensors/x").is_success
        daemons[-1].process.kill()
        daemons[-1].end()
        daemons.append(Daemon(tmp_path / "data", "--idle-seconds=0"))
        found = {s["name"]: s for s in daemons[-1].client.get("/v1/sessions").json()["sessions"]}
        assert {name: s for name, s in found.items() if name != awake} == {
            name: s for name, s in before.items() if name != awake
        }
        assert daemons[-1].client.get("/v1/status").json()["engines"][0]["sessions"]["asleep"] == 3
    assert found["b"]["away"] == "recovering"
    assert daemons[-1].client.get("/v1/sessions/b").json()["tensors"] == before["b"]["tensors"]
