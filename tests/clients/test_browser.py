"""The TypeScript package in a page of another origin: the README's page trains, other pages are kept out."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from gradd_protocol import runtimefile

from tests.browser import PATIENT, serve
from tests.clients.conftest import package
from tests.docs.test_pages import blocks
from tests.waiting import PATIENCE


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The origin at which a folder's files are pages."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


@pytest.fixture
def folder(tmp_path: Path, browser: Any) -> Path:
    """What is served: an empty page, to begin with."""
    made = tmp_path / "site"
    made.mkdir()
    (made / "empty.html").write_text("<!doctype html><title>empty</title>")
    return made


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A tab of a browser of its own."""
    context = browser.new_context()
    made = context.new_page()
    made.set_default_timeout(PATIENT)
    yield made
    context.close()


daemon_at = contextmanager(serve)


def test_the_page_of_the_readme_trains(folder: Path, page: Any, tmp_path: Path) -> None:
    package(folder, ".")
    written = blocks("clients/typescript/README.md", "html")
    with (
        site(folder) as origin,
        daemon_at(tmp_path / "data", "--workers", "0", "--allow-origin", origin) as daemon,
    ):
        assert "http://127.0.0.1:4733" in written
        (folder / "index.html").write_text(written.replace("http://127.0.0.1:4733", daemon.url))
        found = runtimefile.find(daemon.url)
        assert found is not None
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: dialog.accept(found.key))
        page.goto(f"{origin}/")
        page.wait_for_function("document.getElementById('said').textContent.split('\\n').length > 12")
        *losses, w, grad = map(json.loads, page.locator("#said").text_content().splitlines())
        assert wrong == []
        assert len(losses) == 10
        assert losses == sorted(losses, reverse=True)
        assert [round(value, 3) for (value,) in w] == [2.0, -1.0]
        assert (grad["dtype"], grad["shape"]) == ("float32", [2, 1])
        assert max(abs(value) for (value,) in grad["data"]) < 1e-3


SEEN = """async (url) => {
  const open = (to) => new Promise((done) => {
    const socket = new WebSocket(to, "gradd.v1");
    socket.onopen = () => { socket.close(); done(true); };
    socket.onerror = () => done(false);
  });
  const read = (path, init) => fetch(url + path, init).then(
    (answer) => [answer.status, answer.headers.get("X-Request-Id") !== null], () => null);
  return {
    plain: await read("/v1"),
    preflighted: await read("/v1/sessions/demo", { method: "PUT" }),
    problem: await read("/v1/none", { headers: { "Idempotency-Key": "1" } }),
    stream: await open(url.replace("http", "ws") + "/v1/sessions/demo/stream"),
  };
}"""
"""What a page is told of a daemon that asks for no key."""


def test_pages_of_other_origins_are_kept_out(folder: Path, page: Any, tmp_path: Path) -> None:
    look: Callable[[str], Any] = partial(page.evaluate, SEEN)
    with (
        site(folder) as allowed,
        site(folder) as other,
        daemon_at(tmp_path / "data", "--workers", "0", "--no-auth", "--allow-origin", allowed) as daemon,
    ):
        page.goto(f"{other}/empty.html")
        assert look(daemon.url) == {"plain": None, "preflighted": None, "problem": None, "stream": False}
        page.goto(f"{allowed.replace('127.0.0.1', 'localhost')}/empty.html")
        assert look(daemon.url) == {"plain": None, "preflighted": None, "problem": None, "stream": False}
        page.goto(f"{allowed}/empty.html")
        assert look(daemon.url) == {
            "plain": [200, True], "preflighted": [201, True], "problem": [404, True], "stream": True,
        }  # fmt: skip
