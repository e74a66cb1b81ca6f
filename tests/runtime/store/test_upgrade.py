"""Records of earlier formats: what was in them is there, and one that cannot be taken over stays as it was.

Stores that earlier versions wrote are in tests/server/golden.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import problem
from gradd_runtime.store import BLOB_BYTES, Blobs, Damaged, Entry, FileStore, Trouble, record

ENTRY = """
(n INTEGER{}, frame BLOB NOT NULL, outcome TEXT NOT NULL, reply INTEGER NOT NULL,
 messages INTEGER NOT NULL, round_trips INTEGER NOT NULL, trouble BLOB, blobs BLOB, sum INTEGER NOT NULL)
"""
OLD = {
    1: f"CREATE TABLE entries {ENTRY.format(' PRIMARY KEY')}",
    2: f"""
    CREATE TABLE entries {ENTRY.format(" PRIMARY KEY")};
    CREATE TABLE snapshots (n INTEGER PRIMARY KEY, size INTEGER NOT NULL);
    CREATE TABLE kernels (n INTEGER NOT NULL, identity TEXT NOT NULL);
    CREATE TABLE lost {ENTRY.format(" NOT NULL")}
    """,
}
LARGE = frames.join(
    frames.encode(
        m.Batch(writer=1, epoch=1, seq=1, ack=0, program="", uploads=[0]),
        [np.arange(BLOB_BYTES, dtype=np.uint8)],
    )
)
ENTRIES = [
    Entry(1, b"one", "applied", 17, 3, 2),
    Entry(2, LARGE, "applied", 0, 4, 2),
    Entry(3, b"three", "op-failed", 5, 5, 2, Trouble(problem("op-failed", "it failed", step=1), [(4, 1, 2)])),
    Entry(4, b"", "skipped", 0, 6, 3),
]


def row_of(entry: Entry, blobs: Blobs) -> tuple[object, ...]:
    n, frame, outcome, reply, messages, round_trips, trouble = entry
    left, cuts = blobs.cut(frame) if len(frame) >= BLOB_BYTES else (frame, [])
    more = None if trouble is None else msgspec.json.encode(trouble)
    where = msgspec.json.encode(cuts) if cuts else None
    found = zlib.crc32(f"{n} {outcome} {reply} {messages} {round_trips}".encode())
    for part in (more, where, left):
        found = found if part is None else zlib.crc32(part, found)
    return n, left, outcome, reply, messages, round_trips, more, where, found


def made(path: Path, format: int, entries: Sequence[Entry] = ENTRIES, lost: Sequence[Entry] = ()) -> None:
    """A record as that format had it."""
    blobs = Blobs(path.with_suffix(".blobs"), sync=False)
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute("PRAGMA journal_mode = WAL")
        file.executescript(f"{OLD[format]}; PRAGMA user_version = {format}")
        for table, some in (("entries", entries), ("lost", lost)):
            for entry in some:
                file.execute(f"INSERT INTO {table} VALUES (?,?,?,?,?,?,?,?,?)", row_of(entry, blobs))
        if format == 2:
            file.execute("INSERT INTO snapshots VALUES (2, 100)")
            file.execute("INSERT INTO kernels VALUES (1, 'theirs')")
            path.with_name(f"{path.stem}-2.safetensors").write_bytes(b"a snapshot")


@pytest.mark.parametrize("level", record.LEVELS)
@pytest.mark.parametrize("format", OLD)
def test_what_was_in_it_is_there(tmp_path: Path, format: int, level: str) -> None:
    path = tmp_path / "record.db"
    made(path, format)
    for _ in range(2):
        store = FileStore(path, level)
        assert list(store.entries()) == ENTRIES
        assert store.span() == (1, 4)
        assert store.snapshots() == ([2] if format == 2 else [])
        assert store.kernels() == ([(1, "theirs")] if format == 2 else [])
        store.close()
    store = FileStore(path, level)
    store.append(Entry(5, b"five", "applied"))
    assert [entry.n for entry in store.entries(3)] == [4, 5]
    if format == 2:
        with store.snapshot(2) as snapshot:
            assert snapshot.read() == b"a snapshot"
    store.stand_at(5, 1)
    store.stand_at(6, 1)
    store.compact()
    assert store.span() == (0, 0)
    assert list(path.with_suffix(".blobs").iterdir()) == []
    store.close()


def test_what_was_lost_stays_and_has_its_blobs(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    made(path, 2, ENTRIES[:1], ENTRIES[1:3])
    FileStore(path).close()
    with contextlib.closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT n, outcome FROM lost").fetchall() == [(2, "applied"), (3, "op-failed")]
    assert len(list(path.with_suffix(".blobs").iterdir())) == 1


@pytest.mark.parametrize("harm", ["entry", "table", "room"])
def test_one_that_cannot_be_taken_over_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    path = tmp_path / "record.db"
    made(path, 2)
    if harm != "room":
        with contextlib.closing(sqlite3.connect(path)) as file, file:
            changed = {"entry": "UPDATE entries SET reply = 1 WHERE n = 3", "table": "DROP TABLE entries"}
            file.execute(changed[harm])
    before = _told(path)
    write, calls = os.write, 0

    def full(file: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    with monkeypatch.context() as patch:
        if harm == "room":
            patch.setattr(os, "write", full)
        with pytest.raises(OSError if harm == "room" else Damaged):
            FileStore(path)
    assert _told(path) == before
    if harm == "room":
        store = FileStore(path)
        assert list(store.entries()) == ENTRIES
        store.close()


def _told(path: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as file:
        tables = file.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
        return [*tables, *(row for name, _ in tables for row in file.execute(f"SELECT * FROM {name}"))]
