"""Fronts as processes: who leads, who passes connections on, and what a front does that leads no more."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradd_runtime.store import Folder
from gradd_server.datadir import holder_url
from gradd_server.fronts.leads import Leads

from tests.server.test_daemon import COMMAND
from tests.waiting import PATIENCE

FRONT = [sys.executable, str(Path(__file__).with_name("fake_front.py"))]


class FrontProcess:
    """A front over that data directory."""

    def __init__(self, data: Path, *flags: str) -> None:
        command = [*FRONT, "serve", "--placement", "ray", "--port", "0", "--no-auth", "--data-dir", str(data)]
        self.process = subprocess.Popen(
            [*command, "--node-silence-seconds", "0.5", *flags], stderr=subprocess.PIPE, text=True
        )
        self._lines: list[str] = []
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._hear)
        self._thread.start()
        self.url = self.says(r"listens on (\S+:\d+)")[1]

    def _hear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._change:
                self._lines.append(line)
                self._change.notify_all()
        with self._change:
            self._change.notify_all()

    def says(self, what: str, after: int = 0) -> re.Match[str]:
        """Wait until it says so, in a line from that one on."""
        with self._change:
            self._change.wait_for(
                lambda: self._found(what, after) or self.process.returncode is not None, PATIENCE
            )
            found = self._found(what, after)
        assert found, "".join(self._lines)
        return found

    def _found(self, what: str, after: int) -> re.Match[str] | None:
        return next(filter(None, (re.search(what, line) for line in self._lines[after:])), None)

    @property
    def said(self) -> int:
        """How many lines it has said."""
        return len(self._lines)

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        return httpx.request(method, self.url + path, timeout=PATIENCE, trust_env=False, **request)

    def end(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def __enter__(self) -> FrontProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end(signal.SIGKILL)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[FrontProcess, FrontProcess]]:
    """One that leads, and one that follows."""
    with ExitStack() as stack:
        first = stack.enter_context(FrontProcess(tmp_path / "data"))
        second = stack.enter_context(FrontProcess(tmp_path / "data"))
        yield first, second


def test_one_leads_and_the_other_passes_on(pair: tuple[FrontProcess, FrontProcess], tmp_path: Path) -> None:
    first, second = pair
    assert first.says("every local user can connect")
    assert second.says("passes connections on to (.*), which leads")[1] == first.url
    assert second.ask("PUT", "/v1/sessions/a").status_code == 201
    assert [each["name"] for each in first.ask("GET", "/v1/sessions").json()["sessions"]] == ["a"]
    assert second.ask("GET", "/v1/sessions").json() == first.ask("GET", "/v1/sessions").json()
    assert holder_url(tmp_path / "data") == first.url
    assert Leads(Folder(tmp_path / "data" / "leads")).latest()[0] == 1
    assert second.end() == 0
    assert first.ask("GET", "/livez").status_code == 200
    assert first.end() == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_where_the_one_ends_the_other_leads(
    pair: tuple[FrontProcess, FrontProcess], tmp_path: Path, how: int
) -> None:
    first, second = pair
    assert second.ask("PUT", "/v1/sessions/a").status_code == 201
    assert first.end(how) == (0 if how == signal.SIGTERM else -how)
    assert second.says("every local user can connect")
    assert [each["name"] for each in second.ask("GET", "/v1/sessions").json()["sessions"]] == ["a"]
    assert holder_url(tmp_path / "data") == second.url
    with FrontProcess(tmp_path / "data") as third:
        assert third.says("passes connections on to (.*), which leads")[1] == second.url
        assert third.ask("GET", "/livez").status_code == 200
    assert second.end() == 0


def test_one_that_was_away_follows(pair: tuple[FrontProcess, FrontProcess], tmp_path: Path) -> None:
    first, second = pair
    first.process.send_signal(signal.SIGSTOP)
    assert second.says("every local user can connect")
    assert second.ask("PUT", "/v1/sessions/late").status_code == 201
    before = first.said
    first.process.send_signal(signal.SIGCONT)
    assert first.says("another front took the lead", before)
    assert first.says("passes connections on to (.*), which leads", before)[1] == second.url
    assert [each["name"] for each in first.ask("GET", "/v1/sessions").json()["sessions"]] == ["late"]
    assert not first._found('"level": "error"|Traceback', 0)
    # And back again.
    before = first.said
    assert second.end() == 0
    assert first.says("every local user can connect", before)
    assert [each["name"] for each in first.ask("GET", "/v1/sessions").json()["sessions"]] == ["late"]
    assert Leads(Folder(tmp_path / "data" / "leads")).latest()[0] == 3
    assert first.end() == 0


def test_a_daemon_alone_is_kept_out(pair: tuple[FrontProcess, FrontProcess], tmp_path: Path) -> None:
    first, _ = pair
    command = [*COMMAND, "serve", "--port", "0", "--no-auth", "--data-dir", str(tmp_path / "data")]
    alone = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert alone.returncode == 75
    assert first.url in alone.stderr


def test_it_says_where_others_reach_it(tmp_path: Path) -> None:
    with FrontProcess(tmp_path / "data", "--front-address", "front-1.example:4000") as front:
        assert front.says("every local user can connect")
        _, other = Leads(Folder(tmp_path / "data" / "leads")).latest()
        assert other is not None
        assert other.url == "http://front-1.example:4000"
        assert front.end() == 0
    with FrontProcess(tmp_path / "data", "--front-address", "front-1.example") as front:
        assert front.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("address", ["front:0", "front:70000", "http://front", "a b", "[::1"])
def test_what_is_no_address_is_refused(tmp_path: Path, address: str) -> None:
    command = [*FRONT, "serve", "--placement", "ray", "--data-dir", str(tmp_path), "--front-address", address]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert refused.returncode == 2
    assert "is not HOST or HOST:PORT" in refused.stderr


def test_without_ray_it_says_so(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['ray'] = None; from gradd_server import cli; sys.exit(cli.main())"
    command = [
        sys.executable,
        "-c",
        hide,
        "serve",
        "--placement",
        "ray",
        "--data-dir",
        str(tmp_path / "data"),
    ]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert refused.returncode == 69, refused.stderr
    assert "--placement ray needs ray: pip install 'gradd[server,ray]'" in refused.stderr
