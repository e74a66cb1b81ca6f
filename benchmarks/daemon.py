"""A daemon of the benchmark's own on a free loopback port, and what a process has used so far."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def serving(*flags: str) -> Iterator[tuple[str, int]]:
    """Address and process id of a `gradd serve` with these flags that lives as long as this block."""
    with tempfile.TemporaryDirectory(prefix="gradd-bench-") as data:
        command = [sys.executable, "-m", "gradd_server", "serve", "--port=0", f"--data-dir={data}"]
        process = subprocess.Popen(
            [*command, "--log-level=info", "--workers=1", "--threads=1", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert process.stdout is not None
            line = next((line for line in process.stdout if "http://" in line), "")
            found = re.search(r"http://\S+:\d+", line)
            if found is None:
                raise SystemExit("the daemon ended before it served")
            # Its output is read to the end, so that a full pipe never stops it.
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            yield found.group(), process.pid
        finally:
            process.terminate()
            process.wait()
        reader.join()
        process.stdout.close()


@cache
def family(pid: int) -> list[int]:
    """A process and the children that it had when this was first asked (Linux)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [pid, *(int(child) for task in tasks for child in task.read_text().split())]


def cpu_seconds(pid: int | None) -> dict[str, float]:
    """CPU time so far, threads together, of this process ("client"), and of a daemon's: "front" and "engine",
    which are its children. A daemon that is None has none.

    The clock id of another process is what clock_getcpuclockid(3) returns on Linux.
    """
    found = {"client": time.process_time()}
    if pid is not None:
        front, *engines = (time.clock_gettime((~one << 3) | 2) for one in family(pid))
        found |= {"front": front, "engine": sum(engines)}
    return found


class Memory:
    """How far the resident memory of a process and its children rises above where it stood, in bytes
    (Linux).
    """

    def __init__(self, pid: int | None) -> None:
        self._at = [] if pid is None else [Path(f"/proc/{one}") for one in family(pid)]
        for process in self._at:
            (process / "clear_refs").write_text("5")  # the high-water mark falls to what is resident now
        self._before = self._sum("VmRSS")

    def _sum(self, field: str) -> int:
        found = [
            re.search(rf"^{field}:\s+(\d+) kB", (process / "status").read_text(), re.MULTILINE)
            for process in self._at
        ]
        return sum(int(one[1]) * 1024 for one in found if one is not None)

    def rise(self) -> int:
        """Their peaks since this object was made, less what was resident then."""
        return self._sum("VmHWM") - self._before


def child(module: str, *arguments: str) -> subprocess.Popen[str]:
    """`python -m module` in a process of its own, to be spoken to by lines."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT, env=dict(os.environ),
    )  # fmt: skip
