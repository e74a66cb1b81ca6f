"""A session's record in an object store, and the copy of it that an engine process works with."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, assert_never

from ..store import Added, Began, Damaged, FileStore, ObjectLog, Ran, Shortened, Stood, make_record
from .meter import MeteredStore
from .summary import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradd_protocol.frames import Part

    from ..store import Entry, What
    from .meter import Meter

#: before the number of the process whose copies are in a folder
_PREFIX = "gradd-records-"


class ShippedStore(MeteredStore):
    """The record in `log`. `path` is a copy of it, as `restore` makes it, which nobody needs again. What
    changes the record is put in the log first: so what anybody is told of is there.
    """

    def __init__(self, path: Path, log: ObjectLog, meter: Meter) -> None:
        self._log = log
        super().__init__(path, "process", meter)

    def keep(self, entry: Entry) -> None:
        """See MeteredStore.keep."""
        self._log.append(entry)
        super().keep(entry)

    def note(self, n: int, identity: str) -> None:
        """See FileStore.note."""
        if [now for _, now in self.kernels()][-1:] != [identity]:
            self._log.add(Ran(n, identity))
        super().note(n, identity)

    def cut(self, after: int) -> int:
        """See FileStore.cut."""
        self._log.add(Shortened(after))
        return super().cut(after)

    def snapshot(self, n: int) -> BinaryIO:
        """See FileStore.snapshot."""
        path = self.file_at(n)
        if not path.exists():
            try:
                self._log.download(n, path)
            except FileNotFoundError:
                raise Damaged(f"the snapshot at entry {n} is gone") from None
        return super().snapshot(n)

    def write(self, parts: Iterable[Part], n: int) -> Path:
        """See FileStore.write."""
        path = super().write(parts, n)
        self._log.upload(path, n)
        return path

    def stand_at(self, n: int, size: int) -> None:
        """See FileStore.stand_at."""
        self._log.stand_at(n, size, self.kernels())
        super().stand_at(n, size)

    def compact(self) -> None:
        """See FileStore.compact."""
        super().compact()
        self._log.drop(self.snapshots())

    def probe(self) -> None:
        """See Store.probe."""
        super().probe()
        self._log.probe()

    def close(self) -> None:
        """See Store.close. The copy goes."""
        super().close()
        forget(self._path)


def restore(items: Iterable[What], path: Path) -> None:
    """Make the record in the file `path` from the items of its log."""
    make_record(path)
    store = FileStore(path)
    try:
        for what in items:
            match what:
                case Began():
                    continue  # whose it was is over
                case Added():
                    store.append(what.entry())
                case Stood():
                    for n, identity in what.kernels if not store.kernels() else ():
                        store.note(n, identity)
                    store.stand_at(what.n, what.size)
                case Ran():
                    store.note(what.n, what.identity)
                case Shortened():
                    store.cut(what.after)
                case _:
                    assert_never(what)
    finally:
        store.close()


@cache
def _folder(pid: int) -> Path:
    """Where this process has its copies. Those of processes that were killed are deleted."""
    home = Path(tempfile.gettempdir())
    for left in home.glob(f"{_PREFIX}*"):
        number = left.name.removeprefix(_PREFIX).partition("-")[0]
        if number.isdecimal() and not Path(f"/proc/{number}").exists():
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{pid}-"))


def new_folder() -> Path:
    """A folder for the copies of one record, which who asks deletes."""
    return Path(tempfile.mkdtemp(dir=_folder(os.getpid())))


def forget(copy: Path) -> None:
    """Delete the copy of a record with what is beside it, but for its summary, as far as that can be."""
    for path in copy.parent.glob(f"{copy.stem}*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix != SUFFIX:
            with contextlib.suppress(OSError):
                path.unlink()
