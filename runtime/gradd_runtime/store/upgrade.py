"""Records of earlier formats. Format 1 had its entries in a table, and no snapshots; 2 had both."""

from __future__ import annotations

import sqlite3
import zlib
from typing import TYPE_CHECKING, Any

from .blobs import decode_cuts
from .journal import Damaged
from .segments import SUFFIX, Row, Segment, make_segment
from .tables import fetched, set_segment, summed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_COLUMNS = "n, frame, outcome, reply, messages, round_trips, trouble, blobs"
_ENTRIES = f"SELECT {_COLUMNS}, sum FROM {{}} ORDER BY n"


def upgrade(file: sqlite3.Connection, path: Path, schema: str, sync: bool) -> None:
    """Make the record in the file `path` one of the tables `schema`, of format 3, in one transaction: where
    it ends before that is over, the record is what it was. Raises Damaged.
    """
    has = {name for (name,) in fetched(file, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for left in path.parent.glob(f"{path.stem}-*{SUFFIX}"):
        left.unlink()  # of an attempt that did not end
    file.execute("BEGIN IMMEDIATE")
    try:
        kept = {
            table: fetched(file, f"SELECT * FROM {table} ORDER BY rowid")
            for table in ("snapshots", "kernels")
            if table in has
        }
        lost = [_row(row) for row in fetched(file, _ENTRIES.format("lost"))] if "lost" in has else []
        file.execute("ALTER TABLE entries RENAME TO old")
        for table in (*kept, *(["lost"] if "lost" in has else [])):
            file.execute(f"DROP TABLE {table}")
        for statement in schema.split(";"):
            file.execute(statement)
        for row in kept.get("snapshots", ()):
            file.execute("INSERT INTO snapshots VALUES (?, ?, ?)", summed(*row))
        file.executemany("INSERT INTO kernels VALUES (?, ?)", kept.get("kernels", ()))
        _move(file, path, sync, [n for n, _ in kept.get("snapshots", ())])
        file.execute("DROP TABLE old")
        if lost:
            file.executemany("INSERT INTO lost VALUES (?, ?, ?, ?, ?, ?, ?, ?)", lost)
        file.execute("PRAGMA user_version = 3")
        file.execute("COMMIT")
    except BaseException:
        file.execute("ROLLBACK")
        raise


def _move(file: sqlite3.Connection, path: Path, sync: bool, marks: Sequence[int]) -> None:
    """Entries from their table to segments, which end at snapshots."""
    segment: Segment | None = None
    begun, n = (0, ""), 0
    for one in file.execute(_ENTRIES.format("old")):
        row = _row(one)
        if segment is None or n in marks:
            if segment is not None:
                _seal(file, segment, begun, n, sync)
            new = make_segment(path.parent, path.stem, sync)
            segment = Segment(new)
            begun = row.n - 1, new.name
        n = row.n
        segment.append(row)
        if row.cuts:
            names = [summed(n, name) for _, _, name in decode_cuts(row.cuts)]
            file.executemany("INSERT INTO blobs VALUES (?, ?, ?)", names)
    if segment is not None:
        _seal(file, segment, begun, n, sync)


def _seal(file: sqlite3.Connection, segment: Segment, begun: tuple[int, str], last: int, sync: bool) -> None:
    if sync:
        segment.flush()
    segment.close()
    set_segment(file, *begun, last)


def _row(row: Sequence[Any]) -> Row:
    """An entry of the table. Raises Damaged where it is not what was written."""
    n, frame, outcome, reply, messages, round_trips, trouble, cuts, checked = row
    found = zlib.crc32(f"{n} {outcome} {reply} {messages} {round_trips}".encode())
    for part in (trouble, cuts, frame):
        if part is not None:
            found = zlib.crc32(part, found)
    if found != checked:
        raise Damaged(f"entry {n} is not what was written")
    return Row(n, frame, outcome, reply, messages, round_trips, trouble or b"", cuts or b"")
