"""How long does it take until a daemon answers again: an empty one, and one with a session of 1 GB? And what
does a snapshot of that take?
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gradd

from .bench import Bench, Row, Timing, main

SIZE = 1_000_000_000
#: seconds until an empty daemon is ready, and more for each GB
EMPTY, PER_GB = 2.0, 1.0
_SESSION = "large"


class Daemon:
    """`gradd serve` over a data directory, started when it is made."""

    def __init__(self, data: Path) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gradd_server", "serve", "--port=0", f"--data-dir={data}", "--threads=1"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "GRADD_LOG_LEVEL": "info"},
        )  # fmt: skip
        assert self._process.stderr is not None
        line = next((line for line in self._process.stderr if "http://" in line), "")
        found = re.search(r"http://\S+:\d+", line)
        if found is None:
            raise SystemExit("the daemon ended before it served")
        self.url = found.group()
        with gradd.connect(self.url):
            gradd.ones(1).numpy()
        self.seconds = time.perf_counter() - began
        """Until the first answer of a new session."""

    def end(self) -> float:
        """End it as an operator does; the seconds that takes."""
        began = time.perf_counter()
        self._process.terminate()
        self._process.communicate()
        return time.perf_counter() - began


def question(bench: Bench) -> list[Row]:
    """Start daemons, and ask each for something. All of a session is made again before it answers."""
    nbytes = bench.pick(SIZE, SIZE // 4, 1 << 20)
    rounds = bench.pick(5, 2)
    empty, large, written = Timing(), Timing(), Timing()
    with tempfile.TemporaryDirectory(prefix="gradd-restart-") as folder:
        for n in range(rounds):
            daemon = Daemon(Path(folder, str(n)))
            empty.mine.append(daemon.seconds)
            if n < rounds - 1:
                daemon.end()
        data = Path(folder, str(rounds - 1))
        with gradd.connect(daemon.url, _SESSION) as session:
            for n in range(4):
                session[f"x{n}"] = gradd.rand(nbytes // 16)
            written.mine.append(_ending(daemon, session))
        for _ in range(rounds):
            began = time.perf_counter()
            daemon = Daemon(data)
            with gradd.connect(daemon.url, _SESSION) as session:
                session["x0"][:1].numpy()
                large.mine.append(time.perf_counter() - began)
                session["x0"].add_(1)
                written.mine.append(_ending(daemon, session))
    size = f"{nbytes / 1e9:.2g} GB"
    rows = [
        empty.time("restart of an empty daemon", EMPTY, 1.0, "s"),
        large.time(f"restart with a session of {size}", EMPTY + PER_GB * nbytes / 1e9, 1.0, "s"),
        written.time(f"end of a daemon with a changed session of {size}", None, 1.0, "s"),
    ]
    for row in rows:
        row.cpu = {}  # they are of another daemon
    return rows


def _ending(daemon: Daemon, session: gradd.Session) -> float:
    """End a daemon whose session has nothing left to send; the seconds that takes."""
    session.flush()
    session.info()
    session.close()
    return daemon.end()


if __name__ == "__main__":
    main(question)
