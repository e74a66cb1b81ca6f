"""A session made from a snapshot and the entries after it is the session, to the bit: also where its record
says what there was no memory for, which is numbered by what it asked for.
"""

from __future__ import annotations

import io
import os
import random
from typing import Any

import gradd
import pytest
from gradd_engine.freezing import CannotFreeze
from gradd_protocol import frames
from gradd_runtime.process import InlinePlacement
from gradd_runtime.session import Session, replay

from tests.runtime.plan.test_plans import _train, random_program
from tests.runtime.store.scripts import ListStore, differences

pytestmark = pytest.mark.usefixtures("settled")
#: random programs in all; `make faults` runs more of them
PROGRAMS = int(os.environ.get("GRADD_RECORDS", "60"))
Frames = dict[str, list[bytes]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Frames:
    """The frames that each session of this process was sent."""
    found: Frames = {}
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        found.setdefault(name, []).append(bytes(frame))
        return real(self, name, frame)

    monkeypatch.setattr(InlinePlacement, "_run", run)
    return found


def cut(sent: list[bytes], at: int, limit: int, then: int | None = None) -> tuple[Session, Session] | None:
    """A session that was frozen after so many frames and went on, and the one of the snapshot and the entries
    that came; None where it could not be frozen there. `then`: what it may hold afterwards.
    """
    session = Session("script", store=ListStore(), limit=limit)
    for frame in sent[:at]:
        session.submit(frame)
    try:
        data = frames.join(session.freeze())
    except CannotFreeze:
        return None
    session.forget()
    entries = session.entries
    session.account.limit = then or limit
    for frame in sent[at:]:
        session.submit(frame)
    again = Session.thaw(io.BytesIO(data), limit=then or limit)
    replay(again, ListStore(session.store.entries()[entries:]))
    session.counts["messages"] = again.counts["messages"]  # reads after the last entry are counted by nobody
    return session, again


def refusals(session: Session) -> int:
    return sum(entry.outcome == "quota-exceeded" for entry in session.store.entries())


@pytest.mark.parametrize("part", range(2))
def test_random_programs_with_and_without_room(recorded: Frames, part: int) -> None:
    done = refused = 0
    for seed in range(part, PROGRAMS, 2):
        name, _ = random_program(seed, "resumed")
        sent = recorded.pop(name)
        limit, dice = 1 << 30, random.Random(seed)
        for share in (None, 0.8, 0.4):
            at = dice.randrange(1, len(sent))
            pair = cut(sent, at, limit)
            if pair is None:
                break
            assert differences(*pair) == [], f"seed {seed}, cut at {at}, {share} of what it takes"
            done, refused = done + 1, refused + refusals(pair[0])
            if share is None:
                peak = pair[0].account.peak
            limit = int(peak * (share or 1) * 0.9)
    assert done > PROGRAMS // 2
    assert refused > PROGRAMS // 8


def test_a_planned_training_that_runs_out_of_memory(recorded: Frames) -> None:
    with gradd.connect("local:", session="short") as session:
        _train(gradd.optim.AdamW, lr=0.01)
        name = session.name
    sent = recorded.pop(name)
    whole = cut(sent, 1, 1 << 30)
    assert whole is not None
    assert whole[0].plans.counts["planned"] > 4
    refused = 0
    for at in range(len(sent) // 2, len(sent), 3):
        for share in range(50, 100, 5):
            pair = cut(sent, at, 1 << 30, whole[0].account.peak * share // 100)
            assert pair is not None
            assert differences(*pair) == [], (at, share)
            refused += refusals(pair[0])
    assert refused > 20
