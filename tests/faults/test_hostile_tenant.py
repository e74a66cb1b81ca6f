"""Two tenants of a daemon, one of them hostile in every way that `mix` knows: the other works on, and what it
computes is what it computes alone, to the bit.

No time is asserted. `GRADD_NEIGHBOURS` says how often each kind is measured (`make faults`: once): what the
other waits alone and beside it, in turns, is printed at the end of the run. In life the hostile tenant has a
machine of its own. Here it gets the time that others leave (SCHED_IDLE); what it was answered is printed too.
`nothing` and `spin` are no hostility, but what this machine makes of two equal figures, and what a process of
that policy does that never waits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from gradd_server.keys import KeyFile

from tests.faults.daemon import Daemon
from tests.faults.mix import CONTROLS, KINDS
from tests.faults.tenant import undisturbed
from tests.waiting import PATIENCE

ROUNDS = int(os.environ.get("GRADD_NEIGHBOURS", "0"))
#: for how long the honest tenant works at a time
SECONDS = 2.0 if ROUNDS else 0.3
#: how much of the mix there is where all of it is tried at once
SHARE = 0.02
#: what a hostile request may be answered; 0: its connection was closed, or it was not yet
REFUSED = {0, 400, 404, 408, 409, 413, 422, 429, 503, 507}


class Child:
    """A tenant in a process of its own, which does something whenever it is told."""

    def __init__(self, module: str, *arguments: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, **environment},
        )  # fmt: skip
        assert self.hear() == "ready"

    def hear(self) -> str:
        """The next line that it says."""
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said, f"it ended with code {self._process.wait(PATIENCE)}"
        return said.strip()

    def tell(self) -> None:
        """Say that it is time."""
        assert self._process.stdin is not None
        self._process.stdin.write("now\n")

    def answer(self) -> Any:
        """What it says when it is done."""
        return json.loads(self.hear())

    def stand_back(self) -> None:
        """Leave the processors to whoever wants them."""
        os.sched_setscheduler(self._process.pid, os.SCHED_IDLE, os.sched_param(0))

    def end(self) -> None:
        """Let it end."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def honest(daemon: Daemon) -> Iterator[Child]:
    key = KeyFile(daemon.data).create("honest")[0]
    child = Child("tests.faults.tenant", daemon.url, str(SECONDS), GRADD_API_KEY=key)
    yield child
    child.end()


@pytest.fixture
def hostile(daemon: Daemon) -> Iterator[Callable[..., Child]]:
    children: list[Child] = []

    def start(*kinds: str, scale: float = 1.0) -> Child:
        key = KeyFile(daemon.data).create("hostile")[0]
        children.append(Child("tests.faults.mix", daemon.url, key, *kinds, GRADD_MIX=str(scale)))
        return children[-1]

    yield start
    for child in children:
        child.end()


class Waits:
    """What the honest tenant waited, of each of its two requests, alone and beside the other (seconds)."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], list[float]] = {}

    def add(self, where: str, told: dict[str, Any]) -> None:
        """What it told of one time."""
        for request in ("add", "step"):
            self._seen.setdefault((request, where), []).extend(told[request])

    def __str__(self) -> str:
        parts = []
        for request, name in (("add", "a+b"), ("step", "MLP step")):
            alone, beside = (sorted(self._seen[request, where]) for where in ("alone", "beside"))
            waits = [(n, 1e3 * _at(n, alone), 1e3 * _at(n, beside)) for n in (50, 99)]
            said = [
                f"p{n} {before:.2f} -> {after:.2f} ms ({after / before:.1f}x)" for n, before, after in waits
            ]
            parts.append(f"{name} {', '.join(said)}")
        return "; ".join(parts)


def _at(percent: int, waits: list[float]) -> float:
    return waits[percent * (len(waits) - 1) // 100]


def check(told: dict[str, Any], answers: Counter[str], kinds: set[str]) -> None:
    """Nothing but answers and refusals came to the one, nothing but its own results to the other."""
    assert told["digest"] == undisturbed(told["steps"])
    assert {answer.split()[0] for answer in answers} == kinds
    assert {int(answer.split()[1]) for answer in answers} <= {200, 201, 204} | REFUSED, answers


def test_a_tenant_works_on_beside_every_hostility_at_once(
    honest: Child, hostile: Callable[..., Child], tally: Callable[..., None]
) -> None:
    mix = hostile(*KINDS, scale=SHARE)
    mix.tell()
    honest.tell()
    honest.answer()
    assert mix.hear() == "busy"
    honest.tell()
    told = honest.answer()
    mix.tell()
    answers = Counter(mix.answer())
    check(told, answers, set(KINDS))
    tally("hostile requests beside a tenant that works", sum(answers.values()))


@pytest.mark.skipif(not ROUNDS, reason="measures for minutes: GRADD_NEIGHBOURS says how often")
@pytest.mark.parametrize("kind", [*CONTROLS, *KINDS])
def test_what_a_tenant_waits_beside_a_hostile_one(
    kind: str, honest: Child, hostile: Callable[..., Child], figure: Callable[[str, str], None]
) -> None:
    mix, waits, answers = hostile(kind), Waits(), Counter[str]()
    mix.stand_back()
    pause = threading.Event()
    for _ in range(ROUNDS):
        for where in ("alone", "beside"):
            if where == "beside":
                mix.tell()
                assert mix.hear() == "busy"
                pause.wait(SECONDS / 2)
            honest.tell()
            told = honest.answer()
            waits.add(where, told)
        mix.tell()
        answers += Counter(mix.answer())
        pause.wait(SECONDS / 2)
    figure(kind, f"{waits}; load {os.getloadavg()[0]:.1f}; {dict(answers)}")
    check(told, answers, {kind} - CONTROLS.keys())
