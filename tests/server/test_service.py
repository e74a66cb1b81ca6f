"""The daemon as a service: what it tells the manager that started it, and the unit for systemd."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gradd_server import cli
from gradd_server.commands.installing import UNIT
from gradd_server.settings import Settings, variable_of
from gradd_server.telemetry.manager import ServiceManager

from tests.server.test_stopping import Daemon
from tests.waiting import PATIENCE

ANALYZE = shutil.which("systemd-analyze")


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    """What a service manager listens at."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.bind(str(tmp_path / "notify"))
        ours.settimeout(PATIENCE)
        yield ours


def test_the_manager_hears_when_it_is_ready_that_it_lives_and_when_it_stops(
    listener: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", listener.getsockname())
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    daemon = Daemon(tmp_path / "data")
    heard: list[str] = []

    def hear(what: str) -> None:
        heard.append("")
        while what not in heard[-1].splitlines():
            heard.append(listener.recv(4096).decode())

    hear("READY=1")
    assert heard[-1].endswith(f"STATUS=Listens on {daemon.url}")
    hear("WATCHDOG=1")
    hear("WATCHDOG=1")
    (engine,) = daemon.engines()
    assert "NOTIFY_SOCKET" not in Path(f"/proc/{engine}/environ").read_text()
    assert "STOPPING=1" not in "".join(heard)
    daemon.process.terminate()
    hear("STOPPING=1")
    assert daemon.end()[0] == 0


def test_another_process_is_watched_for_itself(tmp_path: Path) -> None:
    environ = {"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}
    assert ServiceManager(environ).watchdog_seconds == 3.0
    assert environ == {}
    assert ServiceManager({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}).watchdog_seconds is None
    assert ServiceManager({}).watchdog_seconds is None


def test_a_manager_in_the_abstract_namespace_and_one_that_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.bind(f"\0gradd-test-{os.getpid()}")
        manager = ServiceManager({"NOTIFY_SOCKET": f"@gradd-test-{os.getpid()}"})
        manager.tell(READY=1, STATUS="up")
        assert ours.recv(4096) == b"READY=1\nSTATUS=up"
    manager.tell(STOPPING=1)
    assert "cannot be told STOPPING" in caplog.text
    ServiceManager({}).tell(READY=1)
    assert "READY" not in caplog.text


# -- the unit --------------------------------------------------------------------------------------


@pytest.fixture(params=[[], ["--cuda"]], ids=["cpu", "cuda"])
def unit(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The file that `gradd unit` prints."""
    assert cli.main(["unit", "--command", "/bin/true", *request.param]) == 0
    path = tmp_path / "gradd.service"
    path.write_text(capsys.readouterr().out)
    return path


@pytest.mark.skipif(ANALYZE is None, reason="systemd is not installed")
def test_systemd_takes_the_unit(unit: Path) -> None:
    assert ANALYZE is not None
    done = subprocess.run([ANALYZE, "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "gradd" in line]
    assert (done.returncode, ours) == (0, [])


@pytest.mark.skipif(ANALYZE is None, reason="systemd is not installed")
def test_systemd_finds_the_unit_hardened(unit: Path) -> None:
    assert ANALYZE is not None
    command = [ANALYZE, "security", "--offline=true", "--no-pager", "--threshold=25", unit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Overall exposure level" in done.stdout, done.stderr
    assert done.returncode == 0, done.stdout


def test_the_unit_sets_what_there_is(unit: Path) -> None:
    text = unit.read_text()
    assert "@" not in re.sub(r"(?m)^#.*$|@system-service|@privileged", "", text)
    variables = set(re.findall(r"\bGRADD_[A-Z_]+(?==)", re.sub(r"(?m)^#.*$", "", text)))
    known = {variable_of(name) for name in Settings.__dataclass_fields__} | {"GRADD_RUNTIME_DIR"}
    assert variables <= known
    stop = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert stop is not None
    assert int(stop[1]) > Settings().drain_timeout + 10
    codes = re.search(r"^RestartPreventExitStatus=(.*)$", text, re.MULTILINE)
    assert codes is not None
    assert codes[1].split() == [str(code) for code in (cli.CANNOT_CREATE, cli.LOCKED, cli.BAD_CONFIG)]


def test_the_unit_runs_this_python_or_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["unit", "--command", str(tmp_path / "none")]) == 69
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    (tmp_path / "gradd").touch()
    capsys.readouterr()
    assert cli.main(["unit"]) == 0
    assert f"ExecStart={tmp_path}/gradd serve\n" in capsys.readouterr().out
    assert UNIT.name == "gradd.service"
