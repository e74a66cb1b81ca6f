"""What a process counts for those who watch it: what it was asked, whoever asked, whatever ended since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.names import keyed
from gradd_runtime.process import SECONDS, Durations, Figures, InlinePlacement, decode_figures
from gradd_runtime.process.meter import counts_of
from gradd_runtime.session import Session
from gradd_runtime.store import make_record

from tests.runtime.peer import BAD, FILL, Peer


@pytest.fixture
def placement() -> Iterator[InlinePlacement]:
    made = InlinePlacement()
    yield made
    made.shutdown()


def peer(placement: InlinePlacement, name: str) -> Peer:
    return Peer(submit=lambda frame: placement.submit(name, frame).result())


def figures(placement: InlinePlacement) -> Figures:
    (process,) = placement.engines().processes
    found = decode_figures(process.figures.result())
    assert found is not None
    return found


def kept(path: Path) -> dict[str, object]:
    make_record(path)
    return {"store": str(path), "durability": "process"}


def test_batches_are_counted_by_what_came_of_them(placement: InlinePlacement) -> None:
    placement.open("a", {})
    writer = peer(placement, "a")
    again = frames.join(frames.encode(writer.message(FILL)))
    writer.frame(again)
    writer.frame(again)
    writer.seq += 1
    writer.ask(writer.message(FILL, seq=9))
    writer.batch(FILL, BAD, ack=1)
    writer.json({"steps": [{"op": "nothing", "inputs": [], "outputs": ["x"]}]})
    writer.json({"steps": []}, idempotency_key="k")
    writer.json({"steps": []}, idempotency_key="k")
    found = figures(placement)
    assert found.counts["batches"] == 4
    assert {name: found.counts[name] for name in ("failed", "replayed", "refused")} == {
        "failed": 2, "replayed": 2, "refused": 1,
    }  # fmt: skip
    assert sum(found.execution.counts) == 4
    assert sum(found.queue.counts) == 8  # attaching too
    assert found.counts["steps"] == 1


def test_plans_are_counted(placement: InlinePlacement) -> None:
    placement.open("a", {})
    writer = peer(placement, "a")
    for _ in range(3):
        writer.batch(FILL)
    counts = figures(placement).counts
    assert (counts["eager"], counts["traced"], counts["planned"]) == (1, 1, 2)


def test_counts_of_plans_outlive_a_snapshot() -> None:
    """After a snapshot the session plans anew, as one that is made again would."""
    session = Session("a")
    writer = Peer(session)
    for _ in range(3):
        writer.batch(FILL)
    before = counts_of(session)
    session.forget()
    assert counts_of(session) == before
    for _ in range(3):
        writer.batch(FILL)
    assert [counts_of(session)[name] for name in ("eager", "traced", "planned")] == [2, 2, 4]


def test_counts_outlive_their_session(placement: InlinePlacement) -> None:
    placement.open("a", {})
    peer(placement, "a").put("x", [1.0, 2.0])
    writer = peer(placement, "a")
    writer.batch(FILL)
    before = figures(placement)
    assert before.sessions["awake"] == 1
    assert before.tensors == 1
    assert before.bytes >= 16
    placement.close("a")
    placement.open("b", {})
    peer(placement, "b")  # the session before is closed once this one answers
    after = figures(placement)
    assert after.counts["batches"] == before.counts["batches"] == 1
    assert after.tensors == 0
    assert after.quota == before.quota


def test_a_replay_counts_nothing(placement: InlinePlacement, tmp_path: Path) -> None:
    placement.open("a", kept(tmp_path / "a.db"))
    assert figures(placement).sessions == {"awake": 0, "asleep": 1, "recovering": 0, "refused": 0}
    writer = peer(placement, "a")
    writer.batch(FILL)
    found = figures(placement)
    assert sum(found.journal.counts) == 2
    assert found.journal_bytes == sum(map(len, writer.sent))
    placement.shutdown()
    later = InlinePlacement()
    later.open("a", {"store": str(tmp_path / "a.db"), "durability": "process"})
    woken = Peer(submit=lambda frame: later.submit("a", frame).result())
    assert isinstance(woken.ask(m.Info())[0], m.SessionReply)
    found = figures(later)
    assert found.counts["batches"] == 0
    assert sum(found.journal.counts) == 1  # attaching again
    woken.batch(FILL)
    assert figures(later).counts["batches"] == 1
    later.shutdown()


def test_a_session_that_is_refused_is_told(placement: InlinePlacement, tmp_path: Path) -> None:
    placement.open("a", {"store": str(tmp_path / "none.db"), "durability": "process"})
    frame = frames.join(frames.encode(m.Info()))
    reply, _ = frames.decode_reply(placement.submit("a", frame).result())
    assert isinstance(reply, m.ProblemReply)
    assert figures(placement).sessions["refused"] == 1


def test_tenants_are_told_apart(placement: InlinePlacement) -> None:
    for tenant, batches in (("default", 1), ("acme", 2)):
        name = keyed(tenant, "s")
        placement.open(name, {})
        writer = peer(placement, name)
        for _ in range(batches):
            writer.batch(FILL)
    tenants = figures(placement).tenants
    assert {name: (t.sessions, t.batches) for name, t in tenants.items()} == {
        "default": (1, 1), "acme": (1, 2),
    }  # fmt: skip
    assert all(tenant.seconds > 0 for tenant in tenants.values())


def test_durations_fall_into_their_classes() -> None:
    durations = Durations()
    for seconds in (0.0, SECONDS[0], 0.02, 1e9):
        durations.add(seconds)
    assert durations.counts[0] == 2
    assert durations.counts[SECONDS.index(0.025)] == 1
    assert durations.counts[-1] == 1
    assert sum(durations.counts) == 4
    assert durations.seconds > 1e9


def test_what_is_no_figures_is_none() -> None:
    assert decode_figures(b"") is None
    assert decode_figures(b"{}") is None
