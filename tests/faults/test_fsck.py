"""`gradd fsck`: what it says of a session's files is what a daemon makes of them, and it changes none."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_runtime.process import Hosted
from gradd_runtime.store import BLOB_BYTES, examine
from gradd_runtime.store.segments import rows
from gradd_runtime.store.tables import read_segments
from gradd_server import cli
from gradd_server.commands.exits import BAD_CONFIG, DAMAGED, LOCKED, OK
from gradd_server.datadir import DataDir
from gradd_server.folder_stores import ABOUT, FolderStores

OPTIONS = {"durability": "process", "epoch": 7}
TURNS = int(os.environ.get("GRADD_FLIPS", "60")) // 5
#: of `fill`: the entries after which snapshots are taken, and the last
EARLIER, LATEST, LAST = 3, 6, 9


def put(n: int) -> bytes:
    """The frame of entry `n`; that of the seventh is a blob."""
    size = BLOB_BYTES // 8 if n == 7 else 3
    return frames.join(frames.encode(m.PutTensor(f"x{n % 4}"), [np.full(size, float(n))]))


def awake(record: Path) -> Hosted:
    host = Hosted("kept", {**OPTIONS, "store": str(record)}, NUMPY)
    while not host.wake():
        """An entry at a time."""
    return host


def fill(record: Path, closed: bool = True) -> None:
    host = awake(record)
    for n in range(1, LAST + 1):
        host.answer(put(n))
        if n in (EARLIER, LATEST):
            assert host.snapshot()
    if not closed:  # as after kill -9
        shutil.copytree(record.parent, record.parent.with_suffix(".killed"))
    host.close()
    if not closed:
        shutil.rmtree(record.parent)
        record.parent.with_suffix(".killed").rename(record.parent)


def state(record: Path) -> Any:
    """What a daemon makes of it: its entries and values, or nothing."""
    host = awake(record)
    try:
        session = host.session
        if session is None:
            return None
        names = sorted(session.table.named)
        return session.entries, {name: session.table.named[name].array.tobytes() for name in names}
    finally:
        host.close()


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    with DataDir(path):
        FolderStores(path / "sessions")
    return path


@pytest.fixture
def record(data: Path) -> Path:
    made = FolderStores(data / "sessions").make("acme", "kept", OPTIONS)
    fill(made)
    return made


@pytest.fixture
def fsck(data: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[], tuple[int, list[dict[str, Any]]]]:
    def run() -> tuple[int, list[dict[str, Any]]]:
        code = cli.main(["fsck", "--data-dir", str(data), "--json"])
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def spoil(path: Path) -> None:
    harmed = bytearray(path.read_bytes())
    harmed[len(harmed) // 2] ^= 4
    path.write_bytes(harmed)


def alter(record: Path, n: int) -> None:
    with contextlib.closing(sqlite3.connect(record)) as file:
        segments = read_segments(file)
    for begin, name, last in segments:
        for row, end in rows(record.with_name(name), begin, last):
            if row.n == n:
                with record.with_name(name).open("r+b") as segment:
                    segment.seek(end - 1)
                    segment.write(b"?")


def snapshot_at(record: Path, n: int) -> Path:
    return record.with_name(f"{record.stem}-{n}.safetensors")


def test_sound_sessions(record: Path, data: Path, fsck: Any, capsys: pytest.CaptureFixture[str]) -> None:
    FolderStores(data / "sessions").make("default", "new", OPTIONS)
    before = contents(data / "sessions")
    code, (kept, new) = fsck()
    assert code == OK
    assert kept == {
        "tenant": "acme", "name": "kept", "status": "sound", "folder": str(record.parent),
        "entries": LAST, "whole": LAST, "snapshots": [LATEST, EARLIER], "damage": [],
    }  # fmt: skip
    assert (new["name"], new["status"], new["entries"]) == ("new", "sound", 0)
    assert contents(data / "sessions") == before
    assert cli.main(["fsck", "--data-dir", str(data)]) == OK
    assert capsys.readouterr().out.splitlines()[-1] == "2 sessions: 2 sound"


def test_a_session_that_was_killed_is_sound(data: Path, fsck: Any) -> None:
    record = FolderStores(data / "sessions").make("acme", "kept", OPTIONS)
    fill(record, closed=False)
    before = contents(data / "sessions")
    assert record.with_name(f"{record.name}-wal") in before
    code, (kept,) = fsck()
    assert (code, kept["status"], kept["whole"]) == (OK, "sound", LAST)
    assert contents(data / "sessions") == before


def test_a_damaged_snapshot_harms_nothing_while_another_is_sound(record: Path, fsck: Any) -> None:
    spoil(snapshot_at(record, LATEST))
    code, (kept,) = fsck()
    assert (code, kept["status"], kept["whole"], kept["snapshots"]) == (DAMAGED, "harmed", LAST, [EARLIER])
    assert kept["damage"] == [
        f"the snapshot at entry {LATEST}: the snapshot is damaged: its checksum is another"
    ]
    assert state(record)[0] == LAST
    snapshot_at(record, EARLIER).unlink()
    _, (kept,) = fsck()
    assert (kept["status"], kept["whole"], kept["entries"], kept["snapshots"]) == ("damaged", 0, LAST, [])
    assert kept["damage"][1:] == [
        f"the snapshot at entry {EARLIER}: it is gone",
        f"entries before {EARLIER + 1} are gone, and no snapshot is sound",
    ]
    assert state(record) is None


@pytest.mark.parametrize(
    ("n", "status", "whole"), [(EARLIER + 1, "harmed", LAST), (LATEST + 2, "damaged", LATEST + 1)]
)
def test_what_a_damaged_entry_costs(record: Path, fsck: Any, n: int, status: str, whole: int) -> None:
    alter(record, n)
    code, (kept,) = fsck()
    assert (code, kept["status"], kept["whole"]) == (DAMAGED, status, whole)
    assert kept["damage"] == [f"entry {n} is not what was written"]
    assert (state(record) is None) == (status == "damaged")


def test_a_damaged_blob(record: Path, fsck: Any, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (blob,) = record.with_suffix(".blobs").iterdir()
    spoil(blob)
    _, (kept,) = fsck()
    assert (kept["status"], kept["whole"]) == ("damaged", 6)
    assert kept["damage"] == [f"blob {blob.name} is not what was written"]
    assert cli.main(["fsck", "--data-dir", str(data)]) == DAMAGED
    assert capsys.readouterr().out.splitlines() == [
        "acme/kept\tdamaged\twhole up to entry 6 of 9",
        f"  blob {blob.name} is not what was written",
        f"  its files: {record.parent}",
        "1 sessions: 1 damaged",
    ]


def test_a_record_that_was_cut_to_nothing(record: Path, fsck: Any) -> None:
    record.write_bytes(b"")
    code, (kept,) = fsck()
    assert (code, kept["status"], kept["snapshots"]) == (DAMAGED, "damaged", [LATEST, EARLIER])
    assert kept["damage"] == ["the record was cut to no byte at all"]
    assert state(record) is None


def test_snapshots_that_users_took(record: Path, data: Path, fsck: Any) -> None:
    shelf = FolderStores(data / "sessions").snapshots("acme", "kept")
    shelf.mkdir()
    taken = shelf / "6-0123abcd.safetensors"
    shutil.copyfile(snapshot_at(record, LATEST), taken)
    assert fsck()[0] == OK
    spoil(taken)
    code, (kept,) = fsck()
    assert (code, kept["status"], kept["whole"]) == (DAMAGED, "harmed", LAST)
    assert kept["damage"] == ["snapshot 6-0123abcd: the snapshot is damaged: its checksum is another"]
    assert state(record)[0] == LAST


def test_a_session_whose_name_cannot_be_read(record: Path, fsck: Any) -> None:
    (record.parent / ABOUT).write_text("{}")
    code, (kept,) = fsck()
    assert (code, kept["status"], kept["folder"]) == (DAMAGED, "damaged", str(record.parent))
    assert kept["damage"][0].startswith("session.json: ")


def test_a_daemon_and_fsck_exclude_each_other(record: Path, data: Path, tmp_path: Path) -> None:
    with DataDir(data):
        assert cli.main(["fsck", "--data-dir", str(data)]) == LOCKED
    assert cli.main(["fsck", "--data-dir", str(tmp_path / "nowhere")]) == BAD_CONFIG
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_it_says_what_a_daemon_makes_of_turned_bits(
    data: Path, closed: bool, tally: Callable[..., None]
) -> None:
    """Whatever bit is turned: a session that is said to come back does, with each value that it had."""
    record = FolderStores(data / "sessions").make("acme", "kept", OPTIONS)
    fill(record, closed)
    sound = contents(record.parent)
    whole = state(record)
    random = Random(f"{closed}")
    for _ in range(TURNS):
        shutil.rmtree(record.parent)
        for path, was in sound.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(was)
        path = random.choice(sorted(p for p in sound if p.name != ABOUT))
        harmed = bytearray(sound[path])
        at = random.randrange(8 * len(harmed))
        harmed[at // 8] ^= 1 << at % 8
        path.write_bytes(harmed)
        before = contents(record.parent)
        found = examine(record)
        assert contents(record.parent) == before
        made = state(record)
        assert found.comes_back == (made is not None), (path.name, at, found)
        if made is not None:
            assert made[0] == found.whole, (path.name, at, found)
            assert made == whole or made[0] < LAST, (path.name, at)
    tally("bits turned and examined", TURNS)
