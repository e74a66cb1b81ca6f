"""Who waits for the device, and how it is told what a device finds wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import gradd
import pytest

from tests.device.test_doubts import WRONG
from tests.gpu.held import held
from tests.gpu.places import GpuPlace


@pytest.fixture
def session(place: GpuPlace) -> Iterator[Any]:
    with place.sessions(), gradd.connect("local:") as made:
        yield made


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_told_at_the_next_fetch_and_awaited_by_nobody(
    place: GpuPlace, session: Any, what: str
) -> None:
    call, error, begins = WRONG[what]
    good = gradd.ones(2) + 1
    for _ in range(2):  # whatever is done once is done
        call()
        with pytest.raises(error):
            good.tolist()
    with place.unwaited():
        call()
        session.flush()
    with pytest.raises(error) as told:
        good.tolist()
    assert str(told.value).startswith(begins)
    assert "which ran before this" in str(told.value)
    assert (gradd.ones(2) + 2).tolist() == [3, 3]


def test_a_planned_step_tells_it_too(session: Any) -> None:
    table = gradd.arange(4.0)
    for n in range(6):
        found = (table[gradd.tensor([n % 4, 0])] * 2).sum()
        assert found.item() == 2 * (n % 4)
    with pytest.raises(IndexError, match="index 99 is out of bounds for dimension 0 with size 4"):
        (table[gradd.tensor([99, 0])] * 2).sum().item()
    assert (table[gradd.tensor([3, 0])] * 2).sum().item() == 6


def test_who_waits_is_seen(place: GpuPlace, session: Any) -> None:
    """What no step may do is done, so that the tests of who waits are no empty ones."""
    x = gradd.ones(3)
    assert x.sum().item() == 3
    unwaited = partial(held, place.xp, most=200_000_000) if place.gpu else place.unwaited
    with pytest.raises(AssertionError, match="waited for the device"), unwaited():
        assert (x * 2).sum().item() == 6


def test_what_is_held_is_done_afterwards(place: GpuPlace, session: Any) -> None:
    x = gradd.ones(3)
    (x * 2).sum().item()
    with place.unwaited():
        found = (x * 2).sum()
        session.flush()
    assert found.item() == 6
