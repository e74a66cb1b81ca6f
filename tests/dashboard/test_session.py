"""A session's tabs in a browser: its losses and its graphs, small and large."""

from __future__ import annotations

import linecache
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
def test_curves_are_drawn_and_read(tab: Tab, trained: Any) -> None:
    page = tab.open("/#/session/trained/losses")
    plot = page.get_by_role("img", name="loss: 60 points")
    plot.wait_for()
    assert plot.locator("path").get_attribute("d").count("L") == 59
    plot.press("Home")
    page.locator("output", has_text="at 0").wait_for()
    page.get_by_label("logarithmic").check()
    assert tab.violations() == []
    tab.picture(f"losses-{tab.scheme}")
    trained.log({"loss": 1.0})
    trained.flush()
    page.get_by_role("img", name="loss: 61 points").wait_for()


def test_what_is_logged_while_an_answer_takes_long_is_asked_for(tab: Tab, trained: Any) -> None:
    held: list[Any] = []
    tab.page.route("**/series", lambda route: held.append((route, route.fetch())), times=1)
    page = tab.open("/#/session/trained/losses")
    while not held:
        page.wait_for_function("() => document.querySelector('h1')?.textContent === 'trained'")
    trained.log({"loss": 1.0})
    trained.flush()
    looks = page.evaluate("performance.now()") + 4000  # two of them later
    page.wait_for_function("until => performance.now() > until", arg=looks)
    route, answer = held.pop()
    route.fulfill(response=answer)
    page.get_by_role("img", name="loss: 61 points").wait_for()


@pytest.mark.parametrize(
    ("one", "other"), [(1e308, -1e308), (1e17, 1e17 + 16), (1e17, 1e17), (1.7e308, 1.7e308), (0.0, 5e-324)]
)
def test_a_curve_of_any_numbers_is_drawn(tab: Tab, open_daemon: Served, one: float, other: float) -> None:
    with gradd.connect(open_daemon.url, session="odd") as session:
        session.log({"loss": one}, step=1 << 60)
        session.log({"loss": other}, step=(1 << 60) + 256)
        session.flush()
        page = tab.open("/#/session/odd/losses")
        plot = page.get_by_role("img", name="loss: 2 points")
        plot.wait_for()
        assert plot.locator("path").get_attribute("d").count("L") == 1
        page.get_by_label("logarithmic").check()  # what goes wrong in the page fails the test
        page.get_by_role("img", name="loss: 2 points").wait_for()
    gradd.delete_session("odd", open_daemon.url)


@BOTH
def test_a_graph_is_drawn_and_walked(tab: Tab, trained: Any) -> None:
    page = tab.open("/#/session/trained/losses")
    page.get_by_role("tab", name="Losses").press("ArrowRight")
    page.get_by_label("tensor").fill("loss")
    page.get_by_role("button", name="Show its graph").click()
    canvas = page.get_by_role("application", name="Graph")
    canvas.wait_for()
    chosen = page.locator("dl[aria-live] dd").first
    assert chosen.text_content() == "MeanBackward0"
    file, _, line = page.locator("dl[aria-live] dt:text('made in') + dd").text_content().rpartition(":")
    assert file.endswith("test_session.py")
    assert linecache.getline(__file__, int(line)).strip().startswith('session["loss"] = ')
    canvas.press("ArrowDown")
    assert chosen.text_content() == "PowBackward0"
    canvas.press("+")
    canvas.press("0")
    assert tab.violations() == []
    tab.picture(f"graph-{tab.scheme}")


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


@pytest.fixture
def training(open_daemon: Served) -> Iterator[Any]:
    """A session in which a script trains, a step at each call."""
    with gradd.connect(open_daemon.url, session="held") as session:
        gradd.manual_seed(0)
        x = gradd.randn(64, 32)
        model = gradd.nn.Sequential(gradd.nn.Linear(32, 128), gradd.nn.ReLU(), gradd.nn.Linear(128, 32))
        for name, parameter in model.named_parameters():
            session[f"net.{name}"] = parameter
        optimizer = gradd.optim.Adam(model.parameters())
        kept = []

        def step(count: int) -> None:
            for n in range(count):
                optimizer.zero_grad()
                loss = ((model(x) - x) ** 2).mean()
                if n % 8 == 0:
                    kept.append(model[0](x).exp())
                assert loss.item() > 0
                loss.backward()
                optimizer.step()
            session.flush()

        yield step
    gradd.delete_session("held", open_daemon.url)


@BOTH
def test_memory_is_stacked_by_tensor(tab: Tab, training: Any) -> None:
    training(40)
    page = tab.open("/#/session/held/memory")
    row = page.get_by_role("row").filter(has_text="net.0.weight.grad").first
    row.wait_for()
    assert "gradient" in row.text_content()
    plot = page.get_by_role("img", name="Memory:")
    for _ in range(3):
        before = plot.get_attribute("aria-label")
        training(40)
        page.wait_for_function(
            "before => document.querySelector('figure svg').getAttribute('aria-label') !== before", arg=before
        )
    assert plot.locator("path.area").count() > 4
    plot.press("Home")
    page.locator("output", has_text="after").wait_for()
    page.get_by_text("The numbers of the course").first.click()
    numbers = page.get_by_role("region", name="The numbers of the course").get_by_role("row")
    assert numbers.count() > 2
    assert tab.violations() == []
    page.get_by_text("The numbers of the course").first.click()
    page.evaluate("document.querySelector('[role=tablist]').scrollIntoView()")
    tab.picture(f"memory-{tab.scheme}")
    page.get_by_label("all, the sum alone").check()
    assert plot.locator("path.area").count() == 1


@BOTH
def test_batches_are_measured_and_walked(tab: Tab, training: Any) -> None:
    training(6)
    page = tab.open("/#/session/held/batches")
    page.get_by_text("% planned").wait_for()
    page.get_by_role("cell", name="first sighting").wait_for()
    page.get_by_role("button", name="Measure 20 batches").click()
    page.get_by_text("measuring the next batches").wait_for()
    training(20)
    flame = page.get_by_role("application", name="The latest batches")
    flame.wait_for()
    chosen = page.locator("dl[aria-live] dt").first
    assert chosen.text_content() == "engine"
    flame.press("ArrowDown")
    assert chosen.text_content() == "kernels"
    kernel = page.locator("dl[aria-live] dd").first.text_content()
    flame.press("ArrowRight")
    flame.press("+")
    flame.press("0")
    flame.press("ArrowUp")
    flame.press("ArrowUp")
    assert chosen.text_content() in ("queue", "front")
    flame.press("ArrowUp")
    flame.press("ArrowUp")
    assert chosen.text_content() == "record"
    rows = page.get_by_role("region", name="The batches that were measured").locator("tbody tr")
    assert rows.count() == 20
    by_op = page.get_by_role("region", name="Kernels by operation")
    assert by_op.get_by_role("cell", name=kernel, exact=True).count() >= 1
    assert tab.violations() == []
    for _ in range(4):
        flame.press("+")
    page.get_by_role("heading", name="The latest batches").evaluate("it => it.scrollIntoView()")
    tab.picture(f"batches-{tab.scheme}")
