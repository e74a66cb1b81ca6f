"""A device that fails: its process ends, nobody is answered with another's fault, and sessions come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.backends.cupy import STICKY
from gradd_engine.data import DeviceFailed
from gradd_protocol import messages as m
from gradd_protocol.program import Step
from gradd_runtime.process import Hosted, InlinePlacement
from gradd_runtime.session import Session
from gradd_runtime.store import make_record
from gradd_server.placement import engines
from gradd_server.placement.workers import WorkersPlacement

from tests import standin
from tests.runtime.peer import FILL, Peer
from tests.standin import machine
from tests.standin.processes import fault, on_standin
from tests.standin.sessions import device, sessions_there
from tests.waiting import PATIENCE

xp = standin.CUPY
MACHINE = machine.MACHINE


@pytest.fixture(autouse=True)
def renewed() -> Iterator[None]:
    yield
    MACHINE.renew()


def test_the_errors_that_stick_are_those_of_the_stand_in_and_more() -> None:
    assert machine.STICKY < STICKY


@pytest.mark.parametrize("status", sorted(machine.STICKY))
def test_an_error_that_sticks_fails_the_device(status: int) -> None:
    backend = device()
    backend.verify()
    MACHINE.plant(status, "exp")
    xp.exp(xp.ones(3))
    with pytest.raises(DeviceFailed, match="the GPU has failed: cudaError"):
        backend.verify()


@pytest.mark.parametrize("status", [2, 9])
def test_other_errors_do_not(status: int) -> None:
    backend = device()
    MACHINE.plant(status, "exp")
    with pytest.raises(machine.CUDARuntimeError):
        xp.exp(xp.ones(3))
    backend.verify()
    xp.exp(xp.ones(3))


#: what comes first after the fault: a launch, a copy to the host, a library, memory
LATER: dict[str, Callable[[Any], Any]] = {
    "launch": lambda x: x + 1,
    "fetch": lambda x: x.tolist(),
    "library": lambda x: x @ x,
    "memory": lambda x: gradd.empty(3),
    "upload": lambda x: gradd.tensor([1.0]),
    "values": lambda x: x.nonzero(),
    "checks": lambda x: gradd.ones(3)[gradd.tensor([0])],
}


def _go_on(session: Any, later: Callable[[Any], Any], y: Any) -> None:
    later(y)
    session.flush()
    y.sum().item()


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("planned", [False, True])
def test_in_this_process_sessions_say_so(later: str, planned: bool) -> None:
    with sessions_there() as placement, gradd.connect("local:") as session:
        x = gradd.ones(3, 3)
        for _ in range(3 if planned else 0):
            gradd.sinh(x).sum().item()
        session.flush()
        MACHINE.plant(700, "sinh")
        y = gradd.sinh(x)
        with pytest.raises(gradd.SessionLost, match=r"cudaErrorIllegalAddress.*start it again"):
            _go_on(session, LATER[later], y)
        assert "the GPU has failed" in placement.unwell()
        assert not placement.engines().processes[0].well
        MACHINE.renew()  # whatever the device says later, this process has given up
        with pytest.raises(gradd.SessionLost, match="the GPU has failed"):
            gradd.connect("local:")


def hosted(placement: Any, name: str, path: Path | None = None, **options: Any) -> Peer:
    """A writer of a session, which is kept at `path`."""
    if path is not None:
        options |= {"store": str(path), "durability": "process"}
    if path is not None:
        make_record(path)
    placement.open(name, options)
    return Peer(submit=lambda frame: bytes(placement.submit(name, frame).result(PATIENCE)))


def test_a_session_that_is_kept_is_not_harmed_by_a_device_that_failed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with standin.installed():
        placement = InlinePlacement("cuda")
    peer = hosted(placement, "t/a", path)
    peer.put("x", [1.0, 2.0])
    MACHINE.plant(719, "sinh")
    reply = peer.batch(Step("sinh", [0]), inputs=["x"], keep=[1], first=0, fetch=[1])
    assert reply.problem.slug == "device-lost"
    placement.shutdown()
    MACHINE.renew()
    with standin.installed():
        again = InlinePlacement("cuda")
    again.open("t/a", {"store": str(path), "durability": "process"})
    peer.submit = lambda frame: bytes(again.submit("t/a", frame).result(PATIENCE))
    assert peer.get("x").tolist() == [1.0, 2.0]
    reply = peer.batch(Step("sinh", [0]), inputs=["x"], keep=[1], first=0, fetch=[1])
    assert reply.problem is None
    np.testing.assert_allclose(peer.arrays[0], np.sinh([1.0, 2.0]))
    again.shutdown()


def test_a_fault_that_only_a_read_finds_is_the_devices() -> None:
    with standin.installed():
        placement = InlinePlacement("cuda")
    peer = hosted(placement, "t/a")
    peer.put("x", [1.0, 2.0])
    MACHINE.plant(700, "sinh", behind=99)
    assert told(peer.batch(Step("sinh", [0]), inputs=["x"], keep=[1], first=0)) == ""
    assert peer.get("x").slug == "device-lost"
    placement.shutdown()


@pytest.mark.parametrize("planted", ["in a snapshot", "in a replay", "while it wakes"])
def test_snapshots_and_replays_blame_the_device(
    tmp_path: Path, planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They neither kill the thread nor call a record damaged."""
    path = tmp_path / "a.db"
    with standin.installed():
        placement = InlinePlacement("cuda")
    peer = hosted(placement, "t/a", path)
    peer.put("x", [1.0, 2.0])
    peer.batch(Step("sinh", [0]), inputs=["x"], keep=[1], first=0)
    MACHINE.plant(716, "sinh")
    if planted == "in a snapshot":
        monkeypatch.setattr(Session, "freeze", lambda *_: [xp.sinh(xp.ones(2)).get()])
        placement._sessions["t/a"]._most = -1.0
        assert told(peer.batch(FILL, keep=[0], first=1)) == ""
    else:
        if planted == "in a replay":
            monkeypatch.setattr(Hosted, "sleep", lambda _: False)
        placement.shutdown()
        with standin.installed():
            placement = InlinePlacement("cuda")
        placement.open("t/a", {"store": str(path), "durability": "process"})
        peer.submit = lambda frame: bytes(placement.submit("t/a", frame).result(PATIENCE))
        MACHINE.status = 716 * (planted == "while it wakes")
        assert peer.get("x").slug == "device-lost"
    assert told(peer.ask(m.Info())[0]) == "device-lost"
    assert not placement.engines().processes[0].well
    placement.shutdown()


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[WorkersPlacement, Path]]:
    """A placement with one engine process, and the file that plants faults in it."""
    monkeypatch.setattr(engines, "OPEN_SECONDS", PATIENCE)
    on_standin(monkeypatch)
    file = fault(monkeypatch, tmp_path / "fault")
    placement = WorkersPlacement(device="cuda", threads=1)
    yield placement, file
    placement.shutdown()


def told(reply: Any) -> str:
    """The slug of a reply's problem; empty if it has none."""
    return "" if reply.problem is None else reply.problem.slug


@pytest.mark.parametrize("behind", [0, 1], ids=["at once", "in another's batch"])
def test_an_engine_process_ends_and_its_sessions_come_back(
    placed: tuple[WorkersPlacement, Path], tmp_path: Path, behind: int
) -> None:
    placement, file = placed
    (pid,) = placement.pids
    guilty = hosted(placement, "one/kept", tmp_path / "a.db")
    other = hosted(placement, "two/kept", tmp_path / "b.db")
    fleeting = hosted(placement, "two/fleeting")
    for peer, values in ((guilty, [0.5]), (other, [1.5]), (fleeting, [2.5])):
        peer.put("x", values)
    file.write_text(f"700 sinh {behind}")
    reply = guilty.batch(Step("sinh", [0]), inputs=["x"], keep=[1], first=0)
    assert told(reply) == ("" if behind else "recovering")
    # Whoever is next, the fault is told to nobody.
    frame_of = other.message(Step("cosh", [0]), inputs=["x"], keep=[1], first=0, fetch=[1])
    reply, arrays = other.ask(frame_of)
    assert told(reply) in (("recovering",) if behind else ("", "recovering"))
    assert placement.wait_for_living(1, PATIENCE)
    while told(reply):
        reply, arrays = other.ask(frame_of)
    np.testing.assert_allclose(arrays[0], np.cosh([1.5]))
    assert placement.pids != [pid]
    assert placement.engines().restarts == 1
    assert not file.exists()
    while not isinstance(found := guilty.get("x"), np.ndarray):
        assert found.slug == "recovering"
    assert found.tolist() == [0.5]
    assert fleeting.get("x").slug == "device-lost"
