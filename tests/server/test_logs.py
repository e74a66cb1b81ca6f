"""The log of a daemon: what a line says, where it goes, and that a person can follow a request by its id."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd_protocol.version import VERSION
from gradd_runtime.process import TextFormatter, announce, log_arguments, start_log, start_log_as
from gradd_server import cli

from tests.server.test_stopping import Daemon


@pytest.fixture
def running() -> Iterator[list[Daemon]]:
    made: list[Daemon] = []
    yield made
    for daemon in made:
        if daemon.process.poll() is None:
            daemon.process.kill()
            daemon.end()


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, as it was afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:], root.level = handlers, level


X = {"dtype": "float32", "shape": [1], "data": [1.0]}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_requests_and_batches_are_followed_by_their_ids(running: list[Daemon], tmp_path: Path) -> None:
    path = tmp_path / "gradd.log"
    daemon = Daemon(tmp_path / "data", "--log-level", "debug", "--log-file", str(path))
    running.append(daemon)
    assert daemon.start_line.startswith(f"gradd {VERSION} listens on {daemon.url}")
    answer = daemon.client.get("/v1/sessions/none")
    with gradd.connect(daemon.url, "demo"):
        assert gradd.ones(2).sum().item() == 2.0
        path.rename(tmp_path / "gradd.log.1")  # as logrotate does
        assert gradd.zeros(2).sum().item() == 0.0
    daemon.process.terminate()
    code, printed = daemon.end()
    assert (code, printed) == (0, "")
    before, after = lines(tmp_path / "gradd.log.1"), lines(path)
    assert before[0]["message"].startswith("gradd ")
    assert (before[0]["url"], before[0]["version"]) == (daemon.url, VERSION)
    (request,) = [line for line in before if line.get("request_id") == answer.headers["x-request-id"]]
    assert request["logger"] == "gradd.requests"
    assert (request["route"], request["status"]) == ("GET /v1/sessions/none", 404)
    assert (request["session"], request["tenant"], request["key"]) == ("none", "default", "local")
    assert request["ms"] > 0
    (opened,) = [line for line in before if line.get("audit") == "stream opened"]
    batches = [line for line in before + after if "batch" in line]
    assert [line["batch"] for line in batches] == [f"1.{n + 1}" for n in range(len(batches))]
    assert {line["request_id"] for line in batches} == {opened["request_id"]}
    assert {line["session"] for line in batches} == {"demo"}
    assert all(line["status"] == 200 and line["ms"] > 0 and line["bytes"] > 0 for line in batches)
    assert [line for line in after if "batch" in line]


def test_at_info_there_are_neither_requests_nor_batches(running: list[Daemon], tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "data", "--log-format", "json")
    running.append(daemon)
    daemon.client.get("/v1/sessions")
    with gradd.connect(daemon.url, "demo"):
        assert gradd.ones(1).item() == 1.0
    daemon.process.terminate()
    _, log = daemon.end()
    said = [json.loads(line) for line in [daemon.start_line, *log.splitlines()]]
    assert [line["audit"] for line in said if "audit" in line] == ["stream opened", "stream ended"]
    assert {line["logger"] for line in said} == {"gradd", "gradd.audit"}


def test_engine_processes_write_the_same_log(running: list[Daemon], tmp_path: Path) -> None:
    path = tmp_path / "gradd.log"
    for _ in range(2):
        daemon = Daemon(tmp_path / "data", "--log-format", "text", "--log-file", str(path))
        running.append(daemon)
        (engine,) = daemon.engines()
        daemon.client.put("/v1/sessions/kept")
        daemon.client.put("/v1/sessions/kept/tensors/x", json=X).raise_for_status()
        daemon.process.terminate()
        assert daemon.end()[0] == 0
    (line,) = [line for line in path.read_text().splitlines() if "session kept is back" in line]
    assert f" info gradd.runtime[{engine}]: " in line


def test_text_is_one_line_with_its_members() -> None:
    record = logging.LogRecord("gradd.audit", logging.INFO, __file__, 1, "chan\nged", (), None)
    record.members = {"session": "a b", "status": 200, "key": None}
    line = TextFormatter().format(record)
    assert "\n" not in line
    assert line.endswith(': chan\\nged session="a b" status=200')


def test_another_process_is_told_how_to_log(root: logging.Logger, tmp_path: Path) -> None:
    start_log("warning", "text", str(tmp_path / "log"))
    told = log_arguments()
    root.handlers[0].close()
    root.handlers.clear()
    start_log_as(told)
    logging.getLogger("gradd.server").info("nobody hears")
    announce("heard", session="s")
    assert (tmp_path / "log").read_text().endswith(': heard session="s"\n')
    assert "nobody" not in (tmp_path / "log").read_text()


def test_a_log_that_cannot_be_written_is_told(
    root: logging.Logger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = tmp_path / "none" / "log"
    assert cli.main(["serve", "--log-file", str(where), "--data-dir", str(tmp_path / "d")]) == 73
    assert str(where) in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["serve", "--log-format", "xml"])
