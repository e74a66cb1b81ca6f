"""Several holders of one record, in histories by chance: each is a thread, of which one at a time goes on,
from where it stood to its next pause. They stand between any two steps of an append, a snapshot, a copy and a
removal, and may end there for ever.
"""

from __future__ import annotations

import errno
import random
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process.meter import Meter, MeteredStore
from gradd_runtime.process.place import RecordPlace, place_of
from gradd_runtime.store import Damaged, Entry, FileStore, LeaseLost, blobs, lease, make_record, record
from gradd_runtime.store.segments import EMPTY_BYTES

from tests.waiting import PATIENCE

TURNS = 400
MOST = 6
"""Holders of a history."""


class Ended(BaseException):
    """The holder's process is no more."""


class Broken(AssertionError):
    """What must not be."""


class Away(OSError):
    """The storage gives no answer: what it was asked for may have been done."""


class Holder:
    """A process that was told to open the session, by that `order`."""

    def __init__(self, world: History, order: int) -> None:
        self.world, self.order = world, order
        self.go = threading.Semaphore(0)
        self.dead = False
        self.late = world.dice.random() < 0.3
        self.state: list[bytes] = []
        self.store: MeteredStore | None = None
        self.place = world.place(order)
        self.thread = threading.Thread(target=self._live, daemon=True)
        self.thread.start()

    def _live(self) -> None:
        self.go.acquire()
        try:
            self.world.rest(self)
            while True:
                self._step()
                self.world.pause()
        except Ended:
            pass
        except BaseException as error:
            self.world.failed = self.world.failed or error
        self.dead = True
        if self.store is not None:
            self.world.left.append(self.store)
        self.world.gone(self)

    def _step(self) -> None:
        dice = self.world.dice
        if self.store is None:
            try:
                self.wake()
            except LeaseLost:
                raise Ended from None  # nobody asks it again
            except Away:
                self.let_go()
            except OSError as refused:
                if refused.errno not in (errno.EBUSY, errno.ENOENT):
                    raise
            return
        what = dice.choices(("append", "snapshot", "sleep", "end"), self.world.WEIGHTS)[0]
        if what == "end":
            self._tear()
            raise Ended
        try:
            getattr(self, what)()
        except (LeaseLost, FileNotFoundError, Away):
            self.let_go()
        except (Damaged, OSError, sqlite3.Error) as refused:  # of files that were removed under it
            if self.world.truth_order == self.order:
                raise Broken(f"who has the record is refused: {refused}") from refused
            self.let_go()

    def let_go(self) -> None:
        store, self.store = self.store, None
        if store is not None:
            with suppress(OSError, sqlite3.Error):
                store.close()

    def wake(self) -> None:
        """Read the record, and compare it with what was answered."""
        self.place.enter()
        self.world.pause()
        try:
            store = self.store = self.place.open(Meter())
            found = contents(store)
        except (Damaged, OSError, sqlite3.Error) as error:
            if not isinstance(error, Away) and not self.world.lost(self.place):
                raise Broken(f"the record of order {self.order} cannot be read: {error}") from error
            self.let_go()
            return
        if self.world.lost(self.place):  # who has it since may have taken files away
            self.let_go()
            return
        self.world.compare(found)
        self.state = found

    def append(self) -> None:
        store = self.store
        assert store is not None
        frame = self.world.frame()
        self.state = [*self.state, frame]
        store.append(Entry(len(self.state), frame, "applied"))
        self.world.answered(self)

    def snapshot(self) -> None:
        store, n = self.store, len(self.state)
        assert store is not None
        if n and n not in store.snapshots():
            store.write([written(self.state)], n)
            store.stand_at(n, 1)
            store.compact()

    def sleep(self) -> None:
        self.snapshot()
        self.let_go()

    def _tear(self) -> None:
        """Half of an entry is written, and no more."""
        segment = self.store and self.store._segment
        if segment is not None and self.world.dice.random() < 0.5:
            data = segment._path.read_bytes()[EMPTY_BYTES:]
            with segment._path.open("ab") as file:
                file.write(data[: self.world.dice.randrange(1, 40)])


class History:
    """A record, whose holders come and go by chance."""

    #: how often they append, take a snapshot, fall asleep, and end
    WEIGHTS = 12, 2, 2, 1

    def __init__(self, folder: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.base = folder / "record.db"
        make_record(self.base)
        self.holders: list[Holder] = []
        self.left: list[FileStore] = []
        self.failed: BaseException | None = None
        #: all that was answered, and what is before it in the record; and who answered last
        self.truth: list[bytes] = []
        self.truth_order = 0
        self.tried: set[bytes] = set()
        self.answers = 0
        self._now: Holder | None = None
        self._left = TURNS
        self._done = threading.Semaphore(0)

    # -- where the record is -------------------------------------------------------------------------

    def place(self, order: int) -> RecordPlace:
        return place_of({"store": str(self.base), "durability": "process", "leased": order})

    def lost(self, place: RecordPlace) -> bool:
        """Whether the record is somebody else's by now."""
        try:
            place.enter()
        except LeaseLost:
            return True
        return False

    def left_behind(self, last: RecordPlace) -> set[str]:
        """What is beside the record of who had it last, and is nobody's."""
        beside = {path.name for path in self.base.parent.iterdir() if path.is_dir()}
        return beside - {last.path.parent.name}

    def pauses(self, patch: pytest.MonkeyPatch) -> None:
        """Holders stand between their steps."""
        _pauses(patch, self)

    # ------------------------------------------------------------------------------------------------

    def frame(self) -> bytes:
        size = self.dice.choice((8, 8, 8, 4096))
        made = np.full(size, len(self.tried), np.int64)
        frame = frames.join(frames.encode(m.PutTensor("x"), [made]))
        self.tried.add(frame)
        return frame

    # -- what must be --------------------------------------------------------------------------------

    def compare(self, found: list[bytes]) -> None:
        """What a holder reads is all that was answered, and at the end perhaps what was not."""
        if found[: len(self.truth)] != self.truth:
            raise Broken(f"of {len(self.truth)} answered entries, {len(found)} others are there")
        if not set(found) <= self.tried or len(set(found)) != len(found):
            raise Broken("there are entries that nobody sent, or twice")

    def answered(self, holder: Holder) -> None:
        if holder.order < self.truth_order:
            raise Broken(f"one of order {holder.order} answers after one of order {self.truth_order}")
        self.compare(holder.state)
        self.truth, self.truth_order = holder.state, holder.order
        self.answers += 1

    # -- whose turn it is ----------------------------------------------------------------------------

    def run(self) -> None:
        """All of it; then one who comes last reads the record. Raises what went wrong."""
        self.holders.append(Holder(self, 1))
        self._next().go.release()
        if not self._done.acquire(timeout=PATIENCE):
            raise Broken("the history stands still")
        for holder in self.holders:
            holder.thread.join(PATIENCE)
        for store in self.left:
            with suppress(OSError, sqlite3.Error):
                store.close()
        if self.failed is not None:
            raise self.failed
        last = self.place(1 << 40)
        last.enter()
        store = last.open(Meter())
        try:
            self.compare(contents(store))
        except Damaged as error:
            raise Broken(f"the record cannot be read at the end: {error}") from error
        finally:
            store.close()
        if left := self.left_behind(last):
            raise Broken(f"this is left: {sorted(left)}")

    def pause(self) -> None:
        """The holder stands here until it is chosen; perhaps for ever. Nothing for anybody else."""
        holder = self._now
        if holder is None or threading.current_thread() is not holder.thread:
            return
        self._left -= 1
        if self._left <= 0 or self.failed is not None:
            raise Ended
        if self.dice.random() < 0.01:
            raise Ended
        living = sum(not one.dead for one in self.holders)
        if len(self.holders) < MOST and (living == 1 or self.dice.random() < 0.05):
            self.holders.append(Holder(self, len(self.holders) + 1))
        if self.dice.random() < 0.4:
            return  # it goes on
        self.rest(holder, self._next())

    def rest(self, holder: Holder, chosen: Holder | None = None) -> None:
        if chosen is not None and chosen is not holder:
            chosen.go.release()
            holder.go.acquire()
        self._now = holder

    def _next(self) -> Holder:
        living = [holder for holder in self.holders if not holder.dead]
        prompt = [holder for holder in living if not holder.late or self.dice.random() < 0.05]
        return self.dice.choice(prompt or living)

    def gone(self, holder: Holder) -> None:
        """It has ended: another goes on."""
        over = self._left <= 0 or self.failed is not None
        if not over and len(self.holders) < MOST:
            self.holders.append(Holder(self, len(self.holders) + 1))
        if any(not one.dead for one in self.holders):
            self._next().go.release()
        else:
            self._now = None
            self._done.release()


def written(state: list[bytes]) -> bytes:
    """A snapshot, as far as this test goes."""
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in state) + b"whole"


def contents(store: FileStore) -> list[bytes]:
    """All entries from the first on. Raises Damaged."""
    state: list[bytes] = []
    marks = store.snapshots()
    if marks:
        with store.snapshot(marks[0]) as file:
            while (size := file.read(4)) and len(size) == 4 and size != b"whol":
                state.append(file.read(int.from_bytes(size, "big")))
            if size != b"whol" or file.read() != b"e" or len(state) != marks[0]:
                raise Damaged("the snapshot is not whole")
    for entry in store.entries(len(state)):
        if entry.n != len(state) + 1:
            raise Damaged(f"after entry {len(state)} comes entry {entry.n}")
        state.append(bytes(entry.frame))
    return state


Planted = Callable[[pytest.MonkeyPatch], None]


def history(
    folder: Path, seed: int, planted: Planted = lambda _: None, kind: type[History] = History
) -> History:
    """Run one. Raises Broken, or another AssertionError, where something is that must not be."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    world = kind(folder, seed)
    with pytest.MonkeyPatch.context() as patch:
        planted(patch)
        world.pauses(patch)
        world.run()
    return world


def _pauses(patch: pytest.MonkeyPatch, world: History) -> None:
    check, copy = lease.RecordLease.check, lease._copy

    def checking(self: lease.RecordLease) -> None:
        world.pause()
        check(self)

    def copying(source: Path, target: Path) -> None:
        world.pause()
        copy(source, target)

    def removing(folder: Path, ignore_errors: bool = True) -> None:
        with suppress(OSError):
            for path in sorted(folder.rglob("*"), reverse=True):
                world.pause()
                path.rmdir() if path.is_dir() else path.unlink()
            folder.rmdir()

    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: world.pause())
    patch.setattr(lease.RecordLease, "check", checking)
    patch.setattr(lease, "_copy", copying)
    patch.setattr(lease, "shutil", SimpleNamespace(rmtree=removing, copyfile=shutil.copyfile))
    patch.setattr(lease, "time", clock)
    patch.setattr(record, "failpoint", lambda _: world.pause())
    patch.setattr(record, "_LOCK_SECONDS", 0.0)
    for module in (record, blobs):
        patch.setattr(module, "BLOB_BYTES", 4096)
