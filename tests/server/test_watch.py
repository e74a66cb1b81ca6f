"""When an engine process is given up."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from gradd_server.placement import watch
from gradd_server.placement.watch import LOOKS, Watch


class Process:
    """A process of the test's making: it beats and computes as told."""

    def __init__(self) -> None:
        self.computed: float | None = 0.0
        pipe, self._beating = os.pipe()
        self.pipe = pipe

    def beat(self) -> None:
        os.write(self._beating, b".")

    def close(self) -> None:
        os.close(self._beating)


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    made = Process()
    monkeypatch.setattr(watch, "cpu_seconds", lambda pid: made.computed)
    yield made
    made.close()


@pytest.fixture
def watched(process: Process) -> Iterator[Watch]:
    made = Watch(1, process.pipe, 1.0)
    yield made
    made.close()


def test_one_that_does_nothing_is_given_up(watched: Watch) -> None:
    seen = []
    for _ in range(LOOKS):
        seen.append((watched.doubtful, watched.over))
        watched.look()
    assert seen[0] == (False, False)
    assert seen[-1] == (True, False)
    assert watched.over


@pytest.mark.parametrize("sign", ["beat", "computes"])
def test_one_sign_is_enough(process: Process, watched: Watch, sign: str) -> None:
    for _ in range(3):
        for _ in range(LOOKS - 1):
            watched.look()
        assert watched.doubtful
        if sign == "beat":
            process.beat()
        else:
            assert process.computed is not None
            process.computed += 0.5
        watched.look()
        assert not watched.doubtful


def test_who_waits_for_a_lock_computes_a_little(process: Process, watched: Watch) -> None:
    for _ in range(LOOKS):
        assert process.computed is not None
        process.computed += 0.001
        watched.look()
    assert watched.over


def test_where_nothing_is_told_the_beats_decide(process: Process, watched: Watch) -> None:
    process.computed = None
    for _ in range(LOOKS):
        process.beat()
        watched.look()
    assert not watched.doubtful
    for _ in range(LOOKS):
        watched.look()
    assert watched.over
