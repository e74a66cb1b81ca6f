"""Files of entries: what is whole is there, what was torn is not, and what was harmed is told."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from gradd_runtime.store import Damaged
from gradd_runtime.store.segments import Row, Segment, first, make_segment, rows

ROWS = [
    Row(4, bytearray(b"a frame"), "applied", 17, 3, 2, b"", b""),
    Row(5, bytearray(), "op-failed", (1 << 32) - 1, 4, 2, b"trouble", b""),
    Row(6, bytearray(range(256)) * 9, "skipped", 0, 1 << 40, 1 << 50, b"", b'[[1,2,"x"]]'),
]
AFTER, LAST = ROWS[0].n - 1, ROWS[-1].n


def written(folder: Path, some: Sequence[Row] = ROWS) -> tuple[Path, list[int]]:
    """A segment with these entries, and its size before each and at its end."""
    path = make_segment(folder, "record", sync=True)
    sizes = [path.stat().st_size]
    segment = Segment(path)
    for row in some:
        segment.append(row)
        sizes.append(path.stat().st_size)
    segment.close()
    return path, sizes


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path, sizes = written(tmp_path)
    for last in (None, LAST):
        assert list(rows(path, AFTER, last)) == list(zip(ROWS, sizes[1:], strict=True))
    assert list(rows(path, AFTER, 5)) == list(zip(ROWS[:2], sizes[1:3], strict=True))
    assert list(rows(path, AFTER, AFTER)) == []
    assert first(path) == 4
    assert first(make_segment(tmp_path, "record", sync=False)) == 0
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_write_that_was_torn_is_none(tmp_path: Path) -> None:
    """Wherever the last one was cut; where all that there were are known, it is told."""
    path, sizes = written(tmp_path)
    whole = path.read_bytes()
    for size in range(sizes[0], sizes[-1]):
        path.write_bytes(whole[:size])
        there = sum(size >= end for end in sizes[1:])
        assert [row.n for row, _ in rows(path, AFTER, None)] == [row.n for row in ROWS[:there]], size
        with pytest.raises(Damaged, match=f"entry {AFTER + there + 1} is not"):
            list(rows(path, AFTER, LAST))
    for end in ("zeros", "noise"):
        torn = bytes(300) if end == "zeros" else np.random.default_rng(1).bytes(300)
        path.write_bytes(whole + torn)
        assert [row for row, _ in rows(path, AFTER, None)] == ROWS


def test_every_bit_that_is_turned_is_noticed(tmp_path: Path) -> None:
    """But for the last entry of a segment that was left open: it is like a write that was torn."""
    path, sizes = written(tmp_path)
    whole = path.read_bytes()
    for at in range(0, 8 * len(whole), 3):
        harmed = bytearray(whole)
        harmed[at // 8] ^= 1 << (at % 8)
        path.write_bytes(harmed)
        with pytest.raises(Damaged):
            list(rows(path, AFTER, LAST))
        if at // 8 < sizes[-2]:
            with pytest.raises(Damaged):
                list(rows(path, AFTER, None))
        else:
            assert [row for row, _ in rows(path, AFTER, None)] == ROWS[:-1]


def test_a_row_of_another_place_is_told(tmp_path: Path) -> None:
    path, _ = written(tmp_path, [ROWS[0], ROWS[2]])
    for last in (None, 6):
        with pytest.raises(Damaged, match="entry 5 is not"):
            list(rows(path, AFTER, last))
    with pytest.raises(Damaged, match="entry 3 is not"):
        list(rows(path, 2, None))


@pytest.mark.parametrize("harm", ["gone", "empty", "another"])
def test_a_file_that_is_another_is_told(tmp_path: Path, harm: str) -> None:
    path, _ = written(tmp_path)
    other, _ = written(tmp_path)
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(b"" if harm == "empty" else other.read_bytes())
    for look in (lambda: list(rows(path, AFTER, None)), lambda: first(path), lambda: Segment(path)):
        with pytest.raises(Damaged, match="log"):
            look()


@pytest.mark.parametrize("wrote", [0, 1, 23, 24, 30, 50])
def test_a_write_for_which_there_was_no_room_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrote: int
) -> None:
    path, sizes = written(tmp_path, ROWS[:1])
    segment = Segment(path)

    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: write(file, data[:wrote]))
        with pytest.raises(OSError, match="No space left") as refused:
            segment.append(ROWS[1])
    assert refused.value.errno == errno.ENOSPC
    assert path.stat().st_size == sizes[-1]
    segment.append(ROWS[1])
    segment.close()
    assert [row for row, _ in rows(path, AFTER, None)] == ROWS[:2]


def test_one_that_waits_for_the_disk_asks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    path = make_segment(tmp_path, "record", sync=True)
    monkeypatch.setattr(os, "fdatasync", asked.append)
    for sync in (True, False):
        segment = Segment(path, sync)
        segment.append(ROWS[0])
        segment.close()
    assert len(asked) == 1
