"""Where the record of a session is, and what makes it this process's alone."""

from __future__ import annotations

import shutil
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..store import Bucket, ObjectLog, RecordLease, is_url, newest, take
from .meter import MeteredStore
from .shipped import ShippedStore, forget, new_folder, restore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .meter import Meter


class RecordPlace(Protocol):
    """The place that the options ``store``, ``durability`` and ``leased`` of a session name, see
    Placement.open.
    """

    path: Path
    """The file of the record; what is told of a session that sleeps is beside it."""

    def enter(self) -> None:
        """Be the only one that writes there. Raises OSError; LeaseLost where somebody else does since."""

    def open(self, meter: Meter) -> MeteredStore:
        """The record, once it was entered. Raises as FileStore."""

    def size(self) -> int:
        """Bytes that the session had at its latest snapshot, about."""


class FilePlace:
    """A path, on a disk or on storage that several machines see."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._base = Path(options["store"])
        self._level: str = options["durability"]
        #: by which order it was opened, see `take`; None where it has no lease
        self._order: int | None = options.get("leased")
        self._lease: RecordLease | None = None
        self.path = self._base
        with suppress(OSError):  # the session is being deleted, or the storage is away; `enter` says so
            self.path = newest(self._base)

    def enter(self) -> None:
        """See RecordPlace.enter."""
        if self._order is None:
            with suppress(FileNotFoundError):  # the folder: the record is gone, which who opens it says
                self.path = newest(self._base)
            return
        if self._lease is None:
            self._lease = take(self._base, self._order, self._level == "disk")
            self.path = self._lease.path
        self._lease.check()

    def open(self, meter: Meter) -> MeteredStore:
        """See RecordPlace.open."""
        return MeteredStore(self.path, self._level, meter, self._lease)

    def size(self) -> int:
        """See RecordPlace.size."""
        found = 0
        with suppress(OSError):  # the session is deleted at the moment
            for file in self.path.parent.glob(f"{self.path.stem}*.safetensors"):
                found = max(found, file.stat().st_size)
        return found


class BucketPlace:
    """A url, see `Bucket`. What the process works with is a copy, made anew each time that the session is."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._home, _, self._name = str(options["store"]).rpartition("/")
        self._order: int = options.get("leased", 0)
        self._log: ObjectLog | None = None
        self._folder = new_folder()
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.path = self._folder / "record.db"

    def _new_log(self) -> ObjectLog:
        return ObjectLog(Bucket(self._home), self._name, self._order)

    def enter(self) -> None:
        """See RecordPlace.enter."""
        log = self._new_log()
        items = log.begin()
        forget(self.path)
        restore(items, self.path)
        self._log = log

    def open(self, meter: Meter) -> MeteredStore:
        """See RecordPlace.open."""
        assert self._log is not None
        return ShippedStore(self.path, self._log, meter)

    def size(self) -> int:
        """See RecordPlace.size."""
        with suppress(OSError):
            return self._new_log().most_bytes()
        return 0


def place_of(options: Mapping[str, Any]) -> RecordPlace:
    """Where a session with these options has its record."""
    return BucketPlace(options) if is_url(options["store"]) else FilePlace(options)
