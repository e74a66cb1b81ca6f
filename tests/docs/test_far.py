"""What docs/speed.md says of a daemon that is far away is what is counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gradd
import pytest
from gradd_protocol.limits import DEFAULT, KIB, MIB

from tests.client.test_distance import TRIPS
from tests.client.trips import Clock
from tests.docs.test_pages import ROOT

PAGE = (ROOT / "docs/speed.md").read_text()
TABLE = PAGE.partition("<!-- trips")[2].partition("<!-- /trips")[0]
ROWS = dict(re.findall(r"^\| (.+?) \| (\d+) \|$", TABLE, re.MULTILINE))


def test_the_trips_of_the_page_are_those_that_are_counted() -> None:
    counted = {action: str(most) for action, (most, _) in TRIPS.items()} | {"connect": "2"}
    assert len(ROWS) > 15
    assert {action: counted.get(action) for action in ROWS} == ROWS


def test_the_numbers_of_the_page_are_the_limits() -> None:
    said = f"{DEFAULT.window_batches} batches, {DEFAULT.window_bytes // MIB} MiB of them"
    assert said in PAGE
    assert f"up to {DEFAULT.inline_upload_bytes // KIB} KiB travels with its batch" in PAGE


PLACES: dict[str, tuple[Callable[[], Any], int]] = {
    "made here": (lambda: gradd.tensor([3, 500, 20]), 0),
    "drawn": (lambda: gradd.randint(900, (3,)), 0),
    "computed": (lambda: gradd.randn(900).argmax()[None], 4),
}


@pytest.mark.parametrize("how", PLACES)
def test_rows_cut_out_at_places_that_are_known_here_wait_for_nothing(daemon: str, how: str) -> None:
    places, most = PLACES[how]
    with Clock().counting() as clock, gradd.connect(daemon) as session:
        text = gradd.arange(1000)
        session.flush()
        before = clock.now
        for _ in range(4):
            gradd.stack([text[i : i + 8] for i in places()])
            session.step_done()
        assert clock.now - before == most


def test_a_large_batch_in_each_step_is_one_trip_a_step(daemon: str) -> None:
    with Clock().counting() as clock, gradd.connect(daemon) as session:
        total = gradd.zeros(())
        session.flush()
        before = clock.now
        for size in (100 * KIB, 400 * KIB):
            values = gradd.zeros(size // 4).numpy().copy()
            then = clock.now
            for _ in range(5):
                total += gradd.from_numpy(values).sum()
                session.step_done()
            assert clock.now - then == (5 if size > DEFAULT.inline_upload_bytes else 0)
        assert clock.now > before
