"""The SDK never waits for ever: every blocking call ends within its bound, with the right class, whatever
becomes of the daemon, its engine process or the network; and the next script works.

`make hangs` runs many more of the seeded cases.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import gradd
import gradd as torch
import httpx
import pytest

from tests.bearer import bearer
from tests.client.relay import Relay
from tests.processes import children, gone
from tests.waiting import PATIENCE, silence

#: the longest that any case may take (s): far above the sum of the waits, far below for ever
BOUND = PATIENCE
CASES = int(os.environ.get("GRADD_HANGS", "2"))

CALLS = ("open", "flush", "fetch", "many", "upload", "download", "info", "close")
HARMS = ("stop-front", "stop-engine", "cut", "hold", "hold-old", "none")
#: how a call may end, beside "ok": it may have been over before the harm, or have mended it
ENDS = {
    "stop-front": {"ConnectionFailed"},
    "stop-engine": {"SessionLost", "ServerError"},
    "cut": set(),
    "hold": {"ConnectionFailed"},
    "hold-old": set(),
    "none": set(),
}


class Daemon:
    """`gradd serve` with short waits, behind a relay."""

    def __init__(self, data: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "gradd_server",
            "serve",
            "--port",
            "0",
            "--data-dir",
            str(data / "data"),
        ]
        self._log = data / "log"
        with self._log.open("wb") as sink:
            self.process = subprocess.Popen(
                [*command, "--workers", "1", "--threads", "1"],
                stderr=sink,
                env={**os.environ, "GRADD_ENGINE_SILENCE_SECONDS": str(silence())},
            )
        end = time.monotonic() + PATIENCE
        while b"http://" not in self._log.read_bytes():
            assert self.process.poll() is None, self._log.read_text()
            assert time.monotonic() < end
            os.sched_yield()
        self.url = "http://" + self._log.read_text().split("http://")[1].split()[0]
        self.port = int(self.url.rpartition(":")[2])

    def engines(self) -> list[int]:
        """The ids of the engine processes."""
        return children(self.process.pid)

    def ready(self) -> httpx.Response:
        """What `/readyz` answers."""
        return httpx.get(
            f"{self.url}/readyz?verbose", headers=bearer(self.url), timeout=PATIENCE, trust_env=False
        )

    def until(self, ready: bool) -> httpx.Response:
        """Wait until `/readyz` says so."""
        end = time.monotonic() + PATIENCE
        while ((answer := self.ready()).status_code == 200) != ready:
            assert time.monotonic() < end
        return answer

    def stop(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self._log.read_text()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    made = Daemon(tmp_path_factory.mktemp("hangs"))
    yield made
    made.stop()


@pytest.fixture
def relay(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    made = Relay(daemon.port)
    # A runtime file is for its daemon's own address.
    monkeypatch.setenv("GRADD_API_KEY", bearer(daemon.url)["Authorization"].removeprefix("Bearer "))
    yield made
    made.close()


class Script:
    """A child that makes one call; see tests/client/hanging.py."""

    def __init__(self, url: str, transport: str, call: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.client.hanging", url, transport, call],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "GRADD_SILENCE_SECONDS": str(silence()), "GRADD_RECONNECT": "1"},
        )
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        assert self.process.stdout.readline() == "ready\n", self.process.communicate()[1]

    def go(self) -> None:
        """Make the call."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> tuple[dict[str, str], str]:
        """How the call ended, and what the process said beside that, once it is gone."""
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # it says where its threads are
            pytest.fail(f"it hangs\n{self.process.communicate()[1]}")
        lines = out.splitlines()
        return (json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {"ended": ""}), err


def suffer(daemon: Daemon, relay: Relay, call: str, transport: str, harm: str, after: int) -> dict[str, str]:
    """How `call` ends where `harm` is done after so many bytes of it."""
    engines = daemon.engines()
    harms = {
        "stop-front": lambda: daemon.process.send_signal(signal.SIGSTOP),
        "stop-engine": lambda: os.kill(engines[0], signal.SIGSTOP),
        "cut": relay.cut,
        "hold": relay.hold,
        "hold-old": relay.hold_old,
        "none": lambda: None,
    }
    script = Script(relay.url, transport, call)
    try:
        relay.arm(after, harms[harm])
        script.go()
        return script.end()[0]
    finally:
        daemon.process.send_signal(signal.SIGCONT)
        if harm == "stop-engine" and relay.done.is_set():
            replaced(daemon, engines[0])
        daemon.until(ready=True)
        with gradd.connect(daemon.url):
            assert torch.ones(2).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "transport", "harm"),
    [
        ("fetch", "stream", "stop-engine"),
        ("download", "http", "stop-front"),
        ("upload", "stream", "hold-old"),
        ("fetch", "http", "hold-old"),
        ("close", "stream", "hold"),
        ("open", "http", "stop-engine"),
    ],
)
def test_a_call_into_silence_ends(daemon: Daemon, relay: Relay, call: str, transport: str, harm: str) -> None:
    assert suffer(daemon, relay, call, transport, harm, 0)["ended"] in (ENDS[harm] or {"ok"})


@pytest.mark.parametrize("seed", range(CASES))
def test_every_call_ends(daemon: Daemon, relay: Relay, seed: int) -> None:
    choose = random.Random(f"hangs {seed}")
    # The first cases of a run see every harm and every call, whatever the seed.
    harm, call = HARMS[seed % len(HARMS)], CALLS[seed % len(CALLS)]
    transport = choose.choice(("stream", "http"))
    after = choose.choice((0, 1, choose.randrange(2, 2000), choose.randrange(2000, 1 << 20)))
    found = suffer(daemon, relay, call, transport, harm, after)
    allowed = {"ok"} | ENDS[harm]
    if call == "open" and harm != "none":
        allowed.add("ConnectionFailed")
    assert found["ended"] in allowed, (call, transport, harm, after, found)


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_long_computation_is_no_silence(daemon: Daemon, transport: str) -> None:
    script = Script(daemon.url, transport, "long")
    script.go()
    assert script.end()[0] == {"ended": "ok", "said": ""}


@pytest.mark.parametrize(
    ("transport", "call"),
    [("stream", "endless"), ("http", "endless"), ("stream", "waiting"), ("local", "waiting")],
)
def test_ctrl_c_ends_a_script_whose_batch_is_long(daemon: Daemon, transport: str, call: str) -> None:
    local = transport == "local"
    script = Script("local:" if local else daemon.url, "stream" if local else transport, call)
    script.go()
    if call == "waiting":
        assert script.process.stdout is not None
        assert script.process.stdout.readline() == "sent\n"
    if not local:
        busy(daemon)
    script.process.send_signal(signal.SIGINT)
    _, said = script.end()
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert script.process.returncode == -signal.SIGINT
    engines = daemon.engines()
    if not local:
        os.kill(engines[0], signal.SIGKILL)
        replaced(daemon, engines[0])


@pytest.mark.parametrize("transport", ["stream", "http", "local"])
def test_ctrl_c_ends_a_script_that_catches_it(daemon: Daemon, transport: str) -> None:
    local = transport == "local"
    script = Script("local:" if local else daemon.url, "stream" if local else transport, "caught")
    script.go()
    assert script.process.stdout is not None
    assert script.process.stdout.readline() == "waits\n"
    script.process.send_signal(signal.SIGINT)
    assert script.end()[0]["ended"] == "ok"
    assert script.process.returncode == 0
    if not local:
        (engine,) = daemon.engines()
        os.kill(engine, signal.SIGKILL)
        replaced(daemon, engine)


def replaced(daemon: Daemon, engine: int) -> None:
    """Wait until another process is in the place of `engine`."""
    end = time.monotonic() + BOUND
    while engine in daemon.engines():
        assert time.monotonic() < end, "it was not replaced"
    daemon.until(ready=True)


def busy(daemon: Daemon) -> None:
    """Wait until a batch is on its way."""
    end = time.monotonic() + PATIENCE
    while daemon.ready().json().get("unanswered", 0) < 1:
        assert time.monotonic() < end


def test_an_engine_process_dies_with_its_daemon(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path)
    (engine,) = daemon.engines()
    script = Script(daemon.url, "stream", "endless")
    script.go()
    busy(daemon)
    daemon.process.kill()
    daemon.process.wait(PATIENCE)
    end = time.monotonic() + PATIENCE
    while not gone(engine):
        assert time.monotonic() < end
    assert script.end()[0]["ended"] == "ConnectionFailed"


def test_an_engine_that_stopped_is_told_and_replaced(daemon: Daemon) -> None:
    (engine,) = daemon.engines()
    os.kill(engine, signal.SIGSTOP)
    told = daemon.until(ready=False)
    assert told.status_code == 503
    assert told.json()["type"] == "/problems/not-ready"
    assert str(engine) in told.json()["detail"]
    replaced(daemon, engine)


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_daemon_that_is_known_to_be_away_is_tried_once(
    daemon: Daemon, relay: Relay, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    monkeypatch.setenv("GRADD_RECONNECT", "0.3")
    tries = 0
    session = gradd.connect(relay.url, transport=transport)
    x = torch.ones(2)
    assert x.tolist() == [1.0, 1.0]
    attach = session.wire.transport.attach

    def counted(*resume: object) -> object:
        nonlocal tries
        tries += 1
        return attach(*resume)  # type: ignore[arg-type]

    monkeypatch.setattr(session.wire.transport, "attach", counted)
    relay.close()
    counts = []
    for call in (lambda: (x + 1).tolist(), lambda: (x + 1).tolist(), session.close):
        tries = 0
        with pytest.raises(gradd.ConnectionFailed):
            call()
        counts.append(tries)
    assert counts[0] > 1
    assert counts[1:] == [1, 1]
