"""What notebooks show of tensors, sessions, graphs and modules, and that it waits for nothing more."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd import nn
from gradd._exceptions import GraddError
from gradd._tensor.tensor import Tensor

EVIL = "<script>alert('x')</script>&"


class Page(HTMLParser):
    """The cells of tables, the texts, and the tags of some HTML. AssertionError where tags do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def page_of(shown: Any) -> Page:
    if isinstance(shown, Tensor):
        return Page(shown._repr_mimebundle_()["text/html"])
    return Page(shown._repr_html_())


@pytest.fixture(params=["local:", "daemon"])
def session(request: pytest.FixtureRequest) -> Any:
    url = request.getfixturevalue("daemon") if request.param == "daemon" else request.param
    with gradd.connect(url) as made:
        yield made


def test_a_tensor_shows_what_it_is_and_its_values(session: gradd.Session) -> None:
    w = torch.tensor([[1.0, 2.5], [-3.0, 4.0]], requires_grad=True)
    page = page_of(w * 2)
    assert page.rows == [["2.", "5."], ["-6.", "8."]]
    said = (
        "tensor shape (2, 2) · dtype torch.float32 · device cpu · requires_grad True · grad_fn MulBackward0"
    )
    assert said in page.words
    assert page_of(torch.tensor([True, False])).rows == [["True", "False"]]
    assert "requires_grad" not in page_of(torch.ones(2)).words
    assert page_of(torch.tensor([1 + 2j])).rows == [["1.+2.j"]]
    assert page_of(torch.tensor([0.5, 1.0], dtype=torch.bfloat16)).rows == [["0.5000", "1.0000"]]


def test_the_text_is_what_prints(session: gradd.Session) -> None:
    for t in (torch.ones(3), torch.ones(2, 2, 2), torch.tensor(3), torch.ones(0), torch.ones(200, 200)):
        shown = t._repr_mimebundle_()
        assert shown["text/plain"] == repr(t)
    assert repr(torch.ones(2, 2, 2)) in page_of(torch.ones(2, 2, 2)).words
    assert page_of(torch.tensor(3)).rows == []


def test_a_large_tensor_shows_its_edges(session: gradd.Session) -> None:
    rows = page_of(torch.arange(30 * 40).reshape(30, 40)).rows
    assert rows[0] == ["0", "1", "2", "...", "37", "38", "39"]
    assert rows[3] == ["..."] * 7
    assert rows[-1][-1] == "1199"
    assert page_of(torch.arange(21)).rows == [["0", "1", "2", "...", "18", "19", "20"]]
    assert len(page_of(torch.arange(20)).rows[0]) == 20


@pytest.mark.parametrize("size", [4, 300, 100_000])
def test_showing_a_tensor_waits_as_often_as_printing_it(session: gradd.Session, size: int) -> None:
    def trips(show: Any, of: Any) -> int:
        t = of(torch.ones(size))
        session.flush()
        before = session.stats()["round_trips"]
        show(t)
        return session.stats()["round_trips"] - before

    shown, printed = trips(Tensor._repr_mimebundle_, torch.exp), trips(repr, torch.sin)
    assert shown == printed > 0


def test_what_prevents_a_value_is_shown_once(session: gradd.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fail(self: Tensor) -> Any:
        calls.append(1)
        raise GraddError(EVIL)

    t = torch.ones(2).exp()
    monkeypatch.setattr(Tensor, "_values", fail)
    shown = t._repr_mimebundle_()
    assert shown["text/plain"] == f"tensor: GraddError: {EVIL}"
    assert Page(shown["text/html"]).tags == ["pre"]
    assert calls == [1]


def test_other_tensors(session: gradd.Session) -> None:
    sparse = torch.eye(3).to_sparse()
    assert repr(sparse) in page_of(sparse).words
    assert page_of(sparse).rows == []
    lazy = nn.LazyLinear(2)
    assert lazy.weight._repr_mimebundle_()["text/plain"] == "<UninitializedParameter>"
    assert page_of(nn.Parameter(torch.ones(2))).words.startswith("Parameter shape (2,)")


def test_a_session_shows_memory_and_plan_hits(session: gradd.Session) -> None:
    a = torch.ones(1000)
    for _ in range(5):
        a = a * 1.5
        a.sum().item()
    page = page_of(session)
    cells = dict(page.rows)
    assert page.words.startswith(session.name)
    assert f"daemon {session.url} · device cpu · state open" in page.words
    assert cells["sent by this client"].startswith(f"{session.stats()['batches']} batches")
    assert re.fullmatch(r"\d+ tensors, [\d.]+ \w+", cells["memory"])
    assert re.fullmatch(r"\d+ of \d+ batches \(\d+%\)|none yet", cells["plan hits"])


def test_showing_a_session_sends_nothing_that_was_recorded(session: gradd.Session) -> None:
    session.flush()
    torch.ones(3).exp()
    before = session.stats()
    page_of(session)
    assert session.stats() == before


def test_a_session_that_is_closed_or_whose_daemon_says_nothing() -> None:
    with gradd.connect("local:") as session:
        session.wire.transport.glance = lambda: None  # type: ignore[method-assign]
        assert "memory" not in page_of(session).words
    assert "state closed" in page_of(session).words


def test_graphs_are_drawn(session: gradd.Session) -> None:
    w = torch.ones(2, requires_grad=True)
    drawing = session.graph((w * 2).sum())._repr_svg_()
    assert Page(drawing).tags[0] == "svg"
    assert "SumBackward0" in drawing


def test_a_module_shows_its_parts_and_parameters(session: gradd.Session) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2, bias=False))
    model[2].weight.requires_grad = False
    page = page_of(model)
    assert page.rows[1] == [
        "0", "Linear(in_features=3, out_features=4, bias=True)", "weight (4, 3), bias (4,)", "16"
    ]  # fmt: skip
    assert [row[0] for row in page.rows] == ["part", "0", "2"]
    assert "Sequential elements 24 · frozen 8 · mode training" in page.words
    lazy = page_of(nn.Sequential(nn.LazyLinear(2)))
    assert "not known yet 2 parameters" in lazy.words
    assert lazy.rows[1][2:] == ["weight ?, bias ?", "0"]


def test_what_users_named_is_escaped(session: gradd.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(1, 1)

        def extra_repr(self) -> str:
            return EVIL

        def _get_name(self) -> str:
            return EVIL

    model = Named()
    model.register_parameter("p<b>", nn.Parameter(torch.ones(1)))
    monkeypatch.setattr(session, "_name", EVIL)
    monkeypatch.setattr(session, "url", EVIL)
    evil = type(EVIL, (Tensor,), {"__module__": __name__})
    derived = torch.ones(2).as_subclass(evil)
    for shown in (model, session, derived):
        page = page_of(shown)
        assert not {"script", "b>"} & set(page.tags)
        assert EVIL in page.words
    body = {"forward": lambda ctx, x: x * 2, "backward": lambda ctx, g: g * 2}
    named = type(EVIL, (torch.autograd.Function,), {name: staticmethod(f) for name, f in body.items()})
    made = named.apply(torch.ones(2, requires_grad=True))
    assert "script" not in [*page_of(made).tags, *Page(session.graph(made)._repr_svg_()).tags]
    assert EVIL in page_of(made).words
