"""The page in a browser: it shows sessions live, asks for a key, and is for everybody."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import gradd
from gradd_protocol import runtimefile

from tests.dashboard.conftest import BOTH, Served, Tab


def put(daemon: Served, path: str, body: Any = None, method: str = "PUT") -> Any:
    """A request with JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        daemon.url + path, data, {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None


@BOTH
def test_it_lists_sessions_live(tab: Tab, open_daemon: Served) -> None:
    page = tab.open()
    tab.until("live")
    put(open_daemon, "/v1/sessions/first")
    page.get_by_role("link", name="first").wait_for()
    put(open_daemon, "/v1/sessions/first/tensors/w", {"data": [1.0] * 256, "dtype": "float32"})
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="first"))
    row.get_by_text("1.0 KiB").wait_for()
    assert tab.violations() == []
    put(open_daemon, "/v1/sessions/first", method="DELETE")
    page.get_by_role("link", name="first").wait_for(state="detached")


def test_everything_is_reached_by_the_keyboard(tab: Tab, open_daemon: Served) -> None:
    put(open_daemon, "/v1/sessions/keys")
    page = tab.open()
    link = page.get_by_role("link", name="keys")
    link.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(20):
        if link.evaluate("link => link === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="keys").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert tab.violations() == []
    put(open_daemon, "/v1/sessions/keys", method="DELETE")


def test_a_key_is_asked_for_and_kept_in_the_tab(browser: Any, locked_daemon: Served) -> None:
    found = runtimefile.find(locked_daemon.url)
    assert found is not None
    context = browser.new_context()
    tab = Tab(context.new_page(), locked_daemon.url)
    page = tab.open()
    field = page.get_by_label("API key")
    field.wait_for()
    assert tab.violations() == []
    field.fill("gradd_wrong")
    field.press("Enter")
    page.get_by_role("alert").get_by_text("no whole key").wait_for()
    field = page.get_by_label("API key")
    field.fill(found.key)
    field.press("Enter")
    page.get_by_role("heading", name="Sessions").wait_for()
    page.reload()
    page.get_by_role("heading", name="Sessions").wait_for()
    assert [url for url in tab.asked if found.key in url] == []
    page.get_by_role("button", name="Forget the key").click()
    page.get_by_label("API key").wait_for()
    context.close()


def test_a_key_in_the_fragment_is_taken_out_of_the_address(browser: Any, locked_daemon: Served) -> None:
    found = runtimefile.find(locked_daemon.url)
    assert found is not None
    context = browser.new_context()
    tab = Tab(context.new_page(), locked_daemon.url)
    page = tab.open(f"/#key={found.key}")
    page.get_by_role("heading", name="Sessions").wait_for()
    assert found.key not in page.url
    assert not any(found.key in url for url in tab.asked)
    assert tab.wrong == []
    context.close()


def test_a_script_is_seen_while_it_runs(tab: Tab, open_daemon: Served) -> None:
    page = tab.open()
    with gradd.connect(open_daemon.url, session="training"):
        w = gradd.ones(64, requires_grad=True)
        for _ in range(4):
            (w * w).sum().backward()
        print(w.grad.tolist()[0])
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="training"))
        row.get_by_text("%").wait_for()
        tab.picture("sessions")
    gradd.delete_session("training", open_daemon.url)
