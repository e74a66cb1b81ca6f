"""Large buffers of a record, in files named by what is in them: the same bytes are kept once."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import msgspec
from gradd_protocol import frames

from .journal import Damaged

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from gradd_protocol.frames import Bytes

Cut = tuple[int, int, str]
"""Where in a frame a blob goes, from and up to which octet, and its name."""

decode_cuts = msgspec.json.Decoder(list[Cut]).decode

BLOB_BYTES = 1 << 20
"""Buffers of this size and more are blobs."""

_NEW = ".new"
_PIECE = 1 << 24


class Blobs:
    """The blobs in `folder`, which is made with the first. `sync`: `put` returns when it is on the disk."""

    def __init__(self, folder: Path, sync: bool) -> None:
        self._folder = folder
        self._sync = sync

    def put(self, data: memoryview) -> str:
        """Keep these octets; their name. Raises OSError."""
        name = _name(data)
        path = self._folder / name
        if path.exists():
            return name
        self._folder.mkdir(mode=0o700, exist_ok=True)
        new = path.with_suffix(_NEW)
        try:
            with new.open("wb") as file:
                for begin in range(0, len(data), _PIECE):
                    file.write(data[begin : begin + _PIECE])
                if self._sync:
                    file.flush()
                    os.fsync(file.fileno())
            new.rename(path)
        except OSError:
            new.unlink(missing_ok=True)  # where there is no room, half of it takes what is left
            raise
        if self._sync:
            sync_folder(self._folder)
            sync_folder(self._folder.parent)
        return name

    def cut(self, frame: Bytes) -> tuple[Bytes, list[Cut]]:
        """The frame without its large buffers, which are blobs from here on, and where they were. Raises
        OSError.
        """
        view = memoryview(frame)
        cuts = [
            (begin, end, self.put(view[begin:end]))
            for begin, end in frames.extents(frame)
            if end - begin >= BLOB_BYTES
        ]
        left, at = [], 0
        for begin, end, _ in cuts:
            left.append(view[at:begin])
            at = end
        left.append(view[at:])
        return (b"".join(left) if cuts else frame), cuts

    def whole(self, left: Bytes, cuts: list[Cut]) -> Bytes:
        """The frame of which `cut` made this. Raises Damaged."""
        whole = bytearray(len(left) + sum(end - begin for begin, end, _ in cuts))
        frame = memoryview(whole)
        at = taken = 0
        for begin, end, name in cuts:
            frame[at:begin] = left[taken : taken + begin - at]
            taken += begin - at
            self.read(name, frame[begin:end])
            at = end
        frame[at:] = left[taken:]
        return whole

    def read(self, name: str, into: memoryview) -> None:
        """Read a blob. Raises Damaged where it is not there, or is not what it was."""
        try:
            with (self._folder / name).open("rb") as file:
                whole = file.readinto(into) == len(into) and not file.read(1)
        except OSError as error:
            raise Damaged(f"blob {name} cannot be read: {error.strerror}") from None
        if not whole or _name(into) != name:
            raise Damaged(f"blob {name} is not what was written")

    def collect(self, used: Container[str]) -> int:
        """Delete what no entry names; how many there were."""
        if not self._folder.is_dir():
            return 0
        garbage = [path for path in self._folder.iterdir() if path.name not in used]
        for path in garbage:
            path.unlink()
        return len(garbage)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _name(data: memoryview) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()
