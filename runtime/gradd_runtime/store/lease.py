"""Whose a record on shared storage is: it may be opened again elsewhere while an engine process that nobody
can reach still has it open.

A *tenure* has a number, and who makes the file ``<record>.lease-<number>`` has it: of two that try, one does.
The record is copied then to a folder of that tenure, and goes on there; whoever had it before finds the next
lease after what it appended, and answers nothing. So what was answered was there when the copy was made, and
what is appended later is in a file that nobody reads.

The file has the *order* by which its maker opened the session. Orders rise, so one who was told to open it,
and wakes up when it was opened elsewhere since, begins no tenure.

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
#: longest wait for who makes a lease to write into it
_SAYING_SECONDS = 1.0
_NEW = ".new"
#: nanoseconds within which two changes of a file may have one time
_TICK = 20_000_000


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


def take(base: Path, order: int = 0, sync: bool = False) -> RecordLease:
    """Begin the next tenure of the record that was made as `base`, for a session that was opened by that
    `order`; with `sync` its files are on the disk then. Raises LeaseLost where one of a later order has
    begun, and OSError where it cannot be begun; whoever had the record has lost it all the same.
    """
    number = _claimed(base, order)
    lease, home = RecordLease(base, number), _home(base, number)
    new = home.with_name(f"{home.name}{_NEW}")
    end = time.monotonic() + QUIET_SECONDS
    while not _copied(base, source := newest(base), new, _mark(base, number).stat().st_mtime_ns):
        lease.check()
        if time.monotonic() > end:
            shutil.rmtree(new, ignore_errors=True)
            raise OSError(errno.EBUSY, f"{source} is being written by somebody else")
        time.sleep(_PAUSE)
    if sync:
        for path in new.rglob("*"):
            _sync(path)
        _sync(new)
    new.rename(home)
    if sync:
        _sync(home.parent)
    tenures = _tenures(base)
    left = [_home(base, old) for old in tenures[:-1]]
    left += [_mark(base, old, "tenure", _NEW) for old in _numbers(base, "tenure", _NEW) if old < number]
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
    return lease


def newest(base: Path) -> Path:
    """Where the record that was made as `base` is: as it was made, or as the latest tenure has it."""
    tenures = _tenures(base)
    return _home(base, tenures[-1]) / base.name if tenures else base


def _claimed(base: Path, order: int) -> int:
    while True:
        number = max(_numbers(base, "lease"), default=0)
        if number and _order_of(_mark(base, number)) > order:
            raise LeaseLost
        with contextlib.suppress(FileExistsError), _mark(base, number + 1).open("x") as file:
            file.write(f"{order}\n")
            return number + 1


def _order_of(mark: Path) -> int:
    """By which order the tenure of that file was begun; 0 where it says nothing, for who made it died."""
    end = time.monotonic() + _SAYING_SECONDS
    while not (text := mark.read_text()).endswith("\n"):
        if time.monotonic() > end:
            return 0
        time.sleep(_PAUSE)
    return int(text)


def _mark(base: Path, number: int, kind: str = "lease", end: str = "") -> Path:
    return base.with_name(f"{base.stem}.{kind}-{number}{end}")


def _home(base: Path, number: int) -> Path:
    return _mark(base, number, "tenure")


def _tenures(base: Path) -> list[int]:
    """The numbers of tenures whose folder is whole."""
    return sorted(_numbers(base, "tenure"))


def _numbers(base: Path, kind: str, end: str = "") -> list[int]:
    start = f"{base.stem}.{kind}-"
    names = (name for name in os.listdir(base.parent) if name.startswith(start) and name.endswith(end))
    found = (name.removeprefix(start).removesuffix(end) for name in names)
    return [int(number) for number in found if number.isdecimal()]


def _copied(base: Path, source: Path, target: Path, began: int) -> bool:
    """Copy a record, where the one made as `base` is, to the folder `target`; False where it changed
    meanwhile. `began`: when the tenure did, by the storage's clock (ns).
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700)
    try:
        before = _listed(source)
        if any(written > began - _TICK for _, written in before.values()):
            time.sleep(_PAUSE)  # what is written from here on has another time
            if _listed(source) != before:
                return False
        for name in before:
            (target / name).parent.mkdir(mode=0o700, exist_ok=True)
            _copy(source.parent / name, target / name)
        # Where a later tenure is whole, this one's folder is being removed.
        return _listed(source) == before and newest(base) == source
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESTALE):  # a file went meanwhile
            return False
        raise


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
