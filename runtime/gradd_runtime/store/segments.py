"""Entries in files to whose end alone is written: an append is one call of the kernel.

A file begins with `_MAGIC` and eight octets of its own, with which each of its entries begins, too. So what
follows an entry that was harmed is found; where nothing does, it is a write that was torn.
"""

from __future__ import annotations

import errno
import os
import secrets
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from .blobs import sync_folder
from .journal import Damaged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader


SUFFIX = ".log"

_MAGIC = b"gradd entries 1\n"
_MARK = 8
EMPTY_BYTES = len(_MAGIC) + _MARK
"""Of a file without entries."""
#: mark, bytes of the entry, their sum; and the sum of this
_HEAD, _SUM = struct.Struct("<8sQI"), struct.Struct("<I")
_WHOLE = _HEAD.size + _SUM.size

_crc = zlib.crc32


class Row(NamedTuple):
    """An entry as it is written: in MessagePack, by msgspec."""

    n: int
    frame: bytearray
    outcome: str
    reply: int
    messages: int
    round_trips: int
    trouble: bytes
    cuts: bytes


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Row).decode


class Segment:
    """The file `path`, which was made by `make_segment`. `sync`: `append` waits for the disk. Raises OSError,
    and Damaged where it is no such file.
    """

    def __init__(self, path: Path, sync: bool = False) -> None:
        self._path, self._sync = path, sync
        self._mark = _mark(path)
        self._file = os.open(path, os.O_RDWR | os.O_APPEND)
        self._size = os.fstat(self._file).st_size

    def append(self, row: tuple[Any, ...]) -> None:
        """Add an entry, of the members of `Row`. Raises OSError; then it may or may not be there."""
        data = _encode(row)
        head = _HEAD.pack(self._mark, len(data), _crc(data))
        whole = b"".join((head, _SUM.pack(_crc(head)), data))
        size = len(whole)
        try:
            if os.write(self._file, whole) != size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self._sync:
                os.fdatasync(self._file)
        except OSError:
            with suppress(OSError):
                self.cut(self._size)
            raise
        self._size += size

    def cut(self, size: int) -> None:
        """Take away what was written beyond `size`. Raises OSError."""
        os.ftruncate(self._file, size)
        self._size = size

    def flush(self) -> None:
        """Wait until all of it is on the disk. Raises OSError."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def make_segment(folder: Path, stem: str, sync: bool) -> Path:
    """A new file without entries in `folder`; its name begins with `stem`. `sync`: it is on the disk when
    this returns. Raises OSError.
    """
    mark = secrets.token_bytes(_MARK)
    path = folder / f"{stem}-{mark.hex()}{SUFFIX}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(_MAGIC + mark)
            file.flush()
            if sync:
                os.fsync(file.fileno())
    except OSError:
        path.unlink()
        raise
    if sync:
        sync_folder(folder)
    return path


def rows(path: Path, after: int, last: int | None) -> Iterator[tuple[Row, int]]:
    """The entries of the file, which come after entry `after`, up to number `last`; each with the size that
    the file has up to its end. Where `last` is None, a write that was torn is the end. Raises OSError and
    Damaged.
    """
    mark = _mark(path)
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        at, n = file.seek(EMPTY_BYTES), after
        while n != last:
            row = _row(file, size - at, mark)
            if row is None:
                file.seek(at + 1)
                if last is None and mark not in file.read():
                    return
            if row is None or row.n != n + 1:
                raise Damaged(f"entry {n + 1} is not what was written")
            n, at = row.n, file.tell()
            yield row, at


def first(path: Path) -> int:
    """The number of the first entry; 0 where none was written in whole. Raises OSError and Damaged."""
    mark = _mark(path)
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        at = file.seek(EMPTY_BYTES)
        row = _row(file, size - at, mark)
    return 0 if row is None else row.n


def _row(file: BufferedReader, left: int, mark: bytes) -> Row | None:
    """The entry that begins here, of a file with so many octets `left`; None where there is none that is
    sound.
    """
    head, checked = file.read(_HEAD.size), file.read(_SUM.size)
    if len(checked) < _SUM.size or _SUM.unpack(checked)[0] != _crc(head):
        return None
    found, size, total = _HEAD.unpack(head)
    if found != mark or _WHOLE + size > left:
        return None
    data = file.read(size)
    return _decode(data) if _crc(data) == total else None


def _mark(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(EMPTY_BYTES)
    except FileNotFoundError:
        raise Damaged(f"{path.name}, which has entries of the record, is gone") from None
    mark = head[len(_MAGIC) :]
    if not head.startswith(_MAGIC) or mark.hex() != path.stem.rpartition("-")[2]:
        raise Damaged(f"{path.name} does not begin as a file of the record's entries does")
    return mark
