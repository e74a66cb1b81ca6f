"""An engine process ends at each named place of `gradd_runtime.store.failpoints` under a script that trains:
it never knows, each of its batches is applied once, and it ends as it does undisturbed, to the bit.

`GRADD_FAILPOINTS` says how often at each place (`make faults`: 20; `make soak`: 200), `GRADD_FAILPOINTS_SEED`
after how many passes.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd._wire.absence import Absence

from tests.faults.daemon import Daemon
from tests.faults.script import train

TIMES = int(os.environ.get("GRADD_FAILPOINTS", "1"))
SEED = int(os.environ.get("GRADD_FAILPOINTS_SEED", "0"))
REQUEST = ("executing", "executed", "appending", "appended", "replying", "replied")
SNAPSHOT = (
    "snapshot writing", "snapshot written", "snapshot renamed", "snapshot recorded", "compacting",
    "compacted",
)  # fmt: skip
#: passes of a place, at most, until a process ends there
PASSES = {**dict.fromkeys(REQUEST, 12), **dict.fromkeys(SNAPSHOT, 2)}


def test_an_engine_process_may_end_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tally: Callable[..., None]
) -> None:
    dice = random.Random(SEED)
    ends = [f"{place}:{dice.randint(1, PASSES[place])}" for place in PASSES for _ in range(TIMES)]
    dice.shuffle(ends)
    places = tmp_path / "places"
    places.write_text("\n".join(ends))
    monkeypatch.setenv("FAILPOINTS", str(places))
    pause = Absence.pause
    # An engine process is back much earlier than the daemon says.
    monkeypatch.setattr(Absence, "pause", lambda self, why, after: pause(self, why, 0.0))
    with gradd.connect("local:"):
        expected = train()
    daemon = Daemon(tmp_path, module="tests.faults.forked")
    try:
        batches = lost = twice = differing = trainings = 0
        while len(codes := ended(tmp_path)) < len(ends):
            trainings += 1
            assert trainings <= 3 + len(ends), f"nobody comes to the next of {places.read_text()!r}"
            name = f"train-{trainings}"
            session: Any = gradd.connect(daemon.url, name, transport=dice.choice(("stream", "http")))
            with session:
                differing += train() != expected
                applied = session.info().batches  # sends what is pending
                sent = session.wire.seq
            batches += sent
            lost += max(sent - applied, 0)
            twice += max(applied - sent, 0)
            gradd.delete_session(name, daemon.url)
        assert codes == [-9] * len(ends)
        daemon.end()
    finally:
        daemon.drop()
    for place in PASSES:
        tally(f"an engine process ends at: {place}", TIMES)
    tally("batches under processes that end at a place", batches, lost, twice, differing)


def ended(folder: Path) -> list[int]:
    """With which codes engine processes have ended."""
    said = (folder / "log").read_text()
    return [int(code) for code in re.findall(r"engine process \d+ ended with code (-?\d+)", said)]


def test_every_place_is_in_the_code() -> None:
    """Nobody ends where nothing is."""
    code = Path(gradd.__file__).parents[2] / "runtime"
    named = {
        name for path in code.rglob("*.py") for name in re.findall(r'failpoint\("(.+?)"\)', path.read_text())
    }
    assert named == set(PASSES)
