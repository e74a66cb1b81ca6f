"""What a machine does to a daemon: it kills an engine process that takes too much memory, sets its clock, and
starts a second daemon on the same data.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gradd
import gradd as torch
import pytest

from tests.faults.client import Client
from tests.faults.daemon import Daemon
from tests.processes import children, gone
from tests.waiting import PATIENCE

MEMORY = 200 << 20
#: elements of a tensor that is larger
MANY = 100_000_000


@pytest.fixture
def cage() -> Iterator[Path]:
    """A control group in which processes have `MEMORY` more bytes; a process is put in by its id."""
    root = Path("/sys/fs/cgroup")
    second = (root / "cgroup.controllers").exists()
    group = (root if second else root / "memory") / f"gradd-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.max" if second else "memory.limit_in_bytes")).write_text(str(MEMORY))
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        pytest.skip(f"no control group for memory can be made here: {error}")
    yield group / "cgroup.procs"
    while (group / "cgroup.procs").read_text():
        threading.Event().wait(0.01)
    group.rmdir()


def test_the_kernel_kills_an_engine_process_for_its_memory(daemon: Daemon, cage: Path) -> None:
    large, other = Client(daemon.url, "large"), Client(daemon.url, "other")
    count = {"steps": [{"op": "add_", "inputs": ["c", 1.0]}], "fetch": ["c"]}
    for client in (large, other):
        client.begin()
        assert client.call("PUT", "/tensors/c", json={"data": 0.0, "dtype": "float64"}).is_success
        assert client.numbered(1, count).is_success
    (engine,) = children(daemon.process.pid)
    cage.write_text(str(engine))
    ones = {"op": "ones", "outputs": ["%x"], "attrs": {"size": [MANY], "dtype": "float32"}}
    answer = large.numbered(2, {"steps": [*count["steps"], ones], "fetch": ["c"]})
    assert gone(engine)
    assert large.repeated  # it was told so
    for client, found in ((large, answer), (other, other.numbered(2, count))):
        assert found.json()["results"]["c"]["data"] == 2.0
        assert client.applied() == 2
        client.end()


def test_a_second_daemon_on_the_same_data_refuses(daemon: Daemon, tmp_path: Path) -> None:
    with gradd.connect(daemon.url, "kept"):
        x = torch.ones(2)
        assert x.tolist() == [1.0, 1.0]
        command = [sys.executable, "-m", "gradd_server", "serve", "--port", "0", "--data-dir"]
        second = subprocess.run(
            [*command, str(tmp_path / "data")], capture_output=True, text=True, timeout=PATIENCE
        )
        assert second.returncode == 75
        assert f"process {daemon.process.pid}" in second.stderr
        x.add_(1)
        assert x.tolist() == [2.0, 2.0]
        daemon.kill()  # the next one has the data
        assert x.tolist() == [2.0, 2.0]
    gradd.delete_session("kept", daemon.url)


def test_the_clock_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By hours and years, forth and back: no session ends, no key does, and nothing waits for it."""
    off = tmp_path / "off"
    off.write_text("0")
    (tmp_path / "sitecustomize.py").write_text(
        f"import time\nreal = time.time\ntime.time = lambda: real() + float(open({str(off)!r}).read() or 0)\n"
    )
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
        daemon = Daemon(tmp_path)
    try:
        with ExitStack() as stack:
            sessions, counters = [], []
            for name in ("kept", None):
                session: Any = gradd.connect(daemon.url, name)
                sessions.append(stack.enter_context(session))
                counters.append(torch.zeros((), dtype=torch.float64))
            for n, hours in enumerate((1, -1, 24 * 365, -24 * 365, 0), 1):
                off.write_text(str(3600 * hours))
                for session, counter in zip(sessions, counters, strict=True):
                    counter.add_(1)
                    assert counter.item() == n
                    assert session.info().batches >= n
        gradd.delete_session("kept", daemon.url)
        daemon.end()
    finally:
        daemon.drop()
