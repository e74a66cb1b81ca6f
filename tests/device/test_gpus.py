"""Several GPUs: an engine process for each, and where sessions go."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_protocol.names import is_device
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import Step
from gradd_server.placement import engines, gpus, workers
from gradd_server.placement.gpus import ABOUT, DeviceRooms
from gradd_server.placement.workers import WorkersPlacement
from gradd_server.settings import BadConfig, Settings
from gradd_server.texts import device as parsed

from tests.device.test_failing import hosted, told
from tests.faults.daemon import Daemon
from tests.standin.processes import fault, on_standin
from tests.standin.sessions import sessions_there
from tests.waiting import PATIENCE

GIB = 1 << 30


def test_a_session_goes_where_most_memory_is_left_for_its_tenant() -> None:
    left = {("A", "me"): 9 * GIB, ("B", "me"): 8 * GIB, ("A", "you"): GIB, ("B", "you"): 2 * GIB}
    rooms = DeviceRooms("AB", lambda process, tenant: (left[process, tenant], 9 * GIB))
    assert [rooms.enter(tenant, str.isalpha) for tenant in ("me", "me", "you", "me")] == ["A", "A", "B", "A"]
    assert rooms.enter("me", lambda process: process == "B") == "B"
    assert rooms.enter("me", lambda _: False) is None
    assert not rooms.wants_more("me")


def test_where_its_tenant_may_take_the_same_what_is_left_decides() -> None:
    rooms = DeviceRooms("AB", lambda process, _: (GIB, 2 * GIB + GIB * (process == "B")))
    assert [rooms.enter("me", str.isalpha) for _ in range(2)] == ["B", "B"]


def test_where_about_the_same_is_left_the_fewest_sessions_decide() -> None:
    left = {"A": 40 * ABOUT + 5, "B": 40 * ABOUT + 9, "C": 40 * ABOUT}
    rooms = DeviceRooms("ABC", lambda process, _: (GIB, left[process]))
    assert [rooms.enter("me", str.isalpha) for _ in range(4)] == ["A", "B", "C", "A"]
    rooms.leave("B", "me")
    rooms.leave("gone", "me")
    assert rooms.enter("me", str.isalpha) == "B"
    rooms.replace("A", "D", ["me"])
    left["D"] = left["A"]
    assert [rooms.enter("me", str.isalpha) for _ in range(3)] == ["D", "B", "C"]


@pytest.mark.parametrize(
    "text", ["cpu", "cuda", "cuda:0", "cuda:12", "cuda:0,cuda:1", "cuda:3,cuda:1,cuda:2"]
)
def test_devices_are_read(text: str) -> None:
    assert parsed(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "gpu", "cuda:", "cuda:x", "cuda,cuda:1", "cpu,cuda:0", "cuda:0,", "cuda:1,cuda:1", "cuda:1,cuda:01"],
)
def test_what_is_no_device_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="device"):
        parsed(text)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"device": "cuda:0,cuda:1", "workers": 0}, "--workers 0: the daemon's own process has one GPU"),
        ({"device": "cuda", "workers": 2}, "--workers 2: each GPU has one engine process"),
    ],
)
def test_settings_that_do_not_go_together(flags: dict[str, Any], why: str) -> None:
    with pytest.raises(BadConfig, match=why):
        Settings.load(flags, {})


def test_what_sessions_may_ask_for() -> None:
    assert is_device("cpu", ["cpu"])
    assert not is_device("cuda", ["cpu"])
    assert all(is_device(device, ["cuda:0", "cuda:1"]) for device in ("cuda", "cuda:0", "cuda:1"))
    assert not any(is_device(device, ["cuda:0", "cuda:1"]) for device in ("cpu", "cuda:2", "cuda:0,cuda:1"))


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(engines, "OPEN_SECONDS", PATIENCE)
    monkeypatch.setattr(gpus, "LOOK_SECONDS", PATIENCE)
    on_standin(monkeypatch, devices=2, memory=4 * GIB)
    return monkeypatch


def test_all_gpus_are_taken_and_sessions_spread(two: pytest.MonkeyPatch, tmp_path: Path) -> None:
    placement = WorkersPlacement(device="cuda", threads=1)
    try:
        assert placement.devices == ["cuda:0", "cuda:1"]
        assert len(placement.pids) == 2
        first = hosted(placement, "me/a")
        first.put("x", np.zeros(1 << 27, np.float32))
        # An even half GiB is gone from the first, and the other is taken until it has as little left.
        others = {name: hosted(placement, name) for name in ("me/b", "you/a", "me/c")}
        assert placement.device_of("me/a") == "cuda:0"
        assert {placement.device_of(name) for name in others} == {"cuda:1"}
        assert placement.device_of("me/z") is None
        for peer in others.values():
            peer.put("x", [1.0])
            assert told(peer.batch(Step("sinh", [0]), inputs=["x"], keep=[1], first=0, fetch=[1])) == ""
    finally:
        placement.shutdown()


def test_a_tenant_that_may_take_no_more_of_one_gpu_goes_to_another(two: pytest.MonkeyPatch) -> None:
    """Though the other one has less left in all."""
    placement = WorkersPlacement(device="cuda:0,cuda:1", threads=1, budgets=(3 * GIB, GIB, 0))
    try:
        placement.open("other/a", {"device": "cuda:1"})
        placement.open("me/a", {"device": "cuda:0"})
        hosted(placement, "other/a").put("x", np.zeros(1 << 28, np.uint8))
        hosted(placement, "me/a").put("x", np.zeros(GIB - (200 << 20), np.uint8))
        hosted(placement, "other/b")
        hosted(placement, "me/b")
        assert (placement.device_of("other/b"), placement.device_of("me/b")) == ("cuda:0", "cuda:1")
        assert placement._processes[0].tenants["me"] > GIB // 2
    finally:
        placement.shutdown()


def test_what_was_asked_for_is_kept_also_by_the_next_process(
    two: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = fault(two, tmp_path / "fault")
    placement = WorkersPlacement(device="cuda:1,cuda:0", threads=1)
    try:
        assert placement.devices == ["cuda:1", "cuda:0"]
        path = tmp_path / "a.db"
        peer = hosted(placement, "me/a", path, device="cuda:0")
        assert placement.device_of("me/a") == "cuda:0"
        peer.put("x", [0.5])
        before = placement.pids
        file.write_text("700 sinh 0")
        assert told(peer.batch(Step("sinh", [0]), inputs=["x"], keep=[1], first=0)) == "recovering"
        while not isinstance(found := peer.get("x"), np.ndarray):
            assert found.slug == "recovering"
        assert placement.device_of("me/a") == "cuda:0"
        assert placement.pids[0] == before[0]
        assert placement.pids[1] != before[1]
        assert placement.devices == ["cuda:1", "cuda:0"]
        placement.open("me/b", {"device": "cuda:5"})  # kept by a daemon that had more
        assert placement.device_of("me/b") == "cuda:1"
        assert "session me/b was on cuda:5, which is not here" in caplog.text
    finally:
        placement.shutdown()


def test_a_gpu_whose_process_is_being_replaced_is_waited_for(two: pytest.MonkeyPatch) -> None:
    placement = WorkersPlacement(device="cuda", threads=1)
    try:
        two.setattr(engines, "OPEN_SECONDS", 0.0)
        two.setattr(workers, "RETRY_SECONDS", PATIENCE)
        two.setattr(WorkersPlacement, "_try_spawn", lambda *_: None)
        dead = placement._processes[1]
        os.kill(dead.pid, signal.SIGKILL)
        dead.status().figures.result(PATIENCE)  # of one that ends, it comes when that is known
        with pytest.raises(ProtocolError, match="no engine process runs"):
            placement.open("me/a", {"device": "cuda:1"})
        placement.open("me/b", {})
        assert placement.device_of("me/b") == "cuda:0"
    finally:
        placement.abandon()
        placement.shutdown()


@pytest.mark.parametrize("device", ["cuda:2", "cuda:0,cuda:2"])
def test_a_gpu_that_is_not_there_is_refused(two: pytest.MonkeyPatch, device: str) -> None:
    with pytest.raises(RuntimeError, match="device cuda:2: CUDA shows this process cuda:0 to cuda:1"):
        WorkersPlacement(device=device)


def test_a_script_asks_a_daemon_for_a_gpu(two: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Daemon(tmp_path, "--no-auth", "--device", "cuda") as daemon:
        with gradd.connect(daemon.url, device="cuda:1") as session:
            x = gradd.rand(8, requires_grad=True)
            (x * x).sum().backward()
            assert x.grad is not None
            assert x.grad.tolist() == (2 * x).tolist()
            name = session.name
        gradd.connect(daemon.url, session="mine", device=gradd.device("cuda", 1)).close()
        for device in ("cuda:1", "cuda", None):
            gradd.connect(daemon.url, session="mine", transport="http", device=device).close()
        with pytest.raises(gradd.ServerError, match="session 'mine' is on cuda:1, where it stays"):
            gradd.connect(daemon.url, session="mine", device="cuda:0")
        with pytest.raises(gradd.ServerError, match="no device 'cuda:2': it serves cuda:0, cuda:1"):
            gradd.connect(daemon.url, device="cuda:2")
        assert name.startswith("anon-")
        gradd.delete_session("mine", url=daemon.url)


def test_sessions_of_this_process_are_on_its_device() -> None:
    gradd.connect("local:", device="cpu").close()
    with pytest.raises(gradd.ServerError, match="no device 'cuda:1': its sessions are on cpu"):
        gradd.connect("local:", device="cuda:1")
    with sessions_there():
        for device in ("cuda", "cuda:0"):
            gradd.connect("local:", device=device).close()
    with pytest.raises(ValueError, match="takes no device"):
        gradd.connect("local:", session="other", device="cpu", from_snapshot="file")
