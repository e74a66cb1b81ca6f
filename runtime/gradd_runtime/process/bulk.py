"""Large frames in memory files: written in pieces by one process, mapped by another, never copied."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradd_protocol.frames import Part

BULK_BYTES = 1 << 20
"""Frames of this size or more use a `Bulk`."""


class Bulk:
    """A frame in an anonymous memory file. `fd` is its descriptor, closed with the object; `size`: the bytes
    written so far, or the size of a file from elsewhere.
    """

    def __init__(self, fd: int | None = None, size: int = 0) -> None:
        self.fd = memory_file() if fd is None else fd
        self.size = size

    def write(self, piece: Part | bytearray) -> None:
        """Append `piece`, without making it resident in this process."""
        view = memoryview(piece)
        while view:
            count = os.write(self.fd, view)
            self.size += count
            view = view[count:]

    def map(self) -> memoryview:
        """The frame, writable; its pages are freed with the last view of them."""
        return memoryview(mmap.mmap(self.fd, self.size))

    def __del__(self) -> None:
        os.close(self.fd)


def bulk_of(parts: Iterable[Part]) -> Bulk:
    """A Bulk of the parts of a frame."""
    made = Bulk()
    for part in parts:
        made.write(part)
    return made


def memory_file() -> int:
    """The descriptor of an anonymous file in memory."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("gradd")
    with tempfile.TemporaryFile() as file:  # macOS
        return os.dup(file.fileno())
