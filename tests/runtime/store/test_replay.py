"""A session replayed from its record is the session, to the bit."""

from __future__ import annotations

import os
from typing import Any

import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import InlinePlacement
from gradd_runtime.session import RECORDED, Session, replay
from gradd_runtime.store import Damaged

from tests.runtime.plan.test_plans import random_program
from tests.runtime.store.scripts import ListStore, differences, every_kind, opened, told

pytestmark = pytest.mark.usefixtures("settled")
#: random programs in all; `make faults` runs more of them
PROGRAMS = int(os.environ.get("GRADD_RECORDS", "60"))


@pytest.fixture(scope="module")
def script() -> list[bytes]:
    return every_kind()


def replayed(store: ListStore, **options: Any) -> Session:
    session = Session("script", **options)
    replay(session, store)
    return session


def test_a_session_with_every_kind_of_request(script: list[bytes]) -> None:
    session = opened()
    for frame in script:
        session.submit(frame)
    kinds = {type(frames.decode_request(entry.frame)[0]) for entry in session.store.entries()}
    assert kinds == RECORDED
    outcomes = {entry.outcome for entry in session.store.entries()}
    assert outcomes >= {"applied", "skipped", "op-failed", "invalid-op", "quota-exceeded"}
    again = opened()
    replay(again, session.store)
    assert differences(session, again) == []


def test_it_goes_on_as_the_first_does(script: list[bytes]) -> None:
    whole = opened()
    replies = [whole.submit(frame) for frame in script]
    for cut in range(0, len(script), 7):
        first = opened()
        for frame in script[:cut]:
            first.submit(frame)
        second = opened()
        replay(second, first.store)
        assert [told(second.submit(f)) for f in script[cut:]] == [told(r) for r in replies[cut:]], cut
        assert differences(whole, second, ignored=["counts"]) == [], cut


@pytest.mark.parametrize("part", range(2))
def test_random_programs_with_and_without_room(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    sent: dict[str, list[bytes]] = {}
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        sent.setdefault(name, []).append(bytes(frame))
        return real(self, name, frame)

    monkeypatch.setattr(InlinePlacement, "_run", run)
    entries = refusals = 0
    for seed in range(part, PROGRAMS, 2):
        name, _ = random_program(seed, "records")
        wanted = sent.pop(name)
        limit = 1 << 30
        for share in (None, 0.8, 0.4):
            session = Session("script", store=ListStore(), limit=limit)
            for frame in wanted:
                session.submit(frame)
            again = replayed(session.store, limit=limit)
            # reads after the last entry are counted by nobody
            session.counts["messages"] = again.counts["messages"]
            assert differences(session, again) == [], f"seed {seed}, {share} of what it takes"
            entries += again.entries
            refusals += sum(e.outcome == "quota-exceeded" for e in session.store.entries())
            if share is None:
                peak = session.account.peak
            limit = int(peak * (share or 1) * 0.9)
    assert entries > PROGRAMS
    assert refusals > PROGRAMS // 4


@pytest.mark.parametrize("kind", sorted(RECORDED, key=lambda kind: kind.__name__))
def test_a_record_without_a_kind_is_found_out(
    script: list[bytes], kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = opened()
    real = ListStore.append

    def append(self: ListStore, entry: Any) -> None:
        if not isinstance(frames.decode_request(entry.frame)[0], kind):
            real(self, entry._replace(n=len(self.kept) + 1))

    monkeypatch.setattr(ListStore, "append", append)
    for frame in script:
        session.submit(frame)
    again = opened()
    try:
        replay(again, session.store)
    except Damaged:
        return
    assert differences(session, again) != []


def test_a_gap_and_another_result_are_refused(script: list[bytes]) -> None:
    session = opened()
    for frame in script:
        session.submit(frame)
    kept = session.store.entries()
    with pytest.raises(Damaged, match="after entry 4 comes entry 6"):
        replay(opened(), ListStore([*kept[:4], *kept[5:]]))
    at = next(n for n, entry in enumerate(kept) if entry.reply)
    other = kept[at]._replace(reply=kept[at].reply ^ 1)
    with pytest.raises(Damaged, match=f"entry {at + 1} "):
        replay(opened(), ListStore([*kept[:at], other]))
    noise = kept[0]._replace(frame=frames.join(frames.encode(m.Info())))
    with pytest.raises(Damaged, match="changes nothing"):
        replay(opened(), ListStore([noise]))


def test_memory_that_was_not_there_is_refused_again_and_what_was_is_not(script: list[bytes]) -> None:
    """What memory is free depends on when references die, so a record says what was refused."""
    session = opened()
    for frame in script:
        session.submit(frame)
    for limit in (1 << 30, 1 << 10):
        again = replayed(session.store, seed=5, limit=limit)
        assert differences(session, again) == ["limit"]
