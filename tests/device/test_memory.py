"""A device's memory: what the allocator takes counts, and what happens where there is no more."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import numpy as np
import pytest
from gradd_engine.data import DeviceFull, OutOfQuota
from gradd_engine.data.memory import FREE_BYTES
from gradd_engine.kernels.cuda import cublas
from gradd_protocol.program import Step
from gradd_runtime.process import Hosted, InlinePlacement
from gradd_runtime.store import make_record

from tests import standin
from tests.device.test_failing import hosted, told
from tests.runtime.peer import Peer
from tests.standin.cupy_like import PLANS
from tests.standin.machine import MACHINE
from tests.standin.memory import POOL
from tests.standin.sessions import device, sessions_there
from tests.waiting import PATIENCE

xp = standin.CUPY
#: elements of float32, and their bytes
COUNT, BYTES = 1 << 18, 1 << 20


@pytest.fixture(autouse=True)
def renewed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Hosted, "due", False)  # a snapshot drops plans, and entries that could be replayed
    yield
    GAPS.clear()
    gc.collect()
    POOL.set_limit()
    MACHINE.renew()


#: what lies between blocks of others
GAPS: list[Any] = []


def leave(room: int) -> None:
    """Let the device have so many bytes more, and none in between."""
    GAPS.clear()
    POOL.free_all_blocks()
    GAPS.extend(POOL.malloc(size) for size in POOL.gaps())
    MACHINE.memory = MACHINE.taken[0] + room


def test_what_is_full_says_so() -> None:
    backend = device()
    leave(BYTES)
    held = xp.zeros(COUNT, "f")
    with pytest.raises(DeviceFull, match=r"out of memory: tried to allocate 1048576 bytes; \d+ of the \d+ "):
        xp.zeros(COUNT, "f")
    del held
    xp.zeros(COUNT, "f")
    backend.verify()


def test_unused_blocks_are_given_back_first() -> None:
    device()
    POOL.free_all_blocks()
    POOL.set_limit(POOL.total_bytes() + BYTES)
    many = [xp.zeros(COUNT // 4, "f") for _ in range(4)]
    many.clear()
    xp.zeros(COUNT, "f")  # the pool itself looks at its limit before it gives anything back


def test_work_areas_are_given_up() -> None:
    device()
    leave(BYTES)
    PLANS.areas.append(xp.zeros(COUNT, "f"))
    xp.zeros(COUNT, "f")
    assert not PLANS.areas


def test_a_script_gets_pytorchs_error_and_goes_on() -> None:
    with sessions_there(), gradd.connect("local:"):
        x = gradd.ones(COUNT)
        for _ in range(3):
            (x * 2 + 1).sum().item()
        leave(BYTES // 2)
        with pytest.raises(gradd.OutOfMemoryError, match="that the GPU has"):
            (x * 2 + 1).sum().item()
        leave(4 * BYTES)
        assert (x * 2 + 1).sum().item() == 3 * COUNT


STEPS = (Step("mul", [0, 0], {}), Step("add", [1, 0], {"alpha": 1}), Step("sum", [2], {}))


def planned(peer: Peer, keep: list[int], first: int) -> Any:
    """A batch of two large results and their sum."""
    return peer.batch(*STEPS, inputs=["x"], keep=keep, first=first, fetch=[3])


def test_plans_of_others_are_dropped_unless_their_record_depends_on_them(tmp_path: Path) -> None:
    with standin.installed():
        placement = InlinePlacement("cuda")
    peers = [hosted(placement, "t/a"), hosted(placement, "t/b"), hosted(placement, "t/c", tmp_path / "c.db")]
    for peer in peers:
        peer.put("x", [1.0] * COUNT)
        for n in range(3):
            assert told(planned(peer, [], n)) == ""
    leave(BYTES // 2)
    assert told(planned(peers[0], [], 4)) == "quota-exceeded"
    there = {
        name: h.session.plans.counts["bytes"] > 0 for name, h in placement._sessions.items() if h.session
    }
    assert there == {"t/a": True, "t/b": False, "t/c": True}
    leave(8 * BYTES)
    for peer in peers:
        assert told(planned(peer, [], 5)) == ""
    placement.shutdown()


def test_a_session_comes_back_as_it_was_where_memory_ran_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    options = {"store": str(path), "durability": "process"}
    make_record(path)
    monkeypatch.setattr(Hosted, "sleep", lambda _: False)
    with standin.installed():
        placement = InlinePlacement("cuda")
    placement.open("t/a", options)
    peer = Peer(submit=lambda frame: bytes(placement.submit("t/a", frame).result(PATIENCE)))
    peer.put("x", [1.0] * COUNT)
    for n in range(3):
        assert told(planned(peer, [], n)) == ""
    leave(BYTES)
    reply = planned(peer, [], 3)
    assert (reply.problem.slug, reply.problem.status, reply.applied) == ("quota-exceeded", 507, 0)
    assert "that the GPU has" in reply.problem.detail
    leave(8 * BYTES)
    assert told(planned(peer, [3], 4)) == ""
    placement.shutdown()
    with standin.installed():
        placement = InlinePlacement("cuda")
    placement.open("t/a", options)
    assert peer.get(f"@{peer.writer}.4").tolist() == 2 * COUNT
    assert told(planned(peer, [3], 5)) == ""
    placement.shutdown()


def test_an_account_counts_blocks() -> None:
    backend = device()
    account = backend.account(4096)
    assert [backend.cost(n) for n in (0, 1, 512, 513)] == [0, 512, 512, 1024]
    account.take(1)
    account.take_all([1, 0, 513])
    account.count(512)
    assert account.used == 512 + 512 + 1024 + 512
    account.limit, account.free = account.held + 1536, FREE_BYTES
    account.afford(1000, 500)
    with pytest.raises(OutOfQuota):
        account.afford(1025, 1)
    for size in (1, 1, 0, 513, 512):
        account.give(size)
    assert account.used == 0


@pytest.mark.parametrize("times", [1, 4], ids=["eager", "planned"])
def test_sessions_count_what_the_pool_takes(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cublas.LIBRARIES, xp, None)  # a thread's workspaces are no session's
    monkeypatch.setenv("GRADD_CUDA_GRAPHS", "0")  # what they keep is in no session's account
    with sessions_there() as placement, gradd.connect("local:") as session:
        x = gradd.rand(100, requires_grad=True)
        session.flush()
        (there,) = placement._sessions.values()
        assert there.session is not None
        account, kept = there.session.account, []
        before = account.used, POOL.used_bytes()
        for _ in range(times):
            kept = [gradd.ones(n) * 2 for n in (0, 1, 100, 128, 129)]
            kept += gradd.ones(20, 3).max(1)
            kept += [x.reshape(10, 10).t() * 2, x.detach().clone(), (x * x).expand(3, 100), x.double() + 1]
            session.flush()
        plans = [plan for found in there.session.plans._known.values() for plan in found]
        constants = [x for plan in plans for x in plan._template if isinstance(x, xp.ndarray)]
        assert bool(constants) == (there.session.plans.counts["planned"] > 0) == (times > 1)
        assert there.session.plans.counts["bytes"] >= 512 * len(constants)
        assert account.used - before[0] + 512 * len(constants) == POOL.used_bytes() - before[1]
        del kept


def test_a_quota_is_of_blocks() -> None:
    with sessions_there() as placement, gradd.connect("local:") as session:
        session.flush()
        (there,) = placement._sessions.values()
        assert there.session is not None
        account = there.session.account
        account.limit = account.used + 100 * 512
        account.free = 1 << 30  # only elements count
        many = [gradd.zeros(1) for _ in range(100)]
        session.flush()
        with pytest.raises(gradd.OutOfMemoryError, match="512 bytes"):
            gradd.zeros(1).item()
        del many


#: the session's memory is written to first, and then more is needed
WRITES = (Step("add_", [0, 0], {"alpha": 1}), Step("mul", [0, 0], {}), Step("sum", [2], {}))


@pytest.mark.parametrize("graphs", ["0", "1"], ids=["kernels", "graph"])
def test_memory_that_runs_out_after_writes_leaves_no_half_of_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graphs: str
) -> None:
    """Of a session that is kept: one that is not says what it was left with."""
    monkeypatch.setenv("GRADD_CUDA_GRAPHS", graphs)
    with standin.installed():
        placement = InlinePlacement("cuda")
    peer = hosted(placement, "t/a", tmp_path / "a.db")
    peer.put("x", np.ones(COUNT, np.float32))
    for n in range(4):
        assert told(peer.batch(*WRITES, inputs=["x"], keep=[2], first=2 * n)) == ""
        peer.batch(inputs=[], free=[f"@{peer.writer}.{2 * n}"])
    session = placement._sessions["t/a"].session
    assert session is not None
    assert session.plans.counts["planned"] > 0
    del session
    leave(BYTES // 2)
    reply = peer.batch(*WRITES, inputs=["x"], keep=[2], first=99)
    assert (reply.problem.slug, reply.problem.status) == ("quota-exceeded", 507)
    leave(64 * BYTES)
    found = peer.get("x")
    assert set(found.tolist()) in ({2.0**4}, {2.0**5}), "neither before the batch nor after its first step"
    before = found[0]
    assert told(peer.batch(*WRITES, inputs=["x"], keep=[2], first=100)) == ""
    placement.shutdown()
    with standin.installed():
        placement = InlinePlacement("cuda")
    placement.open("t/a", {"store": str(tmp_path / "a.db"), "durability": "process"})
    peer.submit = lambda frame: bytes(placement.submit("t/a", frame).result(PATIENCE))
    assert set(peer.get("x").tolist()) == {2 * before}
    placement.shutdown()


@pytest.mark.parametrize("planned_", [False, True], ids=["eager", "planned"])
def test_a_session_that_a_device_has_no_room_for_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planned_: bool
) -> None:
    """Its record is sound, and it comes back when there is room."""
    monkeypatch.setattr(Hosted, "sleep", lambda _: False)
    monkeypatch.setenv("GRADD_CUDA_GRAPHS", "0")
    path = tmp_path / "a.db"
    with standin.installed():
        placement = InlinePlacement("cuda")
    peer = hosted(placement, "t/a", path)
    peer.put("x", np.ones(COUNT, np.float32))
    for n in range(3 if planned_ else 1):
        assert told(peer.batch(*WRITES, inputs=["x"], keep=[2], first=n)) == ""
    placement.shutdown()
    del placement
    gc.collect()
    with standin.installed():
        placement = InlinePlacement("cuda")
    placement.open("t/a", {"store": str(path), "durability": "process"})
    peer.submit = lambda frame: bytes(placement.submit("t/a", frame).result(PATIENCE))
    leave((5 if planned_ else 2) * BYTES // 2)
    problem = peer.get("x")
    assert (problem.slug, problem.retry_after) == ("store-failed", 1)
    leave(64 * BYTES)
    assert set(peer.get("x").tolist()) == {8.0 if planned_ else 2.0}
    placement.shutdown()
