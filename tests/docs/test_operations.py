"""docs/operations.md: its commands are run beside a daemon, and the flags of those that serve are read."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from gradd_server import cli
from gradd_server.keys import KeyFile
from gradd_server.settings import Settings

from tests.docs.test_pages import ROOT, blocks, run_shell
from tests.waiting import PATIENCE
from tools.walk.home import commands, free_port

PAGE = (ROOT / "docs" / "operations.md").read_text()
SERVES = re.findall(r"^    gradd (serve .*)$", PAGE, re.MULTILINE)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Address and data directory of a daemon."""
    data = tmp_path / "data"
    command = [sys.executable, "-m", "gradd_server", "serve", "--port=0", f"--data-dir={data}", "--workers=0"]
    with subprocess.Popen([*command, "--log-level=warning"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://\S+:\d+", process.stderr.readline())
        assert found
        yield found.group(), data
        process.terminate()
        assert process.wait(PATIENCE) == 0


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_commands_of_the_page(served: tuple[str, Path], tmp_path: Path) -> None:
    url, data = served
    folder = tmp_path / "shell"
    folder.mkdir()
    program = blocks("docs/operations.md", "sh")
    done = run_shell(program, folder, GRADD_URL=url, GRADD_DATA_DIR=str(data))
    assert done.returncode == 0, done.stderr
    assert '{"sessions":[]}' in done.stdout
    assert "workers = 2 " in done.stdout
    assert done.stdout.count("ENGINE") == 1
    assert "\n1\n" in done.stdout
    assert re.search(r"^ok +gradient ", done.stdout, re.MULTILINE)
    assert json.loads((folder / "settings.json").read_text())["drain_timeout"]["value"] == 60.0
    assert "training\t0 tensors" in done.stdout
    assert "a share reads" in done.stdout
    keys = KeyFile(data).read()
    assert [(key.tenant, key.role, key.name, key.revoked is None) for key in keys] == [
        ("acme", "user", "ci", False),
        ("globex", "user", "ada", True),
        ("default", "operator", "grafana", True),
        ("acme", "user", "ci", True),
    ]


def test_from_an_empty_machine_to_a_restored_one(tmp_path: Path) -> None:
    """The walkthrough, on a free port. Whatever it leaves behind is of its process group."""
    program = blocks("docs/operations.md", "bash").replace("4733", str(free_port()))
    out, err = tmp_path / "out", tmp_path / "err"
    # Into files: a daemon that a failed shell leaves behind would hold a pipe open.
    with out.open("wb") as to, err.open("wb") as errors:
        shell = subprocess.Popen(
            ["sh", "-eu", "-c", program], cwd=tmp_path, stdout=to, stderr=errors, start_new_session=True,
            env={**os.environ, "PATH": commands(tmp_path / "bin")},
        )  # fmt: skip
        try:
            code = shell.wait(PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    printed = out.read_text()
    assert code == 0, err.read_text()
    assert printed.count("ready\n") == 5
    assert "the daemon is gone" in printed
    assert "interrupted\t" in printed
    assert "model\t" in printed
    texts = {(tmp_path / f"{name}.txt").read_text() for name in ("acme", "globex", "interrupted", "restored")}
    assert len(texts) == 1
    log = [json.loads(line) for line in (tmp_path / "gradd.log").read_text().splitlines()]
    assert sum("listens on" in line["message"] for line in log) == 5


def test_what_is_scraped_is_where_the_page_serves_metrics() -> None:
    (job,) = yaml.safe_load(blocks("docs/operations.md", "yaml"))["scrape_configs"]
    ((address,),) = (config["targets"] for config in job["static_configs"])
    assert f"serve --admin {address}" in SERVES


@pytest.mark.parametrize("line", [*SERVES, "serve --no-auth"])
def test_what_serves_may_be_served_with(line: str) -> None:
    arguments = cli.parser().parse_args(shlex.split(line))
    settings = Settings.load(vars(arguments), {})
    assert settings.auth == ("--no-auth" not in line)
    assert len(SERVES) >= 5
    assert f"gradd {line}" in PAGE
