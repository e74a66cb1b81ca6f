"""A script that trains through the death of engine processes and daemons and through a bad network, and never
knows: each of its batches is applied once, and it ends as it does undisturbed, to the bit.

`GRADD_FAULTS` says how many seeds of each kind (`make faults`: 3; `make soak`: 40).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradd
import gradd as torch
import pytest

from tests.client.relay import Relay
from tests.faults.daemon import Daemon
from tests.faults.script import train
from tests.waiting import PATIENCE, silence

CASES = int(os.environ.get("GRADD_FAULTS", "1"))
KINDS = ("engine", "daemon", "network")
#: about what a training sends and receives (bytes)
BYTES = 2_500_000
#: kind -> how many were done
done: Counter[str] = Counter()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    # Whoever comes through a relay does not find the local user's key.
    with Daemon(tmp_path_factory.mktemp("faults"), "--no-auth") as made:
        yield made
        print(f"{CASES} trainings of each kind: {dict(done)}")


@pytest.fixture(scope="module")
def undisturbed(daemon: Daemon) -> dict[str, bytes]:
    with gradd.connect(daemon.url):
        return train()


@pytest.fixture
def relay(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    monkeypatch.setenv("GRADD_SILENCE_SECONDS", str(silence()))
    made = Relay(daemon.port)
    yield made
    made.close()


class Harm:
    """Does harm again and again, at random bytes of what goes through the relay, until it is ended."""

    def __init__(self, daemon: Daemon, relay: Relay, kind: str, seed: int) -> None:
        self._dice = random.Random(f"{kind} {seed}")
        self._daemon, self._relay, self._kind = daemon, relay, kind
        self._over = threading.Event()
        self._now = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.count = 0
        self.failures: list[BaseException] = []

    def __enter__(self) -> Harm:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._now.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        try:
            for _ in range(self._dice.randint(1, 3)):
                # Most bytes are of uploads, most batches are small.
                after = self._dice.randrange(self._dice.choice((3_000, 50_000, BYTES // 2)))
                self._now.clear()
                self._relay.arm(after, self._now.set)
                self._now.wait()
                if self._over.is_set():
                    return
                self._done(*self._choose())
        except BaseException as error:
            self.failures.append(error)

    def _choose(self) -> tuple[str, Callable[[], None]]:
        if self._kind == "engine":
            return "engine", self._daemon.kill_engine
        if self._kind == "daemon":
            return "daemon", self._daemon.kill
        relay = self._relay
        bad: dict[str, Callable[[], None]] = {
            "cut": relay.cut,
            "refuse": lambda: self._for_a_while(relay.refuse),
            "hold": lambda: self._for_a_while(relay.hold),
            "hold-old": relay.hold_old,
            "delay": lambda: self._for_a_while(lambda: relay.delay(self._dice.uniform(0.01, 0.2))),
        }
        name = self._dice.choice(list(bad))
        return name, bad[name]

    def _for_a_while(self, begin: Callable[[], None]) -> None:
        begin()
        self._over.wait(self._dice.uniform(0.1, 2.5))
        self._relay.mend()

    def _done(self, name: str, harm: Callable[[], None]) -> None:
        harm()
        self.count += 1
        done[name] += 1


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("kind", KINDS)
def test_a_script_does_not_notice(
    daemon: Daemon, relay: Relay, undisturbed: dict[str, bytes], kind: str, seed: int
) -> None:
    name = f"train-{kind}-{seed}"
    transport = random.Random(seed).choice(("stream", "http"))
    session: Any = gradd.connect(relay.url, session=name, transport=transport)
    with Harm(daemon, relay, kind, seed) as harm, session:
        found = train()
        applied = session.info().batches
        sent = session.wire.seq
    assert harm.failures == []
    assert found == undisturbed
    assert applied == sent
    gradd.delete_session(name, daemon.url)


def test_two_clients_go_on_in_one_session(daemon: Daemon, relay: Relay) -> None:
    one, two = (gradd.connect(relay.url, "shared", transport=how) for how in ("stream", "http"))
    with one:
        mine = torch.zeros(2, dtype=torch.float64)
        one["x"] = mine
    one = gradd.connect(relay.url, "shared")
    mine, theirs = one["x"], two["x"]
    for step in range(12):
        if step % 4 == 2:
            daemon.kill_engine() if step % 8 == 2 else daemon.kill()
        mine.add_(1)
        one.flush()
        theirs.add_(100)
        two.flush()
    assert mine.tolist() == theirs.tolist() == [1212.0, 1212.0]
    one.close()
    two.close()
    gradd.delete_session("shared", daemon.url)


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_session_that_was_not_kept_is_lost_at_once(daemon: Daemon, relay: Relay, transport: str) -> None:
    session: Any = gradd.connect(relay.url, transport=transport)
    x = torch.ones(2)
    session.flush()
    daemon.kill()
    for use in (lambda: (x + 1).tolist(), session.info):
        with pytest.raises(gradd.SessionLost, match="kept nothing"):
            use()
    session.close()


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_closing_does_not_wait_for_a_daemon_that_is_away(
    daemon: Daemon, relay: Relay, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADD_RECONNECT", str(100 * PATIENCE))
    session: Any = gradd.connect(relay.url, transport=transport)
    x = torch.ones(2)
    session.flush()
    relay.refuse()
    waits = threading.Event()
    ends: list[BaseException] = []

    def wait() -> None:
        waits.set()
        try:
            x.add_(1)
            x.tolist()
        except gradd.GraddError as error:
            ends.append(error)

    other = threading.Thread(target=wait)
    other.start()
    waits.wait()
    with pytest.raises(gradd.ConnectionFailed):
        session.close()
    other.join(PATIENCE)
    assert [type(end) for end in ends] == [gradd.ConnectionFailed]


def test_an_exit_does_not_wait_for_a_daemon_that_is_away(relay: Relay) -> None:
    script = """
import sys
import gradd

sessions = [gradd.connect(sys.argv[1], transport=how) for how in ("stream", "http", "stream")]
kept = gradd.ones(2)
sessions[-1].flush()
kept.add_(1)
print("ready", flush=True)
sys.stdin.readline()
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, relay.url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "GRADD_RECONNECT": str(100 * PATIENCE)},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        relay.refuse()
        _, said = process.communicate("\n", timeout=PATIENCE)
    assert "went away and did not come back" in said
    assert process.returncode == 0


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_script_goes_on_with_the_key_of_the_next_daemon(tmp_path: Path, transport: str) -> None:
    daemon = Daemon(tmp_path)
    try:
        with gradd.connect(daemon.url, "kept", transport=transport):
            x = torch.ones(3, requires_grad=True)
            y = (x * 2).sum()
            assert y.item() == 6.0
            daemon.kill()
            y.backward()
            assert torch.eq(x.grad, 2.0).all().item()
        gradd.delete_session("kept", daemon.url)
        daemon.end()
    finally:
        daemon.drop()
