"""A terminal to write to, and what is seen on it."""

from __future__ import annotations

import os
import pty
import re
import select
import termios
import time
from typing import TextIO

from tests.waiting import PATIENCE


class Terminal:
    """A pseudo terminal of so many columns. `stream` writes to it."""

    def __init__(self, columns: int = 200) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, columns))
        self.stream: TextIO = os.fdopen(slave, "w")
        self._written = ""

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # nobody writes to it any more
            data = b""
        self._written += data.decode()
        return bool(data)

    def until(self, pattern: str) -> str:
        """Wait for what the pattern finds in all that was written; the match."""
        end = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self._written)) is None:
            assert time.monotonic() < end, f"no {pattern!r} in {self._written!r}"
            self._read(0.1)
        return found.group()

    def written(self) -> str:
        """All that was written, control sequences too."""
        self.stream.write("\x07")
        self.stream.flush()
        self.until("\x07")
        self._written = self._written.replace("\x07", "")
        return self._written

    def seen(self) -> list[str]:
        """The lines that are seen in the end."""
        return [_seen(line) for line in self.written().replace("\r\n", "\n").split("\n")]

    def close(self) -> None:
        """Give both ends back."""
        self.stream.close()
        os.close(self._master)


def _seen(line: str) -> str:
    """What is left of a line after returns and clearings."""
    shown, at = "", 0
    for part in re.findall(r"\r|\x1b\[K|[^\r\x1b]+", line):
        if part == "\r":
            at = 0
        elif part == "\x1b[K":
            shown = shown[:at]
        else:
            shown = shown[:at] + part + shown[at + len(part) :]
            at += len(part)
    return shown
