"""What sessions may hold together: in a process, and of a tenant."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import Account, OutOfQuota
from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.limits import MIB
from gradd_protocol.program import Step, Value
from gradd_runtime.process import InlinePlacement
from gradd_runtime.process.budgets import NO_LIMIT, Budgets, Commons, Holding, budgets_of
from gradd_runtime.store import make_record

from tests.runtime.peer import FILL, Peer
from tests.waiting import PATIENCE

PROCESS, TENANT, QUOTA = 48 * MIB, 32 * MIB, 24 * MIB


def large(mib: float) -> Step:
    return Step("zeros", [], {"size": [int(mib * (1 << 18))]})


@pytest.fixture
def placement() -> Iterator[InlinePlacement]:
    made = InlinePlacement(process_bytes=PROCESS, tenant_bytes=TENANT)
    yield made
    made.shutdown()


def peer(placement: InlinePlacement, tenant: str, session: str, **options: Any) -> Peer:
    key = names.keyed(tenant, session)
    placement.open(key, {"quota_bytes": QUOTA, **options})
    return Peer(submit=lambda frame: bytes(placement.submit(key, frame).result(PATIENCE)))


def keep(writer: Peer, mib: float) -> Any:
    """Keep that much more; the problem, if it is refused."""
    return writer.batch(large(mib), keep=[0], first=writer.seq + 1).problem


def test_sessions_share_what_their_tenant_may_hold(placement: InlinePlacement) -> None:
    one, two, other = (peer(placement, *who) for who in (("a", "1"), ("a", "2"), ("b", "1")))
    assert keep(one, 20) is None
    refused = keep(two, 20)
    assert (refused.slug, refused.exception, refused.whose) == ("quota-exceeded", "RuntimeError", "tenant")
    assert (refused.limit, refused.requested) == (TENANT, 20 * MIB)
    assert 20 * MIB < refused.used < 20.1 * MIB
    assert f"of the tenant's {TENANT} bytes" in refused.detail
    assert keep(other, 20) is None
    # What one gives back, the other may take; its own quota holds as before.
    assert one.batch(free=[f"@1.{n}" for n in range(1, 9)]).problem is None
    assert keep(two, 20) is None
    refused = keep(two, 6)
    assert (refused.whose, refused.limit) == (None, QUOTA)


def test_tenants_share_what_the_process_may_hold(placement: InlinePlacement) -> None:
    one, other = peer(placement, "a", "1"), peer(placement, "b", "1")
    assert keep(one, 22) is None
    assert keep(other, 20) is None
    third = peer(placement, "c", "1")
    refused = keep(third, 10)
    assert (refused.whose, refused.limit) == ("engine process", PROCESS)
    placement.close(names.keyed("a", "1"))
    third.ack = third.seq
    assert keep(third, 10) is None


def test_what_is_free_in_a_session_is_not_in_a_tenant_at_its_limit(placement: InlinePlacement) -> None:
    """4 MiB of programs and replies count for nothing in one session, and would in a thousand."""
    sessions = [peer(placement, "a", str(n)) for n in range(6)]
    assert keep(sessions[0], 23) is None
    assert keep(sessions[1], 8) is None
    problems = []
    for writer in sessions[2:]:
        for n in range(3):
            steps = [Step("add", [k, 0], {"alpha": n}) for k in range(1000)]
            problems.append(writer.batch(FILL, *steps).problem)
            writer.ack = writer.seq
    assert [p.whose for p in problems if p is not None][-8:] == ["tenant"] * 8


def test_a_session_beyond_what_is_left_frees_and_reads(placement: InlinePlacement) -> None:
    one, two = peer(placement, "a", "1"), peer(placement, "a", "2")
    two.put("x", np.ones(4, np.float32))
    assert keep(one, 23) is None
    assert keep(two, 8) is None
    assert keep(two, 1).whose == "tenant"
    two.ack = two.seq
    assert two.get("x").tolist() == [1.0] * 4
    assert two.batch(fetch=["x"]).problem is None
    assert two.batch(free=["@1.1"]).problem is None
    assert keep(two, 7) is None


def test_a_record_is_replayed_under_other_limits(tmp_path: Path) -> None:
    """What a tenant's limit refused is refused again, and nothing else is."""
    kept = {}
    for n in (1, 2):
        kept[n] = {"store": str(tmp_path / f"{n}.db"), "durability": "process"}
        make_record(tmp_path / f"{n}.db")
    chain = [Step("mul", [i, Value("float")]) for i in range(50)]

    def write(one: Peer, two: Peer) -> list[Any]:
        one.put("w", np.ones(4, np.float32), True)
        two.put("w", np.ones(4, np.float32), True)
        found = [keep(one, 20), keep(two, 10), keep(two, 6)]
        two.ack = two.seq
        # A program of which some steps are done.
        found.append(two.batch(FILL, large(1), large(9), keep=[0, 1, 2], first=50).problem)
        two.ack = two.seq
        more = {"inputs": ["w"], "values": [1.0] * 50, "keep": [50], "first": 90}
        found.append(two.batch(*chain, **more).problem)
        return found

    first = InlinePlacement(process_bytes=PROCESS, tenant_bytes=TENANT)
    one, two = (peer(first, "a", str(n), **kept[n]) for n in (1, 2))
    found = write(one, two)
    assert [None if p is None else p.whose for p in found] == [None, None, "tenant", "tenant", None]
    assert found[3].applied == 2
    replies = two.replies[-1]
    seen = ask(first, "2", m.ListTensors())
    first.shutdown()
    for process, tenant in ((0, 0), (PROCESS, TENANT), (40 * MIB, 31 * MIB)):
        again = InlinePlacement(process_bytes=process, tenant_bytes=tenant)
        for n in (1, 2):
            again.open(names.keyed("a", str(n)), {"quota_bytes": QUOTA, **kept[n]})
            for part in tmp_path.glob("*.safetensors"):  # from the beginning
                part.unlink()
        assert ask(again, "1", m.Info()).session.tensors == 2
        assert ask(again, "2", m.ListTensors()) == seen
        stored = again.submit(names.keyed("a", "2"), frames.join(frames.encode(m.GetReply(1, two.seq))))
        assert bytes(stored.result(PATIENCE)) == replies
        again.shutdown()


def ask(placement: InlinePlacement, session: str, message: m.Request) -> Any:
    frame = frames.join(frames.encode(message))
    reply = placement.submit(names.keyed("a", session), frame).result(PATIENCE)
    return frames.decode_reply(reply)[0]


def test_a_session_is_not_made_again_where_it_has_no_room(tmp_path: Path) -> None:
    make_record(tmp_path / "1.db")
    kept = {"store": str(tmp_path / "1.db"), "durability": "process"}
    first = InlinePlacement()
    peer(first, "a", "1", **kept).put("x", np.ones(10 << 18, np.float32))
    first.shutdown()
    again = InlinePlacement(process_bytes=20 * MIB)
    hog = peer(again, "b", "1")
    assert keep(hog, 12) is None
    again.open(names.keyed("a", "1"), {"quota_bytes": QUOTA, **kept})
    refused = ask(again, "1", m.ListTensors()).problem
    assert (refused.slug, refused.whose, refused.retry_after) == ("quota-exceeded", "engine process", 1)
    assert (refused.limit, refused.requested > 10 * MIB) == (20 * MIB, True)
    again.close(names.keyed("b", "1"))
    assert len(ask(again, "1", m.ListTensors()).tensors) == 1
    again.shutdown()


def test_what_is_held_is_what_sessions_hold(placement: InlinePlacement) -> None:
    budgets = placement._meter.budgets
    writers = [peer(placement, "a", str(n)) for n in range(3)]
    for writer in writers:
        assert keep(writer, 2) is None
    sessions = [hosted.session for hosted in placement._sessions.values()]
    held = sum(session.account.whole for session in sessions if session is not None)
    assert budgets.process.used == budgets.tenant("a").used == pytest.approx(held, rel=0.01)
    for n in range(3):
        placement.close(names.keyed("a", str(n)))
    ask(placement, "none", m.Info())  # the thread has come so far
    assert (budgets.process.used, budgets.tenant("a").used) == (0, 0)


def test_a_device_says_what_there_is() -> None:
    class Device:
        memory_bytes = 40 * MIB

    found = budgets_of(Device())
    assert (found.process.limit, found.tenant("a").limit) == (36 * MIB, 27 * MIB)
    found = budgets_of(Device(), 20 * MIB, 5 * MIB)
    assert (found.process.limit, found.tenant("a").limit) == (20 * MIB, 5 * MIB)
    assert budgets_of(NUMPY).process.limit == budgets_of(NUMPY).tenant("a").limit == NO_LIMIT


def test_processes_share_what_the_machine_has() -> None:
    """Each sees what the others hold, and what the one held that it takes the place of is free."""
    mapped = Commons(2)
    here, there = (Commons(2, own, os.dup(mapped.fd)) for own in range(2))
    accounts = [Account(QUOTA), Account(QUOTA)]
    one, other = (Holding(Budgets(0, 0, 30 * MIB, commons), "a") for commons in (here, there))
    one.confine(accounts[0])
    accounts[0].take(20 * MIB)
    one.settle(accounts[0])
    assert mapped.used >= 20 * MIB
    other.confine(accounts[1])
    with pytest.raises(OutOfQuota) as refused:
        accounts[1].take(12 * MIB)
    assert refused.value.whose == "daemon"
    accounts[1].take(9 * MIB)
    other.settle(accounts[1])
    mapped.held[0] = 0
    other.confine(accounts[1])
    accounts[1].take(12 * MIB)


def test_no_limit_confines_nobody() -> None:
    account = Account(QUOTA)
    holding = Holding(Budgets(), "a")
    holding.confine(account)
    assert account.brim == QUOTA
    account.take(QUOTA)
    holding.settle(account)
    assert account.brim == QUOTA
