"""When garbage is looked for: rarely where much lives and nothing is found, else as the interpreter does."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from gradd_engine.freezing import Doubling


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before, callbacks = gc.get_threshold(), list(gc.callbacks)
    gc.callbacks.clear()
    gc.set_threshold(700, 10, 10)
    yield
    gc.callbacks[:] = callbacks
    gc.set_threshold(*before)


class Garbage:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.own = self


def full(found: int = 0) -> int:
    """The third threshold after a full collection that finds so much."""
    gc.collect()
    some = [Garbage() for _ in range(found)]
    assert len(some) == found
    del some
    gc.collect()
    return gc.get_threshold()[2]


def test_where_much_lives_the_next_full_collection_waits() -> None:
    gc.callbacks.append(Doubling(1000))
    alive = [[] for _ in range(100_000)]  # type: ignore[var-annotated]
    assert full() * 701 * 11 >= len(alive) > 0
    assert gc.get_threshold()[:2] == (700, 10)


def test_where_little_lives_nothing_changes() -> None:
    gc.callbacks.append(Doubling(1 << 40))
    assert full() == 10


def test_where_something_was_found_it_is_looked_for_as_before() -> None:
    gc.callbacks.append(Doubling(1000))
    alive = [[] for _ in range(100_000)]  # type: ignore[var-annotated]
    assert full() > 10
    assert full(found=len(alive)) == 10


def test_what_the_user_sets_is_the_least() -> None:
    gc.callbacks.append(Doubling(1000))
    full()
    gc.set_threshold(700, 10, 1 << 30)
    assert full() == 1 << 30
    gc.set_threshold(700, 10, 0)  # no full collection at all
    assert full() == 0


def collections_of(objects: int) -> int:
    """Full collections that the interpreter begins while a chain of so many objects grows."""
    began: list[Any] = []

    def note(phase: str, info: dict[str, Any]) -> None:
        if phase == "start" and info["generation"] == 2:
            began.append(info)

    gc.collect()
    gc.freeze()  # what else is in this process is no part of it
    gc.collect()
    gc.callbacks.append(note)
    chain: Any = None
    for _ in range(objects):
        chain = [chain]
    gc.callbacks.remove(note)
    gc.unfreeze()
    while chain is not None:
        chain = chain[0]
    return len(began)


def test_a_chain_that_grows_is_looked_through_less_often() -> None:
    usual = collections_of(1_000_000)
    gc.callbacks.append(Doubling(1000))
    assert collections_of(1_000_000) < usual
