"""The tape through which tests ask PyTorch: heard again it says the same, and it knows when it is stale."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracle import Stale, Tape
from tests.recordings import HERE, Book

DATA = np.array([1.0, 2.0])


class Thing:
    """An object of the library."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.groups = [{"lr": 1.0}]
        self.hooks: list[Callable[..., Any]] = []

    def __add__(self, other: Any) -> Thing:
        return Thing(self.values + getattr(other, "values", other))

    def run(self) -> list[Any]:
        return [hook(self) for hook in self.hooks]

    def refuse(self) -> None:
        class OwnError(RuntimeError):
            pass

        raise OwnError("no")


class Other(Thing):
    """One that computes otherwise."""

    def __init__(self, values: Any, by: float = 1.5) -> None:
        super().__init__(values * by)


def library(thing: type[Thing] = Thing) -> types.ModuleType:
    found: Any = types.ModuleType("library")
    found.Thing = thing
    found.same = lambda thing: thing
    return found


def conversation(torch: Any, value: complex = 1.0) -> list[Any]:
    """Plain values, objects and whether they are the same, callbacks, refusals, state of the library."""
    x = torch.Thing(DATA * value)
    said: list[Any] = [(x + x).values.tolist(), torch.same(x) is x, torch.same(x) is (x + 1), 5 in [x.groups]]
    x.groups[0]["lr"] = 2.0
    said += [x.groups[0]["lr"], isinstance(x, torch.Thing), isinstance(3, torch.Thing)]
    x.hooks.append(lambda thing: said.append(thing.values.sum()))
    x.run()
    x.hooks.append(lambda thing: 1 / 0)
    for act in (x.run, x.refuse, lambda: x.missing):
        try:
            act()
        except Exception as error:
            said.append((type(error), str(error)))
    return said


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A book with the conversation in it."""
    tape = Tape(library())
    conversation(tape.torch)
    Book(tmp_path / "b").write({"test": tape}, {"test"})
    return Book(tmp_path / "b")


def test_a_recording_says_what_was_said(book: Book) -> None:
    checksum, answers = book.tests["test"]
    asked, heard = Tape(library()), Tape(None, answers, book.arrays)
    assert conversation(asked.torch) == conversation(heard.torch)
    assert checksum == asked.checksum == heard.checksum
    assert book.fault("test", heard) == book.fault("test", asked) == ""
    assert conversation(Tape(library()).torch)[0] == [2.0, 4.0]


def test_a_stale_recording_is_told(book: Book) -> None:
    _, answers = book.tests["test"]
    more = Tape(None, answers, book.arrays)
    conversation(more.torch)
    with pytest.raises(Stale):
        more.torch.Thing(1)
    less = Tape(None, answers, book.arrays)
    less.torch.Thing(DATA)
    assert book.fault("test", less) == "is stale: the test asks otherwise"
    other = Tape(None, answers, book.arrays)
    conversation(other.torch, value=1j)
    assert book.fault("test", other) == "is stale: the test asks otherwise"
    assert book.fault("another", other) == "is missing"


def test_other_answers_are_told(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.recordings.module", library)
    tape = Tape(library())
    conversation(tape.torch, value=1.0 + 1e-9)
    assert book.fault("test", tape) == ""
    tape = Tape(library(Other))
    conversation(tape.torch)
    assert book.fault("test", tape) == "is stale: PyTorch answers otherwise"


def test_recordings_are_of_tests() -> None:
    recorded = [path.relative_to(HERE / "recorded") for path in (HERE / "recorded").rglob("*.xz")]
    assert len(recorded) > 20
    assert [path for path in recorded if not (HERE / path).with_suffix("").with_suffix(".py").exists()] == []
