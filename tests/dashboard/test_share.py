"""A session is shared by a link: who makes it, what who has it sees, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from gradd_protocol import runtimefile

from tests.dashboard.conftest import Served, Tab


@pytest.fixture
def key(locked_daemon: Served) -> Iterator[str]:
    """The key of who owns the sessions `shared`, which has a curve, and `private`."""
    found = runtimefile.find(locked_daemon.url)
    assert found is not None
    with gradd.connect(locked_daemon.url, session="private"):
        gradd.ones(2).sum().item()
    with gradd.connect(locked_daemon.url, session="shared") as session:
        session["w"] = gradd.ones(2, requires_grad=True)
        session.log({"loss": 0.5})
    yield found.key
    for name in ("shared", "private"):
        gradd.delete_session(name, locked_daemon.url)


def tabs(browser: Any, daemon: Served) -> tuple[Any, Tab]:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    return context, Tab(context.new_page(), daemon.url)


def test_a_link_shows_one_session_until_it_is_revoked(browser: Any, locked_daemon: Served, key: str) -> None:
    ours, tab = tabs(browser, locked_daemon)
    page = tab.open(f"/#key={key}")
    page.get_by_role("link", name="shared").click()
    page.get_by_text("Share", exact=True).click()
    page.get_by_text("shared with nobody").wait_for()
    assert tab.violations() == []
    page.get_by_label("for hours").fill("24")
    page.get_by_role("button", name="Make a link").click()
    page.get_by_text("The link is copied").wait_for()
    link = page.get_by_label("link", exact=True).input_value()
    assert page.evaluate("navigator.clipboard.readText()") == link
    assert link.startswith(f"{locked_daemon.url}/#key=gradd_")
    assert tab.violations() == []

    theirs, other = tabs(browser, locked_daemon)
    seen = other.open(link.removeprefix(locked_daemon.url))
    seen.get_by_role("heading", name="shared").wait_for()
    seen.get_by_role("img", name="loss: 1 points").wait_for()
    seen.get_by_role("tab", name="Graph").click()
    seen.get_by_role("button", name="Show its graph").click()
    seen.get_by_role("application", name="Graph").wait_for()
    seen.goto(f"{locked_daemon.url}/#/session/private")
    seen.get_by_role("heading", name="shared").wait_for()
    assert seen.get_by_text("private").count() == 0
    assert seen.get_by_text("Share", exact=True).count() == 0
    assert seen.get_by_role("link", name="All sessions").count() == 0
    assert other.violations() == []
    assert other.wrong == []

    page.get_by_role("button", name="Revoke").click()
    page.get_by_text("shared with nobody").wait_for()
    seen.get_by_role("alert").get_by_text("not known").wait_for()
    assert tab.wrong == []
    ours.close()
    theirs.close()


def test_a_daemon_that_asks_for_no_key_shares_nothing(tab: Tab, open_daemon: Served) -> None:
    with gradd.connect(open_daemon.url, session="open"):
        page = tab.open("/#/session/open")
        page.get_by_role("link", name="All sessions").wait_for()
        assert page.get_by_text("Share", exact=True).count() == 0
    gradd.delete_session("open", open_daemon.url)
