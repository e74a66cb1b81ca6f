"""Random histories of several holders of one record in an object store, as `test_holders`."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from gradd_runtime.process import shipped
from gradd_runtime.process.meter import MeteredStore
from gradd_runtime.process.shipped import ShippedStore
from gradd_runtime.store import Bucket, Damaged, Entry
from gradd_runtime.store.objects import Began, Item, ObjectLog, What

from tests.runtime.store.holders import Planted, history
from tests.runtime.store.object_holders import ObjectHistory
from tests.runtime.store.test_holders import BLOCKS, COUNT, MOST, SEED

pytest.importorskip("fsspec")


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_was_answered_is_there(tmp_path: Path, block: int) -> None:
    answers = holders = 0
    for number in range(COUNT // BLOCKS):
        seed = (SEED * BLOCKS + block) * 1_000_000 + number
        world = history(tmp_path / "record", seed, kind=ObjectHistory)
        answers += world.answers
        holders += len(world.holders)
    assert answers > COUNT // BLOCKS
    assert holders > 2 * (COUNT // BLOCKS)


def _replaced(patch: pytest.MonkeyPatch) -> None:
    """The store makes an object of a name that is taken."""

    def create(self: Bucket, name: str, data: bytes) -> bool:
        self.write(name, data)
        return True

    patch.setattr(Bucket, "create", create)


def _looked_first(patch: pytest.MonkeyPatch) -> None:
    def create(self: Bucket, name: str, data: bytes) -> bool:
        if self.exists(name):
            return False
        self.write(name, data)
        return True

    patch.setattr(Bucket, "create", create)


def _any_order(patch: pytest.MonkeyPatch) -> None:
    item = ObjectLog._item

    def unordered(self: ObjectLog, at: int, data: bytes) -> Item:
        return Item(-1, "", item(self, at, data).what)

    patch.setattr(ObjectLog, "_item", unordered)


def _read_first(patch: pytest.MonkeyPatch) -> None:
    """The record is read before the tenure begins."""

    def begin(self: ObjectLog) -> list[What]:
        found = self._load(max(self._positions(), default=-1))
        self._next = max(self._positions(), default=-1) + 1
        while not self._put(Began()):
            self._next += 1
        return found

    patch.setattr(ObjectLog, "begin", begin)


def _all_others(patch: pytest.MonkeyPatch) -> None:
    """Who drops what it does not need drops all snapshots but its own."""
    drop = ObjectLog.drop

    def dropped(self: ObjectLog, kept: list[int]) -> None:
        drop(self, kept)
        self._remove(self._snapshots().keys() - {stood.name for _, stood in self._stood})

    patch.setattr(ObjectLog, "drop", dropped)


def _tenures_dropped(patch: pytest.MonkeyPatch) -> None:
    """Where a tenure began is dropped as what is around it."""
    drop = ObjectLog.drop

    def dropped(self: ObjectLog, kept: list[int]) -> None:
        self._tenures = []
        drop(self, kept)

    patch.setattr(ObjectLog, "drop", dropped)


def _gap_filled(patch: pytest.MonkeyPatch) -> None:
    """A tenure that begins in a gap of the log counts."""
    positions, put = ObjectLog._positions, ObjectLog._put
    made = threading.local()

    def putting(self: ObjectLog, what: What) -> bool:
        made.at = self._next
        made.began = isinstance(what, Began)
        return put(self, what)

    def found(self: ObjectLog) -> set[int]:
        if getattr(made, "began", False):
            made.began = False
            return {made.at}
        return positions(self)

    patch.setattr(ObjectLog, "_put", putting)
    patch.setattr(ObjectLog, "_positions", found)


def _kept_here_first(patch: pytest.MonkeyPatch) -> None:
    """What the log refuses is answered all the same."""

    def keep(self: ShippedStore, entry: Entry) -> None:
        MeteredStore.keep(self, entry)
        try:
            self._log.append(entry)
        except OSError:
            return

    patch.setattr(shipped.ShippedStore, "keep", keep)


@pytest.mark.parametrize(
    "planted",
    [
        _replaced,
        _looked_first,
        _any_order,
        _read_first,
        _all_others,
        _tenures_dropped,
        _gap_filled,
        _kept_here_first,
    ],
    ids=lambda planted: planted.__name__.strip("_"),
)
def test_a_fault_that_is_planted_is_found(tmp_path: Path, planted: Planted) -> None:
    for seed in range(MOST):
        try:
            history(tmp_path / "record", seed, planted, ObjectHistory)
        except (AssertionError, Damaged, OSError):
            return
    pytest.fail(f"{MOST} histories find nothing")
