"""Large frames in memory files: written in pieces by one process, mapped by another, never copied."""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradd_protocol.frames import Part

BULK_BYTES = 1 << 20
"""Frames of this size or more use a `Bulk`."""

LARGE = 4 << 20
"""Files of this size or more are closed by a thread: the last one to close 64 MiB frees them for 6 ms."""


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
        if self.size < LARGE or not _closer.take(self.fd):
            os.close(self.fd)


class _Closer:
    """A thread that closes files; it is started with the first, in a fork again."""

    def __init__(self) -> None:
        self._files: SimpleQueue[int] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def take(self, fd: int) -> bool:
        """Have it closed; False where there can be no thread."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._close, name="gradd-closer", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # the interpreter ends
                return False
        self._files.put(fd)
        return True

    def _close(self) -> None:
        while True:
            os.close(self._files.get())


_closer = _Closer()


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
