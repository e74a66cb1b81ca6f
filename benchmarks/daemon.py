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
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    """Address and process id of a `gradd serve` that lives as long as this block."""
    with tempfile.TemporaryDirectory(prefix="gradd-bench-") as data:
        command = [sys.executable, "-m", "gradd_server", "serve", "--port=0", f"--data-dir={data}"]
        process = subprocess.Popen(
            [*command, "--log-level=info"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            assert process.stdout is not None
            line = next((line for line in process.stdout if "http://" in line), "")
            found = re.search(r"http://\S+:\d+", line)
            if found is None:
                raise SystemExit("the daemon ended before it served")
            # Its output is read to the end, so that a full pipe never stops it.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield found.group(), process.pid
        finally:
            process.terminate()
            process.wait()


def cpu_seconds(pid: int | None) -> float:
    """CPU time of a process so far, its threads together; 0 where there is none.

    The clock id of another process is what clock_getcpuclockid(3) returns on Linux.
    """
    return 0.0 if pid is None else time.clock_gettime((~pid << 3) | 2)


class Memory:
    """How far a process's resident memory rises above where it stood, in bytes (Linux)."""

    def __init__(self, pid: int | None) -> None:
        self._at = None if pid is None else Path(f"/proc/{pid}")
        if self._at is not None:
            (self._at / "clear_refs").write_text("5")  # the high-water mark falls to what is resident now
            self._before = self._status("VmRSS")

    def _status(self, field: str) -> int:
        assert self._at is not None
        found = re.search(rf"^{field}:\s+(\d+) kB", (self._at / "status").read_text(), re.MULTILINE)
        assert found is not None
        return int(found[1]) * 1024

    def rise(self) -> int:
        """Peak since this object was made, less what was resident then."""
        return 0 if self._at is None else self._status("VmHWM") - self._before


def child(module: str, *arguments: str) -> subprocess.Popen[str]:
    """`python -m module` in a process of its own, to be spoken to by lines."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT, env=dict(os.environ),
    )  # fmt: skip
