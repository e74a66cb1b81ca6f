"""Signs of life: beats, the time that a process computed, and an end with the other side's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import pytest
from gradd_runtime.process import beats, cpu_seconds

from tests.waiting import PATIENCE

CHILD = """
import sys, threading
from gradd_runtime.process import beat, hang_on
{prepare}
print("ready", flush=True)
{work}
"""
#: for hours, in one call that never lets another thread run
HOLDS_THE_LOCK = "sum(range(1 << 60))"
LETS_GO = "threading.Event().wait()"


class Child:
    """A process with a lifeline and a pulse; `ours` are this side's ends."""

    def __init__(self, prepare: str, work: str) -> None:
        pulse, theirs = os.pipe()
        lifeline, mine = os.pipe()
        self.pulse, self.lifeline = pulse, mine
        os.set_blocking(pulse, False)
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD.format(prepare=prepare, work=work), str(theirs), str(lifeline)],
            pass_fds=[theirs, lifeline],
            stdout=subprocess.PIPE,
            text=True,
        )
        os.close(theirs)
        os.close(lifeline)
        out: IO[str] | None = self.process.stdout
        assert out is not None
        assert out.readline() == "ready\n"

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        os.close(self.pulse)
        if self.lifeline >= 0:
            os.close(self.lifeline)

    def cut(self) -> int:
        """Close the lifeline; how the process ends."""
        os.close(self.lifeline)
        self.lifeline = -1
        return self.process.wait(PATIENCE)


@pytest.fixture
def children() -> Iterator[list[Child]]:
    made: list[Child] = []
    yield made
    for child in made:
        child.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal ends a process on Linux only")
@pytest.mark.parametrize("work", [HOLDS_THE_LOCK, LETS_GO])
def test_a_process_ends_with_the_other_side(children: list[Child], work: str) -> None:
    children.append(Child("hang_on(int(sys.argv[2]))", work))
    assert children[0].cut() == -signal.SIGIO


def test_one_that_beats_to_nobody_ends(children: list[Child]) -> None:
    child = Child("beat(int(sys.argv[1]), 0.01)", LETS_GO)
    children.append(child)
    while not beats(child.pulse):
        assert child.process.poll() is None
    os.dup2(child.lifeline, child.pulse)  # the last reader goes
    assert child.process.wait(PATIENCE) == 1


def test_what_holds_the_lock_computes_and_does_not_beat(children: list[Child]) -> None:
    child = Child("beat(int(sys.argv[1]), 0.01)", HOLDS_THE_LOCK)
    children.append(child)
    begun = cpu_seconds(child.process.pid)
    if begun is None:
        pytest.skip("this system does not tell what a process computes")
    while (now := cpu_seconds(child.process.pid)) is not None and now < begun + 0.2:
        beats(child.pulse)
    assert now is not None
    assert not beats(child.pulse)


def test_nothing_is_told_of_a_process_that_is_not_there() -> None:
    assert cpu_seconds(0) is None
