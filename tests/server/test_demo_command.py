"""`gradd demo`: a daemon for a training of another process, from the installed package alone."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from pathlib import Path

from gradd_server import cli

from tests.processes import children
from tests.waiting import PATIENCE

COMMAND = [sys.executable, "-m", "gradd_server", "demo"]


def test_a_stranger_sees_a_training(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GRADD_")}
    environ |= {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "XDG_RUNTIME_DIR": ""}
    done = subprocess.run(
        COMMAND, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second, heads, *rows, last = done.stdout.splitlines()
    url = first.removeprefix("a daemon serves on ")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
    assert second == f"a session in {url} learns which of two spirals a point is on"
    assert heads.split() == ["step", "loss", "right"]
    assert [int(row.split()[0]) for row in rows] == [40, 80, 120, 160, 200]
    found = re.fullmatch(r"(\S+)% of points that it had not seen, after 200 steps in \S+ s", last)
    assert found is not None
    assert float(found[1]) >= 97
    assert done.stderr == ""
    assert list(tmp_path.glob("gradd-demo-*")) == []
    assert cli.main(["health", "--url", url]) == 69  # it is gone


def test_a_demo_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GRADD_")}
    environ |= {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "XDG_RUNTIME_DIR": ""}
    with subprocess.Popen(
        COMMAND, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as demo:
        assert demo.stdout is not None
        url = demo.stdout.readline().removeprefix("a daemon serves on ").strip()
        demo.stdout.readline()  # the training has begun
        started = [os.pidfd_open(pid) for pid in children(demo.pid)]
        demo.kill()
    assert len(started) == 2
    for process in started:
        assert select.select([process], [], [], PATIENCE)[0], "a process of the demo outlives it"
        os.close(process)
    assert list(tmp_path.glob("gradd-demo-*")) == []
    assert cli.main(["health", "--url", url]) == 69
