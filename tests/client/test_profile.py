"""`Session.profile()`: what ran, how, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from msgspec.structs import replace


@pytest.fixture(params=["local", "stream", "http"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url, transport="http" if request.param == "http" else "stream") as s:
        yield s


def test_a_loop_is_planned_from_its_third_step_on(session: gradd.Session) -> None:
    net = gradd.nn.Linear(4, 3)
    opt = gradd.optim.SGD(net.parameters(), lr=0.1)
    x = gradd.ones(2, 4)
    with session.profile() as p:
        for _ in range(6):
            opt.zero_grad()
            loss = net(x).pow(2).sum()
            loss.backward()
            opt.step()
    assert [b.how for b in p.batches] == ["eager", "eager", *["planned"] * 4]
    assert [b.why for b in p.batches][:3] == ["first sighting", "first sighting", ""]
    assert (p.planned, p.eager, p.hits, p.new_programs, p.round_trips) == (4, 2, 5, 1, 1)
    planned = {k.name: k.calls for k in p.kernels if k.how == "planned"}
    assert planned["addmm"] == 4
    assert planned["sgd_step"] == 4
    assert {k.name for k in p.kernels if k.how == "eager"} >= {"addmm", "sgd_step"}
    assert all(k.seconds >= 0 for k in p.kernels)
    assert 0 < p.engine < p.wall
    assert p.waited > 0
    assert p.bytes_sent > 0
    assert p.bytes_received > 0
    (first,) = p.misses
    assert (first.program, first.like) == (p.batches[0].program, "")
    text = str(p)
    assert "6 batches: 4 planned, 2 eager; programs known 5, new 1" in text
    assert "sgd_step" in text
    assert "2 x first sighting" in text


def test_what_pipelined_batches_waited_is_told_of_each(session: gradd.Session) -> None:
    """They wait at the same time, so the sum is more than all took. Those that are not kept count as well."""
    with session.profile() as p:
        gradd.ones(2).tolist()
    p.wall = 0.5
    p._report = replace(p._report, planned=1990, eager=10, seconds=0.4, waited=20.0)
    counts, times, *_ = str(p).splitlines()
    assert counts.startswith("2000 batches: 1990 planned, 10 eager")
    took, waited = times.split("; ")
    assert took == "500.0 ms in all, 400.0 ms of it in the engine"
    assert waited == "a batch waited 10.0 ms in the queue on average"


def test_a_miss_names_the_first_step_that_differs(session: gradd.Session) -> None:
    x = gradd.ones(3)
    with session.profile() as p:
        for n in range(2):
            y = (x + 1).exp() if n == 0 else (x + 1).tanh()
            y.tolist()
    _, miss = p.misses
    assert miss.step == 1
    assert (miss.was.partition("(")[0], miss.found.partition("(")[0]) == ("exp", "tanh")
    assert "tanh(1) where exp(1) was" in str(p)


def test_why_a_batch_is_eager(session: gradd.Session) -> None:
    with session.profile() as p:
        for _ in range(3):
            gradd.manual_seed(1)
            gradd.rand(2).tolist()
    assert {b.why for b in p.batches} == {"step 0 is manual_seed"}
    assert p.planned + p.eager == len(p.batches)


def test_a_profile_is_of_its_block_alone(session: gradd.Session) -> None:
    x = gradd.ones(3)
    with session.profile() as first:
        (x * 2).tolist()
    (x * 3).tolist()
    with session.profile() as second:
        pass
    assert len(first.batches) == 1
    assert (second.batches, second.kernels) == ([], [])
    with pytest.raises(AttributeError, match="stop"):
        session.profile().kernels  # noqa: B018 - it is the access that raises
    assert "being measured" in str(session.profile())


def test_measuring_changes_nothing(session: gradd.Session) -> None:
    def values() -> list[Any]:
        gradd.manual_seed(1)
        w = gradd.randn(3, requires_grad=True)
        out = []
        for _ in range(4):
            y = (gradd.nn.functional.dropout(w, 0.5) * w).sum()
            y.backward()
            out.append((y.item(), w.grad.tolist()))
        return out

    plain = values()
    with session.profile():
        assert values() == plain


def test_an_error_inside_comes_through(session: gradd.Session) -> None:
    with pytest.raises(ZeroDivisionError), session.profile():
        1 / 0  # noqa: B018 - it is to raise
    assert gradd.ones(1).tolist() == [1.0]


def test_the_lines_that_wait_are_named(session: gradd.Session) -> None:
    x = gradd.arange(4.0)
    with session.profile() as p:
        for k in range(3):
            if (x * k).sum() > 100:
                raise AssertionError
        total = sum(float(e) for e in x.exp())
    assert total > 1
    often, once = p.waits
    assert (often.file, often.code, often.round_trips) == (__file__, "if (x * k).sum() > 100:", 3)
    assert (once.line - often.line, once.round_trips) == (2, 1)
    assert 0 < often.seconds + once.seconds < p.wall
    assert f"{__file__}:{often.line}: if (x * k).sum() > 100:" in str(p)
    assert p.round_trips == 5  # one of them is the profile's own


def test_what_waits_for_nothing_has_no_lines(session: gradd.Session) -> None:
    x = gradd.ones(2)
    with session.profile() as p:
        x.add_(1)
    assert p.waits == []
    assert "round trips " not in str(p).partition("\n")[2]
    x.tolist()
    assert p.waits == []
