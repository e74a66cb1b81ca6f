"""Whose a record on shared storage is: it may be opened again elsewhere while an engine process that nobody
can reach still has it open.

A *tenure* has a number, and who makes the file ``<record>.lease-<number>`` has it: of two that try, one does.
The record is copied then to a folder of that tenure, and goes on there; whoever had it before finds the next
lease after what it appended, and answers nothing. So what was answered was there when the copy was made, and
what is appended later is in a file that nobody reads.

The storage has to show a file that was made, and that a file is not there, to all machines at once, as NFS
does with the mount options ``noac`` or ``lookupcache=positive``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from pathlib import Path

#: longest wait for who had the record before to write no more
QUIET_SECONDS = 30.0
_PAUSE = 0.02


class LeaseLost(OSError):
    """The record is somebody else's by now."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "another engine process has the session's record")


class RecordLease:
    """The tenure `number` of the record that was made as `base`; it is at `path` now."""

    def __init__(self, base: Path, number: int) -> None:
        self.number = number
        self.path = _home(base, number) / base.name
        self._next = str(_mark(base, number + 1))

    def check(self) -> None:
        """Raise LeaseLost where another tenure has begun."""
        if os.path.lexists(self._next):
            raise LeaseLost


def take(base: Path, sync: bool = False) -> RecordLease:
    """Begin the next tenure of the record that was made as `base`; with `sync` its files are on the disk
    then. Raises OSError where it cannot be begun; whoever had the record has lost it all the same.
    """
    number = _claimed(base)
    home = _home(base, number)
    new = home.with_name(f"{home.name}.new")
    end = time.monotonic() + QUIET_SECONDS
    while not _copied(source := newest(base), new):
        if time.monotonic() > end:
            raise OSError(errno.EBUSY, f"{source} is being written by somebody else")
        time.sleep(_PAUSE)
    if sync:
        for path in new.rglob("*"):
            _sync(path)
        _sync(new)
    new.rename(home)
    if sync:
        _sync(home.parent)
    for old in _tenures(base)[:-1]:
        shutil.rmtree(_home(base, old), ignore_errors=True)
    return RecordLease(base, number)


def newest(base: Path) -> Path:
    """Where the record that was made as `base` is: as it was made, or as the latest tenure has it."""
    tenures = _tenures(base)
    return _home(base, tenures[-1]) / base.name if tenures else base


def _claimed(base: Path) -> int:
    number = max(_numbers(base, "lease"), default=0)
    while True:
        number += 1
        with contextlib.suppress(FileExistsError):
            os.close(os.open(_mark(base, number), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return number


def _mark(base: Path, number: int) -> Path:
    return base.with_name(f"{base.stem}.lease-{number}")


def _home(base: Path, number: int) -> Path:
    return base.with_name(f"{base.stem}.tenure-{number}")


def _tenures(base: Path) -> list[int]:
    """The numbers of tenures whose folder is whole."""
    return sorted(_numbers(base, "tenure"))


def _numbers(base: Path, kind: str) -> list[int]:
    start = f"{base.stem}.{kind}-"
    ends = (name.removeprefix(start) for name in os.listdir(base.parent) if name.startswith(start))
    return [int(end) for end in ends if end.isdecimal()]


def _copied(source: Path, target: Path) -> bool:
    """Copy a record to the folder `target`; False where it changed meanwhile."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700)
    try:
        before = _listed(source)
        for name in before:
            (target / name).parent.mkdir(mode=0o700, exist_ok=True)
            _copy(source.parent / name, target / name)
        return _listed(source) == before
    except FileNotFoundError:
        return False


def _listed(record: Path) -> dict[str, tuple[int, int]]:
    """The files of a record, with their sizes and when they were written."""
    found = {}
    stem = record.stem
    for path in record.parent.iterdir():
        own = path.name.startswith((f"{stem}.db", f"{stem}-")) or path.name == f"{stem}.asleep"
        inner = sorted(path.iterdir()) if path.name == f"{stem}.blobs" else []
        for file in [path] if own else inner:
            if file.suffix != ".new":
                about = file.stat()
                found[str(file.relative_to(record.parent))] = about.st_size, about.st_mtime_ns
    return found


def _copy(source: Path, target: Path) -> None:
    """A second name where the file will not change and the storage has such, else its bytes."""
    if source.suffix == ".safetensors" or source.parent.suffix == ".blobs":
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copyfile(source, target)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
