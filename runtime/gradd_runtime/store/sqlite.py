"""A record in one SQLite file, with a folder of blobs beside it.

Level ``process``: what was appended survives the process (the kernel has it). Level ``disk``: it survives
power loss.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import struct
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
from gradd_protocol import frames

from .blobs import BLOB_BYTES, Blobs, sync_folder
from .failpoints import failpoint
from .journal import Damaged, Entry, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from gradd_protocol.frames import Bytes, Part

LEVELS = ("process", "disk")

FORMAT = 2
"""Of the file, in its `user_version`: 1 had no snapshots, and is made 2; one of another is left alone."""

KEPT = 2
"""Snapshots of a record: the latest, and the one before."""

_SNAPSHOT = ".safetensors"
_CHECKPOINT_PAGES = 4000
#: longest wait for one who has the file open
_LOCK_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE entries (
    n INTEGER PRIMARY KEY, frame BLOB NOT NULL, outcome TEXT NOT NULL, reply INTEGER NOT NULL,
    messages INTEGER NOT NULL, round_trips INTEGER NOT NULL, trouble BLOB, blobs BLOB, sum INTEGER NOT NULL
)
"""
_SNAPSHOTS = "CREATE TABLE snapshots (n INTEGER PRIMARY KEY, size INTEGER NOT NULL)"
#: how a file of SQLite begins: this, the size of a page, and how many there are
_MAGIC, _HEAD = b"SQLite format 3\0", struct.Struct(">16sH10xI")
#: where it says how it is written, and that it is with a log
_JOURNAL, _WAL = slice(18, 20), b"\2\2"
#: which kernels have run the entries from `n` on, in the order in which they came to have the session
_KERNELS = "CREATE TABLE IF NOT EXISTS kernels (n INTEGER NOT NULL, identity TEXT NOT NULL)"
#: entries that could not be run again, where there were any
_LOST = _SCHEMA.replace("TABLE entries", "TABLE IF NOT EXISTS lost").replace(" PRIMARY KEY", "")
#: of an entry without trouble and blobs, as nearly all are: each value that is bound costs time
_INSERT = """
INSERT INTO entries (n, frame, outcome, reply, messages, round_trips, sum) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_ALL = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
#: bytes of a frame that is copied into a bytearray, for which `sqlite3` looks for no adapter
_SMALL = 1 << 12
_SUPERSEDED = """
DELETE FROM kernels WHERE rowid < (SELECT max(rowid) FROM kernels WHERE n <= ? + 1)
"""
_SELECT = "SELECT * FROM entries WHERE n > ? ORDER BY n"
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('entries', 'lost')"
_BLOBS = "SELECT blobs FROM {} WHERE blobs IS NOT NULL"

_encode = msgspec.json.Encoder().encode
_trouble = msgspec.json.Decoder(Trouble)
#: where in the frame a blob goes, and its name
_cuts = msgspec.json.Decoder(list[tuple[int, int, str]])


def make_record(path: Path, sync: bool = False) -> None:
    """Make the file of a record without entries. `sync`: its bytes are on the disk when this returns.
    Raises OSError.
    """
    with open(path, "xb", opener=_private) as file:
        file.write(_empty())
        if sync:
            file.flush()
            os.fsync(file.fileno())


def _tables(file: sqlite3.Connection) -> set[tuple[bytes, bytes]]:
    """Names of tables, and how each was made. A bit that is turned there may change what is found in it,
    which no check of SQLite's own tells.
    """
    query = "SELECT CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL"
    return set(file.execute(query).fetchall())


@functools.cache
def _known() -> set[tuple[bytes, bytes]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        file.executescript(f"{_SCHEMA}; {_SNAPSHOTS}; {_KERNELS}; {_LOST}")
        return _tables(file)


@functools.cache
def _empty() -> bytes:
    """The file of a record without entries."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        file.executescript(f"{_SCHEMA}; {_SNAPSHOTS}; {_KERNELS}; PRAGMA user_version = {FORMAT}")
        made = bytearray(file.serialize())
    made[_JOURNAL] = _WAL
    return bytes(made)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class SqliteStore:
    """The record in the file `path` (see `make_record`) and in `path` with the suffix ``.blobs``.

    `level` is one of `LEVELS`. One process at a time: the file is locked while it is open. Raises OSError or
    sqlite3.Error where it cannot be opened, Damaged where it is no record of this format.
    """

    def __init__(self, path: Path, level: str = "process") -> None:
        if level not in LEVELS:
            raise ValueError(f"{level!r} is no level of durability: {', '.join(LEVELS)}")
        self._sync = level == "disk"
        self._path = path
        self._blobs = Blobs(path.with_suffix(".blobs"), self._sync)
        _look(path)
        # Whoever opens a session need not be the thread that runs it.
        self._file = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=_LOCK_SECONDS
        )
        try:
            self._begin(path)
        except BaseException:
            self._file.close()
            raise
        self._execute = self._file.execute
        self._appending = self._file.cursor()
        self._append = self._appending.execute
        self._reading: sqlite3.Cursor | None = None

    def _begin(self, path: Path) -> None:
        file = self._file
        try:
            file.execute("PRAGMA locking_mode = EXCLUSIVE")
            file.execute("PRAGMA journal_mode = WAL")
            file.execute(f"PRAGMA synchronous = {'FULL' if self._sync else 'OFF'}")
            file.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            (found,) = file.execute("PRAGMA user_version").fetchone()
            if found == 1:
                file.executescript(f"BEGIN; {_SNAPSHOTS}; PRAGMA user_version = {FORMAT}; COMMIT")
            elif found != FORMAT:
                raise Damaged(f"the record has format {found}, this version reads {FORMAT}")
            (sound,) = file.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok":
                raise Damaged(f"the record cannot be read: {sound}")
            file.execute(_KERNELS)
            if not _tables(file) <= _known():
                raise Damaged("the record's tables are not those of any version")
            if self._sync:
                sync_folder(path.parent)
            self._tidy()
        except (sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError) as error:
            raise _told(error) from None

    def append(self, entry: Entry) -> None:
        """See Store.append."""
        n, frame, outcome, reply, messages, round_trips, trouble = entry
        cuts = None
        if len(frame) >= BLOB_BYTES:
            frame, cuts = self._cut(frame)
        more = None if trouble is None else _encode(trouble)
        row = n, frame, outcome, reply, messages, round_trips, more, cuts
        failpoint("appending")
        if more is None and cuts is None:
            small = bytearray(frame) if len(frame) < _SMALL else frame
            self._append(_INSERT, (n, small, outcome, reply, messages, round_trips, _sum(row)))
        else:
            self._append(_INSERT_ALL, (*row, _sum(row)))
        failpoint("appended")

    def _cut(self, frame: Bytes) -> tuple[Bytes, bytes | None]:
        """The frame without its large buffers, which are blobs from here on, and where they were."""
        view = memoryview(frame)
        cuts = [
            (begin, end, self._blobs.put(view[begin:end]))
            for begin, end in frames.extents(frame)
            if end - begin >= BLOB_BYTES
        ]
        if not cuts:
            return frame, None
        left, at = [], 0
        for begin, end, _ in cuts:
            left.append(view[at:begin])
            at = end
        left.append(view[at:])
        return b"".join(left), _encode(cuts)

    def _whole(self, left: bytes, cuts: bytes | None) -> Bytes:
        if cuts is None:
            return left
        placed = _cuts.decode(cuts)
        whole = bytearray(len(left) + sum(end - begin for begin, end, _ in placed))
        frame = memoryview(whole)
        at = taken = 0
        for begin, end, name in placed:
            frame[at:begin] = left[taken : taken + begin - at]
            taken += begin - at
            self._blobs.read(name, frame[begin:end])
            at = end
        frame[at:] = left[taken:]
        return whole

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """See Store.entries; those that come after entry `after`."""
        try:
            self._reading = self._execute(_SELECT, (after,))
            for *row, checked in self._reading:
                n, frame, outcome, reply, messages, round_trips, trouble, cuts = row
                if _sum(row) != checked:
                    raise Damaged(f"entry {n} is not what was written")
                told = None if trouble is None else _trouble.decode(trouble)
                yield Entry(n, self._whole(frame, cuts), outcome, reply, messages, round_trips, told)
        except (sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError) as error:
            raise _told(error) from None

    def span(self) -> tuple[int, int]:
        """The first and the last entry that is there; zeros where there is none."""
        first, last = self._execute("SELECT min(n), max(n) FROM entries").fetchone()
        return first or 0, last or 0

    def kernels(self) -> list[tuple[int, str]]:
        """Which kernels have run the entries, from which on; see `note`. What is harmed is other kernels."""
        try:
            rows = self._execute("SELECT n, CAST(identity AS BLOB) FROM kernels ORDER BY rowid").fetchall()
        except sqlite3.Error as error:
            raise _told(error) from None
        return [(n if isinstance(n, int) else 0, bytes(i or b"").decode("utf-8", "replace")) for n, i in rows]

    def note(self, n: int, identity: str) -> None:
        """From entry `n` on, it is these kernels that run them. Raises as `append`."""
        if [now for _, now in self.kernels()][-1:] != [identity]:
            self._execute("INSERT INTO kernels VALUES (?, ?)", (n, identity))

    def cut(self, after: int) -> int:
        """Take the entries that come after entry `after` out of the record; how many those were. They stay in
        the file, in a table of their own. Raises sqlite3.Error; nothing is changed then.
        """
        self._execute("BEGIN")
        try:
            self._execute(_LOST)
            self._execute("INSERT INTO lost SELECT * FROM entries WHERE n > ?", (after,))
            count = self._execute("DELETE FROM entries WHERE n > ?", (after,)).rowcount
            self._execute("DELETE FROM snapshots WHERE n > ?", (after,))
            self._execute("DELETE FROM kernels WHERE n > ?", (after,))
            self._execute("COMMIT")
        except BaseException:
            self._execute("ROLLBACK")
            raise
        return count

    def snapshots(self) -> list[int]:
        """The entries at which snapshots were taken that the store still has, latest first."""
        return [n for (n,) in self._execute("SELECT n FROM snapshots ORDER BY n DESC")]

    def snapshot(self, n: int) -> BinaryIO:
        """The file of the snapshot at entry `n`. Raises Damaged where it cannot be opened."""
        try:
            return self._file_at(n).open("rb")
        except OSError as error:
            raise Damaged(f"the snapshot at entry {n} cannot be read: {error.strerror}") from None

    def write(self, parts: Iterable[Part], n: int) -> Path:
        """Write the file of a snapshot at entry `n`, of which the record knows nothing yet. Raises OSError,
        and leaves nothing then.
        """
        path = self._file_at(n)
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
        """From here on the session is the snapshot at entry `n`, and what comes after. Raises as `append`."""
        self._execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", (n, size))
        failpoint("snapshot recorded")

    def compact(self) -> None:
        """Drop what the latest two snapshots do not need: entries, blobs, older snapshots. The one before the
        latest stays, should that be damaged. Raises OSError or sqlite3.Error; nothing is lost then.
        """
        kept = self.snapshots()[:KEPT]
        if len(kept) == KEPT:
            self._execute("BEGIN")
            try:
                self._execute("DELETE FROM entries WHERE n <= ?", (kept[-1],))
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
        """Delete the files that nothing refers to."""
        used = {
            name
            for (table,) in self._file.execute(_TABLES).fetchall()
            for (cuts,) in self._file.execute(_BLOBS.format(table))
            for _, _, name in _cuts.decode(cuts)
        }
        self._blobs.collect(used)
        found = {self._file_at(n) for (n,) in self._file.execute("SELECT n FROM snapshots")}
        for path in self._path.parent.glob(f"{self._path.stem}-*"):
            if path not in found and path.suffix in (_SNAPSHOT, ".new"):
                path.unlink()

    def _file_at(self, n: int) -> Path:
        return self._path.with_name(f"{self._path.stem}-{n}{_SNAPSHOT}")

    def probe(self) -> None:
        """See Store.probe."""
        self._execute(f"PRAGMA user_version = {FORMAT}")

    def close(self) -> None:
        """See Store.close."""
        if self._reading is not None:
            self._reading.close()
        # A statement that was not read to its end, or failed, would hold the file.
        self._appending.close()
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


def _sum(row: Sequence[Any]) -> int:
    """Of all that an entry's row holds: SQLite does not notice bits that were turned."""
    n, frame, outcome, reply, messages, round_trips, trouble, cuts = row
    rest = f"{n} {outcome} {reply} {messages} {round_trips}".encode()
    found = zlib.crc32(rest)
    for part in (trouble, cuts):
        if part is not None:
            found = zlib.crc32(part, found)
    return zlib.crc32(frame, found)


def _told(error: Exception) -> Exception:
    """What an error while reading means: a disk that fails is not a record that is damaged."""
    if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.DatabaseError):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        return Damaged(f"the record cannot be read: {error}")
    return error
