"""Looks at a session's files while nobody has them open, and changes none of them."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .blobs import Blobs
from .journal import Damaged
from .record import FileStore, snapshot_files
from .segments import SUFFIX
from .snapshot import BadSnapshot, verify

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNREADABLE = (Damaged, BadSnapshot, OSError, sqlite3.Error)


class Examined(msgspec.Struct):
    """What there is of a session. Entries and snapshots are named by the number of an entry."""

    entries: int = 0
    """The last entry that the record speaks of; 0 where it has none, or cannot be read."""
    whole: int = 0
    """The last entry that the session can be made up to, from a sound snapshot and sound entries."""
    snapshots: list[int] = []
    """The snapshots that are sound, latest first."""
    damage: list[str] = []
    """What is wrong, in words."""
    readable: bool = True
    """Whether the record can be opened at all."""

    @property
    def comes_back(self) -> bool:
        """Whether a daemon makes the session again, and all of it."""
        return self.readable and self.whole == self.entries


def examine(path: Path) -> Examined:
    """The session whose record is the file `path`: every entry, blob and snapshot is read. Raises OSError
    where no copy of the record can be made.
    """
    found = Examined()
    files = snapshot_files(path)
    with tempfile.TemporaryDirectory(prefix="gradd-fsck-") as scratch:
        try:
            store = _Copy(path, Path(scratch))
        except (Damaged, sqlite3.Error) as error:
            found.readable = False
            found.damage.append(str(error))
            found.snapshots = _sound(files, sorted(files, reverse=True), [])
            return found
        try:
            marks = store.snapshots()
            store.kernels()
            found.snapshots = _sound(files, marks, found.damage)
            _read(store, found)
        except (Damaged, sqlite3.Error) as error:
            found.damage.append(str(error))
        finally:
            store.close()
    return found


def examine_snapshots(folder: Path) -> list[str]:
    """What is wrong with the snapshots that users took into `folder`, in words."""
    damage = []
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with path.open("rb") as file:
                verify(file)
        except _UNREADABLE as error:
            damage.append(f"snapshot {path.stem}: {error}")
    return damage


class _Copy(FileStore):
    """A copy of a record in the folder `scratch`, with the segments and blobs that the record itself has:
    SQLite writes to what it opens.
    """

    def __init__(self, path: Path, scratch: Path) -> None:
        for name in (path.name, f"{path.name}-wal"):
            if path.with_name(name).exists():
                shutil.copyfile(path.with_name(name), scratch / name)
        for segment in path.parent.glob(f"{path.stem}-*{SUFFIX}"):
            (scratch / segment.name).symlink_to(segment.absolute())
        super().__init__(scratch / path.name)
        self._blobs = Blobs(path.with_suffix(".blobs"), sync=False)


def _sound(files: dict[int, Path], marks: Iterable[int], damage: list[str]) -> list[int]:
    """Those of the snapshots `marks` that are sound; what the others are goes to `damage`."""
    sound = []
    for n in marks:
        try:
            if n not in files:
                raise Damaged("it is gone")
            with files[n].open("rb") as file:
                verify(file)
            sound.append(n)
        except _UNREADABLE as error:
            damage.append(f"the snapshot at entry {n}: {error}")
    return sound


def _read(store: FileStore, found: Examined) -> None:
    """Read all entries: those since the latest sound snapshot, of which the session is made, and those
    before.
    """
    first, found.entries = store.span()
    base = max(found.snapshots, default=0)
    found.entries = max(found.entries, base)
    if not base and first > 1:
        found.damage.append(f"entries before {first} are gone, and no snapshot is sound")
    else:
        found.whole = _walk(store, base, found.damage)
    if first and first <= base:
        _walk(store, first - 1, found.damage, until=base)


def _walk(store: FileStore, after: int, damage: list[str], until: int | None = None) -> int:
    """The last entry that can be read of those from `after` on."""
    n = after
    try:
        for entry in store.entries(after):
            if entry.n != n + 1:
                raise Damaged(f"after entry {n} comes entry {entry.n}")
            n = entry.n
            if n == until:
                break
    except _UNREADABLE as error:
        if str(error) not in damage:
            damage.append(str(error))
    return n
