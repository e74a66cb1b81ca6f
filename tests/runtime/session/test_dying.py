"""Memory dies when a collection or another thread drops its holder: between any two lines of what runs."""

from __future__ import annotations

import random
import sys
from types import FrameType
from typing import Any

import pytest
from gradd_engine.data import Account, Lease
from gradd_runtime.session import Session

from tests.runtime.store.scripts import LIMIT, ListStore, every_kind

pytestmark = pytest.mark.usefixtures("settled")
NBYTES = 8


class Dying:
    """Traces what runs: at some lines memory of `account` dies, at others it comes."""

    def __init__(self, account: Account, seed: int) -> None:
        self.account, self.dice = account, random.Random(seed)
        self.held: list[Lease] = []
        self.died = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            if self.held and self.dice.random() < 0.5:
                self.held.pop()
                self.died += 1
            else:
                self.account.count(NBYTES)
                self.held.append(Lease(self.account, NBYTES))
        return self


def used_by(sent: list[bytes], seed: int | None = None) -> int:
    """What a session holds after these frames. `seed`: of what dies beside; None leaves it out."""
    session = Session("script", seed=5, limit=LIMIT, store=ListStore())
    dying = Dying(session.account, seed or 0)
    before = sys.gettrace()
    if seed is not None:
        sys.settrace(dying)
    try:
        for frame in sent:
            session.submit(frame)
    finally:
        sys.settrace(before)
    assert (dying.died > 10_000) is (seed is not None)
    dying.held.clear()
    session.forget()
    return session.account.used


@pytest.mark.parametrize("seed", range(3))
def test_what_dies_at_any_line_is_counted(seed: int) -> None:
    sent = every_kind()
    assert used_by(sent, seed) == used_by(sent)
