"""Fixtures shared by all tests: one real daemon for the whole run."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO

import pytest

from tests.waiting import PATIENCE


def _forward(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    """Read the daemon's output to its end, so that a full pipe never stops it."""
    for line in stream:
        lines.put(line)
    lines.put(None)


def _url(lines: queue.Queue[str | None]) -> str:
    """The address in the daemon's start line."""
    seen: list[str] = []
    while True:
        line = lines.get(timeout=PATIENCE)
        if line is None:
            raise RuntimeError("gradd serve ended before it was ready:\n" + "".join(seen))
        seen.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found.group()


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a `gradd serve` subprocess on a free loopback port, shared by the whole run."""
    pytest.importorskip("gradd_server.cli", reason="the server is not installed", exc_type=ImportError)
    data = tmp_path_factory.mktemp("daemon")
    command = [sys.executable, "-m", "gradd_server", "serve", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--data-dir", str(data)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    lines: queue.Queue[str | None] = queue.Queue()
    reader = threading.Thread(target=_forward, args=(process.stdout, lines), daemon=True)
    reader.start()
    try:
        yield _url(lines)
    finally:
        process.terminate()
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(timeout=PATIENCE)
        process.stdout.close()
