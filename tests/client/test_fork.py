"""After fork the child is a writer of its own; the parent goes on as if nothing had been."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import gradd as torch
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


@pytest.fixture(params=["local", "stream", "http"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    url = "local:" if request.param == "local" else request.getfixturevalue("daemon")
    with gradd.connect(url, transport="http" if request.param == "http" else "stream") as s:
        yield s


def in_child(work: Callable[[], Any]) -> str:
    """What `work` gives in a forked child, as text; raises AssertionError with the child's own words."""
    out, into = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the engine's thread is idle while we fork
        child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(out)
            try:
                text, code = repr(work()), 0
            except BaseException as e:
                text = f"{type(e).__name__}: {e}"
            os.write(into, text.encode())
        finally:
            sys.stdout.flush()
            os._exit(code)
    os.close(into)
    with os.fdopen(out) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, text
    return text


def test_a_child_reads_the_parents_tensors_and_makes_its_own(session: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 3  # recorded, not sent

    def work() -> Any:
        z = y + torch.ones(2)
        return y.tolist(), z.tolist(), session.wire.writer

    assert in_child(work) == "([3.0, 3.0], [4.0, 4.0], 2)"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert session.wire.writer == 1
    assert session.mirror() == [row for row in session.tensors() if row.id.startswith("@1.")]


def test_a_childs_end_frees_nothing_of_the_parents(session: Any) -> None:
    x = torch.ones(2)

    def work() -> Any:
        total = (x + 1).sum().item()
        session.close()
        return total

    assert in_child(work) == "4.0"
    assert x.tolist() == [1.0, 1.0]


def test_forking_twice(session: Any) -> None:
    x = torch.ones(2)
    assert in_child(lambda: in_child(lambda: (x + 1).tolist())) == "'[2.0, 2.0]'"
    assert in_child(lambda: (x + 2).tolist()) == "[3.0, 3.0]"
    assert x.tolist() == [1.0, 1.0]


def test_an_error_nobody_saw_stays_the_parents(session: Any) -> None:
    table = torch.ones(3)
    table[torch.tensor([99])]
    assert in_child(lambda: (table + 1).tolist()) == "[2.0, 2.0, 2.0]"
    with pytest.raises(IndexError):
        session.flush()
