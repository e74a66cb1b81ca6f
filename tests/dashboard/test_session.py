"""A session's tabs in a browser: its losses and its graphs, small and large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest

from tests.dashboard.conftest import BOTH, Served, Tab


@pytest.fixture
def trained(open_daemon: Served) -> Iterator[Any]:
    """A session in which a script trained and logged."""
    with gradd.connect(open_daemon.url, session="trained") as session:
        gradd.manual_seed(0)
        x = gradd.randn(64, 8)
        y = x.sum(1, keepdim=True)
        model = gradd.nn.Sequential(gradd.nn.Linear(8, 16), gradd.nn.ReLU(), gradd.nn.Linear(16, 1))
        optimizer = gradd.optim.SGD(model.parameters(), lr=0.05)
        for n in range(60):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            session.log({"loss": loss, "learning rate": 0.05 / (1 + n)})
            loss.backward()
            optimizer.step()
        session["loss"] = ((model(x) - y) ** 2).mean()
        yield session
    gradd.delete_session("trained", open_daemon.url)


@BOTH
def test_curves_are_drawn_and_read(tab: Tab, trained: Any, request: pytest.FixtureRequest) -> None:
    page = tab.open("/#/session/trained/losses")
    plot = page.get_by_role("img", name="loss: 60 points")
    plot.wait_for()
    assert plot.locator("path").get_attribute("d").count("L") == 59
    plot.press("Home")
    page.locator("output", has_text="at 0").wait_for()
    page.get_by_label("logarithmic").check()
    assert tab.violations() == []
    tab.picture(f"losses-{request.node.callspec.params['tab']}")
    trained.log({"loss": 1.0})
    trained.flush()
    page.get_by_role("img", name="loss: 61 points").wait_for()


@BOTH
def test_a_graph_is_drawn_and_walked(tab: Tab, trained: Any, request: pytest.FixtureRequest) -> None:
    page = tab.open("/#/session/trained/losses")
    page.get_by_role("tab", name="Losses").press("ArrowRight")
    page.get_by_label("tensor").fill("loss")
    page.get_by_role("button", name="Show its graph").click()
    canvas = page.get_by_role("application", name="Graph")
    canvas.wait_for()
    chosen = page.locator("dl[aria-live] dd").first
    assert chosen.text_content() == "MeanBackward0"
    canvas.press("ArrowDown")
    assert chosen.text_content() == "PowBackward0"
    canvas.press("+")
    canvas.press("0")
    assert tab.violations() == []
    tab.picture(f"graph-{request.node.callspec.params['tab']}")


@pytest.mark.parametrize("nodes", [10, 10_000])
def test_a_graph_may_be_large(tab: Tab, open_daemon: Served, nodes: int) -> None:
    with gradd.connect(open_daemon.url, session="deep") as session:
        y = gradd.ones(4, requires_grad=True)
        for _ in range(nodes - 1):
            y = y * 1.0
        session["deep"] = y
        page = tab.open("/#/session/deep/graph")
        page.get_by_label("tensor").fill("deep")
        page.get_by_role("button", name="Show its graph").click()
        page.get_by_text(f"{nodes:,} nodes").wait_for()
        canvas = page.get_by_role("application", name="Graph")
        canvas.press("ArrowDown")
        assert page.locator("dl[aria-live] dd").first.text_content() == "MulBackward0"
    gradd.delete_session("deep", open_daemon.url)


def test_a_tensor_that_is_not_there(tab: Tab, trained: Any) -> None:
    page = tab.open("/#/session/trained/graph")
    page.get_by_label("tensor").fill("none")
    page.get_by_role("button", name="Show its graph").click()
    page.get_by_text("no tensor 'none'").wait_for()
    assert tab.wrong
    tab.wrong.clear()  # the browser notes the 404
