"""The engine process that is begun before the front knows what it is to be."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gradd_server import cli
from gradd_server.commands import serving
from gradd_server.placement.early import Early, threads_of
from gradd_server.placement.workers import WorkersPlacement

from tests.server.test_workers import gone, peer


def test_it_is_the_first_engine_process() -> None:
    early = Early(1)
    pid = early._child.pid if early._child is not None else 0
    placement = WorkersPlacement(workers=2, threads=1, early=early)
    try:
        early.close()  # is the placement's now
        assert placement.pids[0] == pid
        placement.open("a", {})
        writer = peer(placement, "a")
        writer.put("x", [1.0, 2.0])
        assert writer.get("x").tolist() == [1.0, 2.0]
    finally:
        placement.shutdown()
    assert gone(pid)


def test_one_that_nobody_wants_is_ended() -> None:
    early = Early(1)
    assert early._child is not None
    pid = early._child.pid
    early.close()
    early.close()
    assert gone(pid)


def test_one_that_ended_is_told() -> None:
    early = Early(1)
    assert early._child is not None
    early._child.kill()
    early._child.wait()
    with pytest.raises(OSError, match="pipe"):
        early.hand(["x"], [])


def test_one_that_has_heard_all_may_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It closes its end as soon as it was told."""
    early = Early(1)
    send = socket.send_fds

    def heard(to: socket.socket, *given: Any) -> int:
        sent = send(to, *given)
        assert to.recv(1) == b""
        return sent

    monkeypatch.setattr(socket, "send_fds", heard)
    child = early.hand(["x"], [])
    child.kill()
    child.wait()


def test_another_is_begun_for_one_that_ended() -> None:
    early = Early(1)
    assert early._child is not None
    early._child.kill()
    early._child.wait()
    placement = WorkersPlacement(workers=1, threads=1, early=early)
    try:
        placement.open("a", {})
        writer = peer(placement, "a")
        writer.put("x", [1.0, 2.0])
        assert writer.get("x").tolist() == [1.0, 2.0]
    finally:
        placement.shutdown()


def test_a_daemon_whose_pipe_breaks_is_not_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a command is whose output nobody reads any more."""

    def broken(*_: object) -> int:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(serving, "_serve_with", broken)
    with pytest.raises(RuntimeError, match="pipe"):
        cli.main(["serve", "--data-dir", str(tmp_path), "--workers", "0"])


def test_it_ends_with_its_parent() -> None:
    begun = "from gradd_server.placement.early import Early; print(Early(1)._child.pid); os._exit(0)"
    # Its output ends when nobody has it any more.
    done = subprocess.run(
        [sys.executable, "-c", f"import os; {begun}"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 0


def test_threads_are_shared_out() -> None:
    cores = len(os.sched_getaffinity(0))
    assert threads_of(3, 2) == 3
    assert threads_of(0, 1) == cores
    assert threads_of(0, 10 * cores) == 1
