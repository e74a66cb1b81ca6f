"""A real browser over a real daemon. Where there is no browser or no Playwright, these tests skip."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import PATIENT, serve
from tests.browser import Served as Served

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


def axe() -> Path | None:
    """axe-core's file in `GRADD_NODE_MODULES`, or in `build/browser`, where `make test-browser` puts it."""
    folder = os.environ.get("GRADD_NODE_MODULES", str(ROOT / "build/browser/node_modules"))
    found = Path(folder) / "axe-core" / "axe.min.js"
    return found if found.exists() else None


@pytest.fixture(scope="session")
def open_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A daemon that asks nobody for a key."""
    yield from serve(tmp_path_factory.mktemp("open") / "data", "--no-auth")


@pytest.fixture(scope="session")
def locked_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A daemon that asks for keys."""
    yield from serve(tmp_path_factory.mktemp("locked") / "data")


class Tab:
    """A page, and what went wrong in it."""

    def __init__(self, page: Any, url: str, scheme: str = "light") -> None:
        self.page = page
        self.url = url
        self.scheme = scheme
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
    made = Tab(context.new_page(), open_daemon.url, scheme)
    yield made
    context.close()
    assert made.wrong == []
    assert [url for url in made.asked if not url.startswith(open_daemon.url)] == []


BOTH = pytest.mark.parametrize("tab", ["light", "dark"], indirect=True)
