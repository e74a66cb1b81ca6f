"""A record: a SQLite file that says what there is, and beside it segments of entries and a folder of blobs.

Level ``process``: what was appended survives the process (the kernel has it). Level ``disk``: it survives
power loss.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import struct
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from .blobs import BLOB_BYTES, Blobs, decode_cuts, sync_folder
from .failpoints import failpoint
from .journal import Damaged, Entry, Trouble
from .segments import EMPTY_BYTES, SUFFIX, Row, Segment, first, make_segment, rows
from .tables import (
    FORMAT,
    LOST,
    SCHEMA,
    checked,
    empty,
    fetched,
    known,
    read_segments,
    set_segment,
    summed,
    tables,
)  # fmt: skip
from .upgrade import upgrade

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from gradd_protocol.frames import Part

LEVELS = ("process", "disk")

KEPT = 2
"""Snapshots of a record: the latest, and the one before."""

_SNAPSHOT = ".safetensors"
#: longest wait for one who has the file open
_LOCK_SECONDS = 5.0
#: how a file of SQLite begins: this, the size of a page, and how many there are
_MAGIC, _HEAD = b"SQLite format 3\0", struct.Struct(">16sH10xI")
_INSERT_LOST = "INSERT INTO lost VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_SUPERSEDED = """
DELETE FROM kernels WHERE rowid < (SELECT max(rowid) FROM kernels WHERE n <= ? + 1)
"""

_encode = msgspec.json.Encoder().encode
_trouble = msgspec.json.Decoder(Trouble)


def make_record(path: Path, sync: bool = False) -> None:
    """Make the file of a record without entries. `sync`: its bytes are on the disk when this returns.
    Raises OSError.
    """
    with open(path, "xb", opener=_private) as file:
        file.write(empty())
        if sync:
            file.flush()
            os.fsync(file.fileno())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class FileStore:
    """The record in the file `path` (see `make_record`), the segments beside it, and the folder with the
    suffix ``.blobs``.

    `level` is one of `LEVELS`. One process at a time: the file is locked while it is open. Raises OSError or
    sqlite3.Error where it cannot be opened, Damaged where it is no record of this format.
    """

    def __init__(self, path: Path, level: str = "process") -> None:
        if level not in LEVELS:
            raise ValueError(f"{level!r} is no level of durability: {', '.join(LEVELS)}")
        self._sync = level == "disk"
        self._path = path
        self._blobs = Blobs(path.with_suffix(".blobs"), self._sync)
        #: what is written to, from the first entry on
        self._segment: Segment | None = None
        #: after which entry that begins, its name, and its last entry
        self._begun = 0, ""
        self._last = 0
        #: of segments that were read to their end: how many bytes are sound
        self._sizes: dict[str, int] = {}
        self._reading: Generator[Entry] | None = None
        _look(path)
        # Whoever opens a session need not be the thread that runs it.
        self._file = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=_LOCK_SECONDS
        )
        self._execute = self._file.execute
        try:
            self._begin(path)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, path: Path) -> None:
        file = self._file
        try:
            file.execute("PRAGMA locking_mode = EXCLUSIVE")
            file.execute("PRAGMA journal_mode = WAL")
            file.execute(f"PRAGMA synchronous = {'FULL' if self._sync else 'OFF'}")
            ((found,),) = fetched(file, "PRAGMA user_version")
            if not 0 < found <= FORMAT:
                raise Damaged(f"the record has format {found}, this version reads {FORMAT}")
            ((sound,),) = fetched(file, "PRAGMA quick_check(1)")
            if sound != "ok":
                raise Damaged(f"the record cannot be read: {sound}")
            if found != FORMAT:
                upgrade(file, path, f"{SCHEMA}; {LOST}", self._sync)
            if not tables(file) <= known():
                raise Damaged("the record's tables are not those of any version")
            if self._sync:
                sync_folder(path.parent)
            self._tidy()
        except (sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError) as error:
            raise _told(error) from None

    def append(self, entry: Entry) -> None:
        """See Store.append."""
        n, frame, outcome, reply, messages, round_trips, trouble = entry
        cuts = b""
        if len(frame) >= BLOB_BYTES:
            frame, placed = self._blobs.cut(frame)
            if placed:
                self._file.executemany(
                    "INSERT INTO blobs VALUES (?, ?, ?)", [summed(n, name) for *_, name in placed]
                )
                cuts = _encode(placed)
        more = b"" if trouble is None else _encode(trouble)
        failpoint("appending")
        segment = self._segment or self._open(n - 1)
        segment.append((n, frame, outcome, reply, messages, round_trips, more, cuts))
        self._last = n
        failpoint("appended")

    def _open(self, after: int) -> Segment:
        """The segment to write to after that entry: one that was left by a process that was killed, or else a
        new one.
        """
        begin, name, last = self._segments()[-1] if self._segments() else (0, "", 0)
        if last is None:
            path = self._beside(name)
            if name not in self._sizes:
                self._sizes[name] = max((size for _, size in rows(path, begin, None)), default=EMPTY_BYTES)
            made = Segment(path, self._sync)
            made.cut(self._sizes[name])  # a write that was torn
            self._begun = begin, name
        else:
            path = make_segment(self._path.parent, self._path.stem, self._sync)
            set_segment(self._file, after, path.name, None)
            made = Segment(path, self._sync)
            self._begun = after, path.name
        self._segment, self._last = made, after
        return made

    def _seal(self) -> None:
        """What is written to is full."""
        if self._segment is not None:
            set_segment(self._file, *self._begun, self._last)
            self._segment.close()
            self._segment = None

    def _beside(self, name: str) -> Path:
        """The file of that name. Raises Damaged where it is none of this record."""
        if not name.startswith(f"{self._path.stem}-") or name != os.path.basename(name):
            raise Damaged("the record names a file that is not its own")
        return self._path.with_name(name)

    def entries(self, after: int = 0) -> Generator[Entry]:
        """See Store.entries; those that come after entry `after`."""
        self._reading = self._read(after)
        return self._reading

    def _read(self, after: int) -> Generator[Entry]:
        try:
            for begin, name, last in self._segments():
                if last is not None and last <= max(after, begin):
                    continue
                sound = EMPTY_BYTES
                for row, end in rows(self._beside(name), begin, last):
                    sound = end
                    if row.n > after:
                        yield self._entry(row)
                self._sizes[name] = sound
        except (sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError) as error:
            raise _told(error) from None

    def _segments(self) -> list[tuple[int, str, int | None]]:
        return read_segments(self._file)

    def _entry(self, row: Row) -> Entry:
        n, left, outcome, reply, messages, round_trips, trouble, cuts = row
        frame = self._blobs.whole(left, decode_cuts(cuts)) if cuts else left
        told = _trouble.decode(trouble) if trouble else None
        return Entry(n, frame, outcome, reply, messages, round_trips, told)

    def span(self) -> tuple[int, int]:
        """The first and the last entry that the record speaks of; zeros where there is none."""
        first = n = 0
        for begin, name, last in self._segments():
            first, n = first or begin + 1, begin if last is None else last
            if last is None:
                try:
                    for row, _ in rows(self._beside(name), begin, None):
                        n = row.n
                except Damaged:
                    n += 1  # it is there, and is not what was written
        return (first, n) if n >= first else (0, 0)

    def kernels(self) -> list[tuple[int, str]]:
        """Which kernels have run the entries, from which on; see `note`. What is harmed is other kernels."""
        try:
            found = fetched(self._file, "SELECT n, CAST(identity AS BLOB) FROM kernels ORDER BY rowid")
        except sqlite3.Error as error:
            raise _told(error) from None
        return [
            (n if isinstance(n, int) else 0, bytes(i or b"").decode("utf-8", "replace")) for n, i in found
        ]

    def note(self, n: int, identity: str) -> None:
        """From entry `n` on, it is these kernels that run them. Raises as `append`."""
        if [now for _, now in self.kernels()][-1:] != [identity]:
            self._execute("INSERT INTO kernels VALUES (?, ?)", (n, identity))

    def cut(self, after: int) -> int:
        """Take the entries that come after entry `after` out of the record; how many those were. They stay in
        the file, in a table of their own. Raises sqlite3.Error; nothing is changed then.
        """
        count = 0
        sizes: dict[Path, int] = {}
        self._execute("BEGIN")
        try:
            self._execute(LOST)
            for begin, name, last in self._segments():
                if last is not None and last <= after:
                    continue
                path = self._beside(name)
                sizes[path] = EMPTY_BYTES
                for row, size in rows(path, begin, last):
                    if row.n > after:
                        self._execute(_INSERT_LOST, row)
                        count += 1
                    else:
                        sizes[path] = size
                set_segment(self._file, begin, name, max(begin, after))
            self._execute("DELETE FROM snapshots WHERE n > ?", (after,))
            self._execute("DELETE FROM kernels WHERE n > ?", (after,))
            self._execute("COMMIT")
        except BaseException:
            self._execute("ROLLBACK")
            raise
        for path, size in sizes.items():
            with contextlib.suppress(OSError):  # which nobody reads from here on
                os.truncate(path, size)
        return count

    def snapshots(self) -> list[int]:
        """The entries at which snapshots were taken that the store still has, latest first."""
        rows = fetched(self._file, "SELECT * FROM snapshots ORDER BY n DESC")
        return [n for n, _ in checked(rows)]

    def snapshot(self, n: int) -> BinaryIO:
        """The file of the snapshot at entry `n`. Raises Damaged where it cannot be opened."""
        try:
            return self.file_at(n).open("rb")
        except OSError as error:
            raise Damaged(f"the snapshot at entry {n} cannot be read: {error.strerror}") from None

    def write(self, parts: Iterable[Part], n: int) -> Path:
        """Write the file of a snapshot at entry `n`, of which the record knows nothing yet. Raises OSError,
        and leaves nothing then.
        """
        path = self.file_at(n)
        new = path.with_suffix(".new")
        failpoint("snapshot writing")
        try:
            with new.open("wb") as file:
                for part in parts:
                    file.write(part)
                failpoint("snapshot written")
                if self._sync:
                    file.flush()
                    os.fsync(file.fileno())
            new.rename(path)
        except OSError:
            new.unlink(missing_ok=True)
            raise
        failpoint("snapshot renamed")
        if self._sync:
            sync_folder(path.parent)
        return path

    def stand_at(self, n: int, size: int) -> None:
        """From here on the session is the snapshot at entry `n`, and what comes after, in a segment of its
        own. Raises as `append`.
        """
        self._seal()
        self._execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", summed(n, size))
        failpoint("snapshot recorded")

    def compact(self) -> None:
        """Drop what the latest two snapshots do not need: entries, blobs, older snapshots. The one before the
        latest stays, should that be damaged. Raises OSError or sqlite3.Error; nothing is lost then.
        """
        kept = self.snapshots()[:KEPT]
        if len(kept) == KEPT:
            self._execute("BEGIN")
            try:
                self._execute("DELETE FROM segments WHERE last <= ?", (kept[-1],))
                self._execute("DELETE FROM blobs WHERE n <= ?", (kept[-1],))
                self._execute("DELETE FROM snapshots WHERE n < ?", (kept[-1],))
                self._execute(_SUPERSEDED, (kept[-1],))
                failpoint("compacting")
                self._execute("COMMIT")
            except BaseException:
                self._execute("ROLLBACK")
                raise
        failpoint("compacted")
        self._tidy()

    def _tidy(self) -> None:
        """Delete the files that nothing refers to. Raises Damaged, before any is, where it cannot be told."""
        blobs = {name for _, name in checked(fetched(self._file, "SELECT * FROM blobs"))}
        if fetched(self._file, "SELECT 1 FROM sqlite_schema WHERE name = 'lost'"):
            for (cuts,) in fetched(self._file, "SELECT blobs FROM lost WHERE blobs != x''"):
                blobs.update(name for _, _, name in decode_cuts(cuts))
        marks = self.snapshots()
        used = {self.file_at(n).name for n in marks}
        used.update(name for _, name, _ in self._segments())
        oldest = min(marks[:KEPT], default=0)
        garbage = [
            path
            for path in self._path.parent.glob(f"{self._path.stem}-*")
            if path.name not in used and path.suffix in (_SNAPSHOT, ".new", SUFFIX)
        ]
        for path in garbage:
            if path.suffix == SUFFIX and first(path) > oldest:
                raise Damaged(f"{path.name} has entries of which the record does not know")
        self._blobs.collect(blobs)
        for path in garbage:
            path.unlink()

    def file_at(self, n: int) -> Path:
        """Where the file of the snapshot at entry `n` is, if there is one."""
        return self._path.with_name(f"{self._path.stem}-{n}{_SNAPSHOT}")

    def probe(self) -> None:
        """See Store.probe."""
        self._execute(f"PRAGMA user_version = {FORMAT}")

    def close(self) -> None:
        """See Store.close."""
        if self._reading is not None:
            self._reading.close()
        try:
            self._seal()
        except sqlite3.Error:
            assert self._segment is not None
            self._segment.close()  # as where the process was killed
        self._file.close()


def snapshot_files(path: Path) -> dict[int, Path]:
    """The files of snapshots beside the record `path`, by their entry."""
    found = path.parent.glob(f"{path.stem}-*{_SNAPSHOT}")
    numbers = ((file.stem.removeprefix(f"{path.stem}-"), file) for file in found)
    return {int(number): file for number, file in numbers if number.isdecimal()}


def _look(path: Path) -> None:
    """Raises Damaged where the file is none of SQLite, or shorter than it says. SQLite would take one of no
    byte for a new one, and delete what is beside it; and what is missing of a page for zeros.
    """
    try:
        with path.open("rb") as file:
            head, size = file.read(_HEAD.size), file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        raise Damaged("the session's record is gone") from None
    if not size:
        raise Damaged("the record was cut to no byte at all")
    if len(head) < _HEAD.size or not head.startswith(_MAGIC):
        raise Damaged("the record does not begin as a file of SQLite does")
    _, page, count = _HEAD.unpack(head)
    # What is in the log need not be in the file yet.
    if size < page * count and not path.with_name(f"{path.name}-wal").exists():
        raise Damaged(f"the record was cut: {size} bytes of {page * count}")


def _told(error: Exception) -> Exception:
    """What an error while reading means: a disk that fails is not a record that is damaged."""
    if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.DatabaseError):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        return Damaged(f"the record cannot be read: {error}")
    return error
