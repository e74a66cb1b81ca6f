"""When sessions leave the memory of a process, and that nobody who uses them can tell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Commons, Hosted, InlinePlacement, PagingRules, paging, resident
from gradd_runtime.process.paging import RECENT_SECONDS, SESSION_BYTES, Pager
from gradd_runtime.program import Profiler
from gradd_runtime.store import make_record

from tests.runtime.peer import FILL, Peer
from tests.waiting import PATIENCE

GIB = 1 << 30


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Room:
    """Sessions with a pager."""

    def __init__(self, home: Path, rules: PagingRules, commons: Commons | None) -> None:
        self.clock = Clock()
        self.pager = Pager(rules, commons, self.clock)
        self._home = home
        self.hosts: dict[str, Hosted] = {}

    def use(self, name: str) -> Hosted:
        if name not in self.hosts:
            record = self._home / f"{name}.db"
            make_record(record)
            self.hosts[name] = Hosted(name, {"store": str(record), "durability": "process"}, NUMPY)
        host = self.hosts[name]
        while not host.wake():
            """An entry at a time."""
        host.answer(frames.join(frames.encode(m.PutTensor("x"), [np.zeros(3)])))
        self.pager.used(host)
        return host

    @property
    def awake(self) -> set[str]:
        return {name for name, host in self.hosts.items() if host.session is not None}

    def close(self) -> None:
        for host in self.hosts.values():
            host.close()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Any]:
    made: list[Room] = []

    def make(commons: Commons | None = None, **rules: Any) -> Room:
        made.append(Room(tmp_path, PagingRules(**rules), commons))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_who_is_idle_for_long_leaves(room: Any) -> None:
    here = room(idle=60)
    assert here.pager.wait() is None
    here.use("a")
    here.clock.now += 10
    here.use("b")
    here.use("a")
    here.clock.now += 20
    here.use("b")
    assert here.pager.wait() == 40
    assert not here.pager.page()
    here.clock.now += 40
    assert here.pager.wait() == 0
    assert not here.pager.short
    assert here.pager.page()
    assert here.awake == {"b"}
    assert not here.pager.page()
    here.clock.now += 1000
    assert here.pager.page()
    assert (here.awake, len(here.pager), here.pager.wait()) == (set(), 0, None)
    here.use("a")
    assert (here.awake, here.pager.wait()) == ({"a"}, 60)


def test_where_files_run_short_the_one_that_answered_least_recently_leaves(room: Any) -> None:
    here = room(awake=2)
    for name in "abca":
        here.use(name)
        if here.pager.short:
            assert here.pager.page()
    assert here.awake == {"c", "a"}
    here.use("b")
    assert here.pager.short
    assert here.pager.page({here.hosts["c"]}), "one that has frames waiting stays"
    assert here.awake == {"c", "b"}
    assert not here.pager.short


def test_where_memory_runs_short_those_leave_that_did_not_answer_of_late(
    room: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = [GIB]
    monkeypatch.setattr(paging, "resident", lambda pid: taken[0])
    here = room(resident=GIB)
    for name in "abc":
        here.use(name)
        here.clock.now += 5
    assert here.pager.wait() is None
    taken[0] = GIB + 3 * SESSION_BYTES // 2
    here.use("c")
    assert here.pager.short
    assert here.pager.wait() == 0
    assert here.pager.page()
    assert here.awake == {"b", "c"}
    assert here.pager.page()
    assert (here.awake, here.pager.short) == ({"c"}, False)
    assert here.pager.wait() is None
    here.clock.now += 1
    here.use("c")
    assert here.pager.short
    assert not here.pager.page(), "it would be back at once"
    assert here.pager.wait() == RECENT_SECONDS


def test_processes_share_memory(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly, but for what others leave; those that hold nothing have no share."""
    taken = [9 * GIB]
    monkeypatch.setattr(paging, "resident", lambda pid: taken[0])
    mapped = Commons(8)
    here = room(Commons(8, 3, os.dup(mapped.fd)), together=8 * GIB)

    def excess() -> int:
        here.clock.now += 1
        here.use("a")
        return int(here.pager._excess)

    assert excess() == GIB
    mapped.held[3] = 7 * GIB  # its own
    assert excess() == GIB
    mapped.held[0] = GIB
    assert excess() == 2 * GIB
    mapped.held[0] = 6 * GIB
    assert excess() == 5 * GIB
    mapped.held[7] = 6 * GIB
    assert excess() == 9 * GIB - 8 * GIB // 3
    taken[0] = 2 * GIB
    assert (excess(), here.pager.short) == (0, False)


def test_a_limit_of_its_own_is_shared_with_nobody(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "resident", lambda pid: 3 * GIB)
    mapped = Commons(2)
    mapped.held[0] = GIB
    here = room(Commons(2, 1, os.dup(mapped.fd)), resident=GIB, together=8 * GIB)
    here.use("a")
    assert here.pager._excess == 2 * GIB


def test_one_that_cannot_leave_is_tried_again_later(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = room(idle=60)
    here.use("a")
    here.clock.now += 60
    with monkeypatch.context() as patch:
        patch.setattr(Hosted, "snapshot", lambda self: False)
        assert not here.pager.page()
    assert here.pager.wait() == 60
    here.clock.now += 60
    assert here.pager.page()
    here.use("a").session.profiler = Profiler(lambda: None)
    here.clock.now += 60
    assert not here.pager.page(), "what a profile has measured would be lost"
    assert here.pager.wait() == RECENT_SECONDS
    here.hosts["a"].session.profiler = None


def test_sessions_that_are_kept_nowhere_stay(room: Any) -> None:
    here = room(idle=60, awake=1)
    light = Hosted("light", {"durability": "memory"}, NUMPY)
    here.pager.used(light)
    assert (len(here.pager), here.pager.wait()) == (0, None)
    here.pager.used(here.use("a"))
    here.pager.forget(here.hosts["a"])
    assert here.pager.wait() is None


def test_memory_that_was_freed_is_given_back() -> None:
    """glibc keeps it with the settings of engine processes; this one has others, and loses nothing by it."""
    before = resident(os.getpid())
    paging.give_back()
    assert 0 < resident(os.getpid()) <= before + (64 << 20)


def test_sessions_are_awake_as_far_as_files_go(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(paging.resource, "getrlimit", lambda what: (64, 1000))
    monkeypatch.setattr(paging.resource, "setrlimit", lambda what, limits: asked.append(limits))
    assert paging.most_awake() == 160
    assert asked == [(1000, 1000)]
    monkeypatch.setattr(paging.resource, "getrlimit", lambda what: (64, 64))
    assert paging.most_awake() == 1


def test_a_process_has_its_idle_sessions_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {name: Event() for name in "abc"}
    real = Hosted.sleep

    def sleep(host: Hosted) -> bool:
        slept = real(host)
        left[host.name].set()
        return slept

    monkeypatch.setattr(Hosted, "sleep", sleep)
    placement = InlinePlacement(rules=PagingRules(idle=0.001))
    peers = {}
    try:
        for name in left:
            make_record(tmp_path / f"{name}.db")
            store = str(tmp_path / f"{name}.db")
            placement.open(name, {"store": store, "durability": "process"})
            peers[name] = Peer(submit=lambda frame, name=name: placement.submit(name, frame).result())
            peers[name].put("x", np.arange(3.0))
        for n in range(3):
            for name, peer in peers.items():
                left[name].clear()
                assert peer.batch(FILL).problem is None
                assert left[name].wait(PATIENCE)
                assert peer.get("x").tolist() == [0.0, 1.0, 2.0]
                assert peer.seq == n + 1
    finally:
        placement.shutdown()
    assert {path.suffix for path in tmp_path.iterdir()} == {".db", ".log", ".asleep", ".safetensors"}
