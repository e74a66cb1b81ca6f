"""Signals to the daemon, work that is given up, sessions that were lost: with a real engine process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import httpx
import pytest
from gradd_server import cli
from gradd_server.commands import exits, serving

from tests.bearer import bearer
from tests.processes import children, gone
from tests.waiting import PATIENCE

#: minutes of work
ENDLESS = {
    "steps": [
        {"op": "ones", "inputs": [], "attrs": {"size": [3000, 3000], "dtype": "float32"}, "outputs": ["%a"]},
        *[{"op": "matmul", "inputs": ["%a", "%a"], "outputs": ["%b"]}] * 1000,
    ]
}


class Daemon:
    """`gradd serve` with its log at hand."""

    def __init__(self, data: Path, *flags: str) -> None:
        command = [sys.executable, "-m", "gradd_server", "serve", "--port", "0", "--data-dir", str(data)]
        self.process = subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        said = ""
        while not (found := re.search(r"http://\S+:\d+", said)):
            self.start_line = self.process.stderr.readline()
            assert self.start_line, said
            said += self.start_line
        self.url = found.group()
        self.client = httpx.Client(
            base_url=self.url, headers=bearer(self.url), timeout=PATIENCE, trust_env=False
        )

    def engines(self) -> list[int]:
        return children(self.process.pid)

    def busy(self, name: str) -> list[httpx.Response]:
        """Begin what takes minutes in a new session, in a thread; where its answer will be."""
        assert self.client.put(f"/v1/sessions/{name}").status_code == 201
        answers: list[httpx.Response] = []

        def ask() -> None:
            path = f"{self.url}/v1/sessions/{name}/batches"
            answers.append(
                httpx.post(path, json=ENDLESS, headers=bearer(self.url), timeout=PATIENCE, trust_env=False)
            )

        self.asking = threading.Thread(target=ask)
        self.asking.start()
        while self.client.get("/readyz?verbose").json()["unanswered"] < 1:
            assert self.process.poll() is None
        return answers

    def end(self) -> tuple[int, str]:
        """The exit code and the log."""
        self.client.close()
        _, log = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, log


@pytest.fixture
def running(tmp_path: Path) -> Iterator[list[Daemon]]:
    made: list[Daemon] = []
    yield made
    for daemon in made:
        if daemon.process.poll() is None:
            daemon.process.kill()
            daemon.process.communicate()


@pytest.mark.parametrize("workers", ["1", "0"])
def test_work_that_outlasts_the_drain_is_given_up_and_told(
    running: list[Daemon], tmp_path: Path, workers: str
) -> None:
    daemon = Daemon(tmp_path / "data", "--drain-timeout", "0.2", "--workers", workers)
    running.append(daemon)
    answers = daemon.busy("long")
    daemon.process.terminate()
    code, log = daemon.end()
    daemon.asking.join(PATIENCE)
    assert code == exits.GAVE_UP
    assert "given up" in log
    assert "Traceback" not in log
    assert answers[0].status_code == 503
    assert answers[0].json()["type"] == f"/problems/{'recovering' if workers == '1' else 'draining'}"


def test_an_engine_process_that_is_stopped_ends_no_drain_late(running: list[Daemon], tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--drain-timeout", "0.2")
    running.append(daemon)
    answers = daemon.busy("long")
    (engine,) = daemon.engines()
    os.kill(engine, signal.SIGSTOP)
    daemon.process.terminate()
    code, log = daemon.end()
    daemon.asking.join(PATIENCE)
    assert code == exits.GAVE_UP
    assert "given up" in log
    assert "Traceback" not in log
    assert answers[0].status_code == 503
    assert gone(engine)


def test_a_hangup_is_noted_and_ends_nothing(running: list[Daemon], tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data")
    running.append(daemon)
    (engine,) = daemon.engines()
    daemon.process.send_signal(signal.SIGHUP)
    os.kill(engine, signal.SIGHUP)
    assert daemon.process.stderr is not None
    assert "SIGHUP" in daemon.process.stderr.readline()
    assert daemon.client.put("/v1/sessions/a").status_code == 201
    assert daemon.engines() == [engine]
    daemon.process.terminate()
    assert daemon.end()[0] == 0


@pytest.mark.parametrize("crashes", ["daemon", "engine"])
def test_a_process_that_crashes_says_where(running: list[Daemon], tmp_path: Path, crashes: str) -> None:
    daemon = Daemon(tmp_path / "data", "--workers", "1")
    running.append(daemon)
    (engine,) = daemon.engines()
    assert daemon.process.stderr is not None
    os.kill(engine if crashes == "engine" else daemon.process.pid, signal.SIGSEGV)
    said = iter(daemon.process.stderr.readline, "")
    assert any("Segmentation fault" in line for line in said)
    assert any(("worker.py" if crashes == "engine" else "daemon.py") in line for line in said)


def test_a_lost_session_is_listed_until_it_is_deleted(running: list[Daemon], tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--workers", "1")
    running.append(daemon)

    def listed() -> dict[str, bool]:
        found = daemon.client.get("/v1/sessions").json()["sessions"]
        return {session["name"]: session.get("lost", False) for session in found}

    def command(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "gradd_server", "sessions", *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
            env={**os.environ, "GRADD_URL": daemon.url},
        )
        return done.stdout

    for name in ("a", "b"):
        daemon.client.put(f"/v1/sessions/{name}", json={"durability": "memory"})
    os.kill(daemon.engines()[0], signal.SIGKILL)
    while daemon.client.get("/v1/sessions/a").status_code == 200:
        assert daemon.process.poll() is None
    while (ready := daemon.client.get("/readyz")).status_code != 200:
        assert ready.json()["type"] == "/problems/not-ready"
    daemon.client.put("/v1/sessions/c")
    assert listed() == {"a": True, "b": True, "c": False}
    assert "a\tlost" in command()
    assert json.loads(command("--json").splitlines()[0])["lost"]
    with pytest.raises(gradd.SessionLost, match="delete_session"):
        gradd.connect(daemon.url, "a")
    gradd.delete_session("a", daemon.url)
    command("delete", "b", "c", "--url", daemon.url)
    assert listed() == {}
    with gradd.connect(daemon.url, "a"):
        assert gradd.ones(1).item() == 1.0
    daemon.process.terminate()
    assert daemon.end()[0] == 0


def test_a_port_in_use_is_found_before_an_engine_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(settings: Any) -> Any:
        raise AssertionError("an engine was started")

    monkeypatch.setattr(serving, "placement_of", never)
    before = signal.getsignal(signal.SIGHUP)
    try:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            assert cli.main(["serve", "--port", port, "--data-dir", str(tmp_path)]) == exits.UNAVAILABLE
    finally:
        signal.signal(signal.SIGHUP, before)
    assert port in capsys.readouterr().err
