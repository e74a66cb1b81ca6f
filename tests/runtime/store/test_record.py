"""Records in SQLite files with blobs beside them."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import problem
from gradd_runtime.session import replay
from gradd_runtime.store import BLOB_BYTES, LEVELS, Damaged, Entry, FileStore, Trouble, make_record
from gradd_runtime.store import record as record_module
from gradd_runtime.store.segments import Segment, rows
from gradd_runtime.store.tables import set_segment

from tests.runtime.store.scripts import differences, every_kind, opened

pytestmark = pytest.mark.usefixtures("settled")
LARGE = np.arange(BLOB_BYTES, dtype=np.uint8)
SMALL = np.arange(7, dtype=np.int64)


def put(*arrays: np.ndarray) -> bytes:
    uploads = list(range(len(arrays)))
    batch = m.Batch(writer=1, epoch=1, seq=1, ack=0, program="", uploads=uploads)
    return frames.join(frames.encode(batch, arrays))


def blobs(path: Path) -> list[Path]:
    folder = path.with_suffix(".blobs")
    return sorted(folder.iterdir()) if folder.is_dir() else []


def segments(path: Path) -> list[Path]:
    return sorted(path.parent.glob("record-*.log"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_record(tmp_path / "record.db")
    return tmp_path / "record.db"


@pytest.mark.parametrize("level", LEVELS)
def test_what_was_appended_is_there_when_it_is_opened_again(path: Path, level: str) -> None:
    trouble = Trouble(problem("op-failed", "it failed", step=3, applied=3), [(4, 100, 50)])
    entries = [
        Entry(1, b"frame", "applied", 17, 3, 2),
        Entry(2, put(SMALL, LARGE, SMALL, LARGE[::-1], SMALL), "op-failed", (1 << 32) - 1, 4, 2, trouble),
        Entry(3, put(LARGE), "skipped"),
    ]
    store = FileStore(path, level)
    for entry in entries:
        store.append(entry)
    store.close()
    again = FileStore(path, level)
    assert list(again.entries()) == entries
    assert len(blobs(path)) == 2  # the same bytes are kept once
    assert path.stat().st_size < BLOB_BYTES
    again.close()


def test_a_session_is_replayed_from_its_file(path: Path) -> None:
    store = FileStore(path)
    session = opened(store)
    for frame in every_kind():
        session.submit(frame)
    assert blobs(path) == []
    store.close()
    again = opened()
    replay(again, FileStore(path))
    assert differences(session, again) == []


def test_a_large_upload_is_the_tensors_memory_when_it_is_replayed(path: Path) -> None:
    store = FileStore(path)
    session = opened(store)
    session.submit(frames.join(frames.encode(m.PutTensor("x"), [LARGE])))
    session.submit(frames.join(frames.encode(m.PutTensor("x2"), [LARGE])))
    store.close()
    again = opened()
    replay(again, FileStore(path))
    assert differences(session, again) == []
    assert len(blobs(path)) == 1


def test_a_file_is_one_processs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_module, "_LOCK_SECONDS", 0)
    store = FileStore(path)
    store.append(Entry(1, b"", "applied"))
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        FileStore(path)
    store.close()
    FileStore(path).close()


def test_what_no_entry_names_is_collected(path: Path) -> None:
    store = FileStore(path)
    store.append(Entry(1, put(LARGE), "applied"))
    (kept,) = blobs(path)
    for garbage in ("0" * 40, "1" * 40 + ".new"):
        (kept.parent / garbage).write_bytes(b"half")
    store.close()
    FileStore(path).close()
    assert blobs(path) == [kept]


def test_an_entry_whose_blob_cannot_be_written_is_not_there(path: Path) -> None:
    store = FileStore(path)
    path.with_suffix(".blobs").write_bytes(b"in the way")
    with pytest.raises(OSError, match=r"record\.blobs"):
        store.append(Entry(1, put(LARGE), "applied"))
    store.append(Entry(1, b"", "applied"))
    assert [entry.frame for entry in store.entries()] == [b""]


def test_a_record_that_is_harmed_has_no_file_deleted(path: Path) -> None:
    """What it does not name any more may be what a bit was turned in the name of."""
    store = FileStore(path)
    store.append(Entry(1, put(LARGE), "applied"))
    store.write([b"a snapshot"], 1)
    store.stand_at(1, 10)
    store.append(Entry(2, put(LARGE[::-1]), "applied"))
    store.close()
    before = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    for harm in ("blobs SET name = 'x'", "blobs SET n = 7", "snapshots SET n = 7", "segments SET file = 'x'"):
        with contextlib.closing(sqlite3.connect(path)) as file, file:
            file.execute(
                f"UPDATE {harm} WHERE rowid = 1"
                if "segments" not in harm
                else f"UPDATE {harm} WHERE after = 0"
            )
        with pytest.raises(Damaged):
            FileStore(path)
        assert {file for file in path.parent.rglob("*") if file.is_file()} >= before.keys(), harm
        path.write_bytes(before[path])
    store = FileStore(path)
    assert [entry.n for entry in store.entries()] == [1, 2]
    store.close()


@pytest.mark.parametrize("harm", ["missing", "short", "long", "changed"])
def test_a_blob_that_is_not_what_it_was_is_told(path: Path, harm: str) -> None:
    store = FileStore(path)
    store.append(Entry(1, put(LARGE), "applied"))
    (blob,) = blobs(path)
    data = blob.read_bytes()
    if harm == "missing":
        blob.unlink()
    else:
        changed = {"short": data[:-1], "long": data + b"x", "changed": b"x" + data[1:]}
        blob.write_bytes(changed[harm])
    with pytest.raises(Damaged, match="blob"):
        list(store.entries())


def test_a_file_that_is_no_record_is_told_and_left(path: Path) -> None:
    path.write_bytes(b"no database, and long enough to be one" * 100)
    before = path.read_bytes()
    with pytest.raises(Damaged):
        FileStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("left", [0, 1, 99, 4096])
def test_a_record_that_was_cut_is_no_new_one(path: Path, left: int) -> None:
    """SQLite takes a file of no byte for a database that nobody has written to."""
    store = FileStore(path)
    store.append(Entry(1, b"frame", "applied"))
    log = path.with_name("record.db-wal").read_bytes()
    store.close()
    path.write_bytes(path.read_bytes()[:left])
    path.with_name("record.db-wal").write_bytes(b"" if left > 1 else log)
    files = {p: p.read_bytes() for p in path.parent.iterdir() if p.stat().st_size}
    with pytest.raises(Damaged, match="record"):
        list(FileStore(path).entries())
    assert {p: p.read_bytes() for p in path.parent.iterdir() if p.stat().st_size} == files


def test_a_record_without_entries_is_sound(path: Path) -> None:
    assert list(FileStore(path).entries()) == []
    with pytest.raises(FileExistsError):
        make_record(path)
    path.unlink()
    with pytest.raises(Damaged, match="gone"):
        FileStore(path)
    assert not path.exists()


def test_a_record_of_another_format_is_left(path: Path) -> None:
    FileStore(path).close()
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version = 99")
    file.close()
    with pytest.raises(Damaged, match="format 99"):
        FileStore(path)


def test_every_bit_that_is_turned_is_noticed_or_harmless(path: Path) -> None:
    """No session of another state is made of a damaged file."""
    store = FileStore(path)
    session = opened(store)
    script = every_kind()[:30]
    for frame in script:
        session.submit(frame)
    store.close()
    sound = path.read_bytes()
    random = np.random.default_rng(3)
    noticed = 0
    for at in random.integers(0, 8 * len(sound), int(os.environ.get("GRADD_FLIPS", "60"))):
        harmed = bytearray(sound)
        harmed[at // 8] ^= 1 << (at % 8)
        path.write_bytes(harmed)
        again = opened()
        try:
            harmed_store = FileStore(path)
        except (Damaged, sqlite3.Error):
            noticed += 1
            continue
        try:
            replay(again, harmed_store)
        except (Damaged, sqlite3.Error):
            noticed += 1
        else:
            assert differences(session, again) == [], f"bit {at}"
        finally:
            harmed_store.close()
    assert noticed


@pytest.mark.parametrize("harm", [{"trouble": b"7"}, {"cuts": b"{}"}, {"n": 7}, {"cuts": b'[[0,9,"x"]]'}])
def test_an_entry_that_says_something_else_is_told(path: Path, harm: dict[str, Any]) -> None:
    """Though its sums are right."""
    store = FileStore(path)
    store.append(Entry(1, b"frame", "applied"))
    store.close()
    (segment,) = segments(path)
    row, _ = next(rows(segment, 0, 1))
    again = Segment(segment)
    again.cut(24)
    again.append(row._replace(**harm))
    again.close()
    store = FileStore(path)
    with pytest.raises(Damaged):
        list(store.entries())
    store.close()


@pytest.mark.parametrize("harm", ["file = '../x.log'", "last = 1", "last = NULL", "after = 1", "sum = 0"])
def test_a_row_that_holds_something_else_is_told(path: Path, harm: str) -> None:
    store = FileStore(path)
    store.append(Entry(1, b"frame", "applied"))
    store.append(Entry(2, b"frame", "applied"))
    store.close()
    with sqlite3.connect(path) as file:
        file.execute(f"UPDATE segments SET {harm}")
    file.close()
    with pytest.raises(Damaged):
        FileStore(path)


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE segments SET sum = 0",
        "UPDATE segments SET file = CAST(x'ff' AS TEXT)",
        "INSERT INTO blobs VALUES (1, CAST(x'ff' AS TEXT), 0)",
        "INSERT INTO blobs VALUES (1, 'name', 0)",
        "INSERT INTO snapshots VALUES (1, 1, 0)",
    ],
)
def test_a_record_that_is_refused_is_let_go(path: Path, harm: str) -> None:
    """Though somebody keeps the error, with its traceback."""
    store = FileStore(path)
    store.append(Entry(1, b"frame", "applied"))
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute(harm)
    kept = []
    try:
        store = FileStore(path)
        list(store.entries())
        store.close()
    except (Damaged, sqlite3.Error) as error:
        kept.append(error)
    with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as file:
        file.execute("BEGIN EXCLUSIVE")
        file.execute("ROLLBACK")
    assert kept


@pytest.mark.parametrize("row", [("../record-1.log", 0, None), ("other-1.log", 0, None)])
def test_a_record_has_no_files_elsewhere(path: Path, row: Any) -> None:
    """Though the sum is right."""
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        set_segment(file, row[1], row[0], row[2])
    store = FileStore(path)
    with pytest.raises(Damaged, match="not its own"):
        list(store.entries())
    store.close()


@pytest.mark.parametrize("ended", ["closed", "killed"])
def test_segments_that_the_record_does_not_know_are_told(path: Path, ended: str) -> None:
    """As where bits were turned in SQLite's log, which then ends there."""
    store = FileStore(path)
    store.append(Entry(1, b"frame", "applied"))
    if ended == "closed":
        store.close()
    files = {file: file.read_bytes() for file in path.parent.iterdir()}
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM segments")
    files[path] = path.read_bytes()
    files.pop(path.with_name("record.db-wal"), None)
    for file, data in files.items():
        file.write_bytes(data)
    with pytest.raises(Damaged, match="of which the record does not know"):
        FileStore(path)
    assert {file: file.read_bytes() for file in segments(path)}.items() <= files.items()


@pytest.mark.parametrize("ended", ["closed", "killed"])
def test_an_append_that_fails_takes_nothing_with_it(
    path: Path, ended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    entries = [Entry(1, b"frame", "applied"), Entry(2, b"frame", "applied")]
    store = FileStore(path)
    store.append(entries[0])
    data = {file: file.read_bytes() for file in path.parent.iterdir()}
    store.close()
    if ended == "killed":
        for file, before in data.items():
            file.write_bytes(before)
    for _ in range(2):
        store = FileStore(path)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(OSError, match="No space"):
                store.append(entries[1])
        store.close()
    store = FileStore(path)
    assert list(store.entries()) == entries[:1]
    store.append(entries[1])
    assert list(store.entries()) == entries
    store.close()


def test_what_a_killed_process_wrote_is_gone_on_with(path: Path) -> None:
    """Also behind a write that was torn, and behind a file that has no entries yet."""
    entries = [Entry(n, b"frame", "applied") for n in range(1, 5)]
    killed = FileStore(path)
    killed._open(0)
    for n, torn in enumerate((b"torn", b"torn", b""), 1):
        data = {file: file.read_bytes() for file in path.parent.iterdir()}
        killed.close()
        for file, before in data.items():
            file.write_bytes(before + torn * (file.suffix == ".log"))
        killed = FileStore(path)
        assert next(iter(killed.entries()), entries[0]) == entries[0]
        assert n == 2 or list(killed.entries()) == entries[: n - 1]
        killed.append(entries[n - 1])
    killed.close()
    assert len(segments(path)) == 1
    again = FileStore(path)
    again.append(entries[3])
    assert list(again.entries()) == entries
    again.close()


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    make_record(folder / "record.db")
    store = FileStore(folder / "record.db")
    store.append(Entry(1, put(LARGE), "applied"))
    assert stat.S_IMODE((folder / "record.blobs").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "record.db").stat().st_mode) == 0o600


def test_an_unknown_level_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="no level"):
        FileStore(path, "wishful")
