"""`gradd top`, `gradd config show`, `gradd completion`: what they print, of a daemon and of the parser."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import gradd
import pytest
from gradd_server import cli
from gradd_server.commands import watching
from gradd_server.examples import STATUS
from gradd_server.keys import KeyFile
from gradd_server.settings import Settings

from tests.server.test_stopping import Daemon
from tests.waiting import PATIENCE

COMMAND = [sys.executable, "-m", "gradd_server"]


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings in the environment."""
    for name in [name for name in os.environ if name.startswith("GRADD_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path / "data")
    yield daemon
    daemon.process.kill()
    daemon.end()


# -- top -------------------------------------------------------------------------------------------


def run(daemon: Daemon, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "GRADD_URL": daemon.url, **environ},
    )  # fmt: skip


def test_top_shows_what_runs(daemon: Daemon) -> None:
    with gradd.connect(daemon.url, "demo"):
        for _ in range(3):
            gradd.ones(2).sum().item()
        done = run(daemon, "top", "--once")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "ready" in lines[0]
    assert "1 streams" in lines[1]
    rows = {line.split()[0]: line.split() for line in lines[2:] if line}
    (engine,) = daemon.engines()
    assert rows[str(engine)][1:4] == ["ready", "1", "1"]
    assert rows["default"][1] == "1"
    assert rows["demo"][1] == "default"
    assert int(rows["demo"][rows["SESSION"].index("BATCHES") + 1]) >= 3  # a size is two words
    assert "HITS" in rows["SESSION"]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """What runs in the background of a shell, and its children, would ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_top_is_drawn_anew_until_it_is_interrupted(daemon: Daemon) -> None:
    ours, theirs = pty.openpty()
    command = [*COMMAND, "top", "--seconds", "0.1", "--url", daemon.url]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL) as top:
        os.close(theirs)
        seen = b""
        while seen.count(watching.HOME.encode()) < 3:
            seen += os.read(ours, 65536)
        top.send_signal(signal.SIGINT)
        # A terminal that nobody reads is full at last, and who writes there waits.
        with contextlib.suppress(OSError):  # it is closed at the other end
            while more := os.read(ours, 65536):
                seen += more
        assert top.wait(PATIENCE) == 0
    os.close(ours)
    assert b"ENGINE" in seen
    assert b"Traceback" not in seen


def test_top_is_for_operators(daemon: Daemon, tmp_path: Path) -> None:
    key, _ = KeyFile(tmp_path / "data").create("acme")
    done = run(daemon, "top", "--once", GRADD_API_KEY=key)
    assert done.returncode == 69
    assert "operators" in done.stderr


def test_rates_are_of_what_came_between_two_looks() -> None:
    def at(seconds: float, batches: int) -> dict[str, object]:
        counts = {"batches": batches, "planned": 3, "eager": 1}
        engine = {**STATUS["engines"][0], "counts": counts}  # type: ignore[index]
        return {**STATUS, "uptime_seconds": seconds, "engines": [engine]}

    def row(lines: list[str]) -> dict[str, str]:
        n = next(n for n, line in enumerate(lines) if line.startswith("ENGINE"))
        return dict(
            zip(lines[n].split(), lines[n + 1].replace(" MiB", "MiB").replace(" B", "B").split(), strict=True)
        )

    first, second = at(10.0, 100), at(12.0, 150)
    assert row(watching.table("url", first))["/S"] == "-"
    found = row(watching.table("url", second, first))
    assert (found["/S"], found["HITS"], found["BATCHES"]) == ("25.0", "75%", "150")
    assert row(watching.table("url", first, second))["/S"] == "-"  # another process with the same number


# -- config ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("clean")
def test_config_show_says_where_each_setting_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gradd.toml"
    file.write_text('workers = 2\nport = 1\nlog_level = "debug"\n')
    monkeypatch.setenv("GRADD_CONFIG", str(file))
    monkeypatch.setenv("GRADD_PORT", "2")
    assert cli.main(["config", "show", "--json", "--log-level", "error"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["log_level"] == {"value": "error", "source": "--log-level"}
    assert said["port"] == {"value": 2, "source": "GRADD_PORT"}
    assert said["workers"] == {"value": 2, "source": str(file)}
    assert said["device"] == {"value": "cpu", "source": "default"}


@pytest.mark.usefixtures("clean")
def test_what_config_show_prints_is_a_file_of_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--no-auth", "--admin", "127.0.0.1:9473", "--drain-timeout", "2.5", "--data-dir", str(tmp_path)]
    assert cli.main(["config", "show", *flags]) == 0
    printed = capsys.readouterr().out
    assert "auth = false" in printed
    assert "# --no-auth" not in printed
    assert "# --auth" in printed
    file = tmp_path / "gradd.toml"
    file.write_text(printed)
    expected = Settings(auth=False, admin="127.0.0.1:9473", drain_timeout=2.5, data_dir=tmp_path)
    assert Settings.load({}, {}, file) == expected
    assert tomllib.loads(printed)["port"] == 4733
    assert cli.main(["config", "show", "--config", str(tmp_path / "none.toml")]) == 78


# -- completion ------------------------------------------------------------------------------------


def completed(line: str) -> set[str]:
    """What bash offers after the words of `line`."""
    script = f"""
eval "$({sys.executable} -m gradd_server completion bash)"
COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _gradd
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes() -> None:
    assert completed("gradd ''") >= {"serve", "sessions", "keys", "top", "config", "completion"}
    assert completed("gradd se") == {"serve", "sessions"}
    assert completed("gradd keys ''") >= {"create", "list", "revoke", "rotate", "local"}
    assert completed("gradd keys create --ro") == {"--role"}
    assert completed("gradd serve --log-") == {"--log-level", "--log-format", "--log-file"}
    assert completed("gradd serve --no-a") == {"--no-auth"}
    assert completed("gradd completion ''") >= {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_the_script(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = subprocess.run([*COMMAND, "completion", shell], capture_output=True, text=True, check=True)
    subprocess.run([shell, "-c", script.stdout], check=True, timeout=PATIENCE)


def test_fish_is_told_every_command_and_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "fish"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("-f -a top -d 'watch engine" in line for line in lines)
    assert any(
        "seen_subcommand_from keys and __fish_seen_subcommand_from create' -l role" in line for line in lines
    )
    assert all(line.startswith("complete -c gradd -n '") and line.endswith("'") for line in lines)


def test_a_reader_that_has_enough_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*COMMAND, "completion", "fish"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


# -- a daemon that does not answer -------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [["health"], ["sessions"], ["sessions", "delete", "x"], ["sessions", "--json"], ["top", "--once"]],
)
def test_a_daemon_that_is_silent_is_waited_for(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        assert cli.main([*command, "--url", url, "--timeout", "0.1"]) == 69
    assert "does not answer: timed out" in capsys.readouterr().err


def test_a_busy_daemon_is_not_called_dead() -> None:
    for command in (["health"], ["sessions"], ["sessions", "delete", "x"], ["top"]):
        assert cli.parser().parse_args(command).timeout >= 30
    assert cli.parser().parse_args(["sessions", "--timeout", "2", "delete", "x"]).timeout == 2
    for bad in ("0", "-1", "nan", "soon"):
        with pytest.raises(SystemExit):
            cli.parser().parse_args(["health", "--timeout", bad])


# -- health ----------------------------------------------------------------------------------------


def test_health_waits_for_a_daemon_that_starts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    environ = {**os.environ, "GRADD_DATA_DIR": str(data)}
    environ.pop("GRADD_URL", None)
    early = subprocess.Popen(
        [*COMMAND, "health", "--wait", str(PATIENCE)], env=environ, stdout=subprocess.PIPE, text=True
    )
    daemon = Daemon(data)
    assert early.communicate(timeout=PATIENCE)[0] == "ready\n"
    assert early.returncode == 0
    daemon.process.terminate()
    assert daemon.end()[0] == 0
    assert run(daemon, "health").returncode == 69
