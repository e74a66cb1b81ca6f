"""Random histories of several holders of one record: what was answered is there, in order, whoever has it
next.

`GRADD_HOLDERS` says how many (`make faults`: 5,000), `GRADD_HOLDERS_SEED` which.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from gradd_runtime.process.meter import MeteredStore
from gradd_runtime.store import Entry, FileStore, lease

from tests.runtime.store.holders import Planted, history

COUNT = int(os.environ.get("GRADD_HOLDERS", "40"))
SEED = int(os.environ.get("GRADD_HOLDERS_SEED", "0"))
BLOCKS = 4
MOST = 600
"""Histories within which a fault that is planted is found."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_was_answered_is_there(tmp_path: Path, block: int) -> None:
    answers = holders = 0
    for number in range(COUNT // BLOCKS):
        world = history(tmp_path / "record", (SEED * BLOCKS + block) * 1_000_000 + number)
        answers += world.answers
        holders += len(world.holders)
    assert answers > COUNT // BLOCKS
    assert holders > 2 * (COUNT // BLOCKS)


def _check_first(patch: pytest.MonkeyPatch) -> None:
    def append(self: MeteredStore, entry: Entry) -> None:
        assert self._lease is not None
        self._lease.check()
        FileStore.append(self, entry)

    patch.setattr(MeteredStore, "keep", append)


def _no_second_listing(patch: pytest.MonkeyPatch) -> None:
    listed = lease._listed
    seen: dict[Path, dict[str, tuple[int, int]]] = {}

    def listing(record: Path) -> dict[str, tuple[int, int]]:
        """What was listed first, where it was."""
        return seen.pop(record, None) or seen.setdefault(record, listed(record))

    patch.setattr(lease, "_listed", listing)
    patch.setattr(lease, "_TICK", -(1 << 62))


def _not_copied(patch: pytest.MonkeyPatch) -> None:
    def copied(base: Path, source: Path, target: Path, began: int) -> bool:
        target.mkdir()
        shutil.copyfile(base, target / base.name)
        return True

    patch.setattr(lease, "_copied", copied)


def _half_counts(patch: pytest.MonkeyPatch) -> None:
    """A folder counts from the first file on that is copied there."""
    copied = lease._copied

    def early(base: Path, source: Path, target: Path, began: int) -> bool:
        home = target.with_suffix("")
        if not copied(base, source, home, began) and lease.newest(base).parent != home:
            return False
        home.rename(target)
        return True

    patch.setattr(lease, "_copied", early)


def _any_order(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lease, "_order_of", lambda mark: 0)


@pytest.mark.parametrize(
    "planted",
    [_check_first, _no_second_listing, _not_copied, _half_counts, _any_order],
    ids=lambda planted: planted.__name__.strip("_"),
)
def test_a_fault_that_is_planted_is_found(tmp_path: Path, planted: Planted) -> None:
    for seed in range(MOST):
        try:
            history(tmp_path / "record", seed, planted)
        except (AssertionError, OSError):
            return
    pytest.fail(f"{MOST} histories find nothing")
