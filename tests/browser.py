"""A real browser, and daemons for it. Where there is no browser or no Playwright, tests with it skip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
#: in milliseconds, for Playwright; the variable is for who writes such tests
PATIENT = 1000 * float(os.environ.get("GRADD_BROWSER_PATIENCE", PATIENCE))


def chromium() -> str | None:
    """The path of the browser: `GRADD_CHROMIUM`, or what is installed."""
    return os.environ.get("GRADD_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("no chromium is installed; GRADD_CHROMIUM names one")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield launched
        launched.close()


@dataclass
class Served:
    """A daemon."""

    url: str
    data: Path


def serve(folder: Path, *flags: str) -> Iterator[Served]:
    """A daemon over the data directory `folder`, for a fixture."""
    command = [sys.executable, "-m", "gradd_server", "serve", "--port", "0", "--data-dir", str(folder)]
    process = subprocess.Popen(
        [*command, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        else:
            pytest.fail(f"gradd serve ended before it was ready: {said}")
        reader = threading.Thread(target=process.stdout.read, daemon=True)  # a full pipe would stop it
        reader.start()
        yield Served(found.group(), folder)
        process.terminate()
        reader.join(timeout=PATIENCE)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)
        process.stdout.close()
