"""A real browser over a real daemon. Where there is no browser or no Playwright, these tests skip."""

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

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
#: in milliseconds, for Playwright; the variable is for who writes such tests
PATIENT = 1000 * float(os.environ.get("GRADD_BROWSER_PATIENCE", PATIENCE))


def chromium() -> str | None:
    """The path of the browser: `GRADD_CHROMIUM`, or what is installed."""
    return os.environ.get("GRADD_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def axe() -> Path | None:
    """axe-core's file in `GRADD_NODE_MODULES`, or in `build/browser`, where `make test-browser` puts it."""
    folder = os.environ.get("GRADD_NODE_MODULES", str(ROOT / "build/browser/node_modules"))
    found = Path(folder) / "axe-core" / "axe.min.js"
    return found if found.exists() else None


@dataclass
class Served:
    """A daemon."""

    url: str
    data: Path


def _serve(folder: Path, *flags: str) -> Iterator[Served]:
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


@pytest.fixture(scope="session")
def open_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A daemon that asks nobody for a key."""
    yield from _serve(tmp_path_factory.mktemp("open") / "data", "--no-auth")


@pytest.fixture(scope="session")
def locked_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A daemon that asks for keys."""
    yield from _serve(tmp_path_factory.mktemp("locked") / "data")


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


class Tab:
    """A page, and what went wrong in it."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.url = url
        self.wrong: list[str] = []
        self.asked: list[str] = []
        page.set_default_timeout(PATIENT)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.wrong.append(said.text))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, path: str = "/") -> Any:
        """Load the page."""
        self.page.goto(self.url + path)
        return self.page

    def until(self, text: str) -> None:
        """Wait for a text on the page."""
        self.page.get_by_text(text).first.wait_for(timeout=PATIENT)

    def violations(self) -> list[str]:
        """What axe finds wrong. The page's own policy stands: the script is run as the debugger's."""
        script = axe()
        if script is None:
            pytest.skip("axe-core is not installed; `make test-browser` fetches it")
        self.page.evaluate(script.read_text() + "; undefined")
        found = self.page.evaluate("axe.run({resultTypes: ['violations']})")
        return [
            f"{v['id']}: {v['help']}: {[node['html'] for node in v['nodes']][:3]}"
            for v in found["violations"]
        ]

    def picture(self, name: str) -> None:
        """Take a picture for the docs, where `GRADD_PICTURES` says so."""
        if os.environ.get("GRADD_PICTURES"):
            self.page.screenshot(path=str(PICTURES / f"dashboard-{name}.png"))


@pytest.fixture
def tab(browser: Any, open_daemon: Served, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A tab at the daemon that asks for no key; `scheme` (light, dark) as a parameter."""
    scheme = getattr(request, "param", "light")
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1200, "height": 800})
    made = Tab(context.new_page(), open_daemon.url)
    yield made
    context.close()
    assert made.wrong == []
    assert [url for url in made.asked if not url.startswith(open_daemon.url)] == []


BOTH = pytest.mark.parametrize("tab", ["light", "dark"], indirect=True)
