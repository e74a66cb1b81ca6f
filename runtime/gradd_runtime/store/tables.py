"""The tables of a record's SQLite file, and how they are read: what a bit was turned in is told."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import zlib
from typing import Any

from .journal import Damaged

FORMAT = 3
"""Of the file, in its `user_version`. `upgrade` makes 1 and 2 this; one of another is left alone."""

#: where it says how it is written, and that it is with a log
_JOURNAL, _WAL = slice(18, 20), b"\2\2"
#: the entry that a segment begins after, and the last that counts of it, null where it is written to
_SEGMENTS = """
CREATE TABLE segments (
    file TEXT PRIMARY KEY, after INTEGER NOT NULL, last INTEGER, sum INTEGER NOT NULL
) WITHOUT ROWID
"""
#: which blobs an entry has
_BLOBS = "CREATE TABLE blobs (n INTEGER NOT NULL, name TEXT NOT NULL, sum INTEGER NOT NULL)"
_SNAPSHOTS = "CREATE TABLE snapshots (n INTEGER PRIMARY KEY, size INTEGER NOT NULL, sum INTEGER NOT NULL)"
#: which kernels have run the entries from `n` on, in the order in which they came to have the session
_KERNELS = "CREATE TABLE kernels (n INTEGER NOT NULL, identity TEXT NOT NULL)"
#: entries that could not be run again, where there were any
LOST = """
CREATE TABLE IF NOT EXISTS lost (
    n INTEGER NOT NULL, frame BLOB NOT NULL, outcome TEXT NOT NULL, reply INTEGER NOT NULL,
    messages INTEGER NOT NULL, round_trips INTEGER NOT NULL, trouble BLOB, blobs BLOB
)
"""
SCHEMA = f"{_SEGMENTS}; {_BLOBS}; {_SNAPSHOTS}; {_KERNELS}"
"""The tables of a record."""


def tables(file: sqlite3.Connection) -> set[tuple[bytes, bytes]]:
    """Names of tables, and how each was made. A bit that is turned there may change what is found in it,
    which no check of SQLite's own tells.
    """
    query = "SELECT CAST(name AS BLOB), CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL"
    return set(fetched(file, query))


@functools.cache
def known() -> set[tuple[bytes, bytes]]:
    """The `tables` that a record may have."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        file.executescript(f"{SCHEMA}; {LOST}")
        return tables(file)


@functools.cache
def empty() -> bytes:
    """The file of a record without entries."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        file.executescript(f"{SCHEMA}; PRAGMA user_version = {FORMAT}")
        made = bytearray(file.serialize())
    made[_JOURNAL] = _WAL
    return bytes(made)


def fetched(file: sqlite3.Connection, query: str, given: tuple[Any, ...] = ()) -> list[Any]:
    """All rows of a query. Whatever it raises, nothing is left open: a cursor that the traceback of an error
    keeps would hold the file's lock.
    """
    cursor = file.cursor()
    try:
        return cursor.execute(query, given).fetchall()
    finally:
        cursor.close()


def summed(*values: Any) -> tuple[Any, ...]:
    """A row of these values, and a sum of them: SQLite does not notice bits that were turned."""
    return *values, zlib.crc32(" ".join(map(str, values)).encode())


def checked(rows: list[Any]) -> list[tuple[Any, ...]]:
    """The values of rows that are `summed`. Raises Damaged."""
    for row in rows:
        if summed(*row[:-1]) != row:
            raise Damaged("which files the record has cannot be read")
    return [row[:-1] for row in rows]


def set_segment(file: sqlite3.Connection, after: int, name: str, last: int | None) -> None:
    """Say that the segment `name` has the entries after `after` up to `last`."""
    file.execute("INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?)", summed(name, after, last))


def read_segments(file: sqlite3.Connection) -> list[tuple[int, str, int | None]]:
    """Of each segment after which entry it begins, its name, and its last entry; in the order of their
    entries. That which is written to comes last. Raises Damaged.
    """
    found = [(after, name, last) for name, after, last in checked(fetched(file, "SELECT * FROM segments"))]
    return sorted(found, key=lambda segment: (segment[0], segment[2] is None, segment[2]))
