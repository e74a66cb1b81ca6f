"""What long work says of itself: one line on a terminal, drawn anew as it goes on, and gone when it ends.

Nothing is written where stderr is no terminal, as in pipes and notebooks, or GRADD_PROGRESS is 0. Short work
pays a look at the clock for each piece.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

T = TypeVar("T")

#: after how many seconds work is long, and between two drawings of a line
AFTER, EVERY = 0.5, 0.1
#: bytes of a transfer between two looks at the clock: at first, and where many go in `EVERY` seconds
PIECE, LARGEST = 1 << 19, 1 << 24
#: ANSI: clear the rest of the line
_CLEAR = "\x1b[K"

_lock = threading.RLock()
#: the line that can be seen, and where
_shown: tuple[Line, TextIO] | None = None
#: the transfer that others of this thread are parts of
_thread = threading.local()


def terminal() -> TextIO | None:
    """Where lines are drawn, if anywhere."""
    stream = sys.stderr
    if stream is None or os.environ.get("GRADD_PROGRESS") == "0" or os.environ.get("TERM") == "dumb":
        return None
    with suppress(ValueError):  # it is closed
        return stream if stream.isatty() else None
    return None


def say(text: str, to: TextIO | None = None) -> None:
    """Write a line that stays, to stderr unless said otherwise, terminal or not."""
    with _lock:
        _erase()
        print(text, file=sys.stderr if to is None else to, flush=True)


class Line:
    """What a piece of work says from `after` seconds on, since it `began` (of `time.monotonic`). The last one
    that was drawn is seen, whichever thread drew it. As a context manager it ends with the block.
    """

    def __init__(self, after: float | None = None, began: float | None = None) -> None:
        self.began = time.monotonic() if began is None else began
        self._next = self.began + (AFTER if after is None else after)

    def tick(self, text: Callable[[float], str]) -> None:
        """The work goes on: show `text` of the seconds that it took so far, where it is time for that."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            stream = terminal()
            if stream is not None:
                _draw(self, text(now - self.began), stream)

    def end(self) -> None:
        """The work is over: nothing is seen of it."""
        with _lock:
            if _shown is not None and _shown[0] is self:
                _erase()

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


class Transfer(Line):
    """Bytes that are moved: `what` says how ("uploading"), `total` how many in all. Within another one's
    block it is a part of that one, which counts it by `add` when it is whole.
    """

    def __init__(self, what: str, total: int) -> None:
        super().__init__()
        self._what, self.total = what, total
        self._done = self._part = 0
        self._whole: Transfer | None = None

    def add(self, nbytes: int) -> None:
        """So many more were moved."""
        self._done += nbytes
        self._part = 0
        if self._whole is None:
            self.tick(self._text)
        else:
            self._whole._part = self._done
            self._whole.tick(self._whole._text)

    def pieces(self, body: memoryview | bytes) -> Generator[memoryview, None, None]:
        """The body in pieces, each of which was moved when the next is asked for."""
        with memoryview(body) as whole:
            start, step = 0, PIECE
            while start < len(whole):
                began = time.monotonic()
                with whole[start : start + step] as piece:
                    yield piece
                    start += len(piece)
                    self.add(len(piece))
                step = min(2 * step, LARGEST) if time.monotonic() - began < EVERY else PIECE

    def _text(self, seconds: float) -> str:
        done = self._done + self._part
        share = f" ({done / self.total:.0%})" if self.total else ""
        return f"{self._what} {size(done)} of {size(self.total)}{share}, {size(done / seconds)}/s"

    def __enter__(self) -> Transfer:
        self._whole = getattr(_thread, "whole", None)
        if self._whole is None:
            _thread.whole = self
        return self

    def __exit__(self, *_: object) -> None:
        if self._whole is None:
            _thread.whole = None
        self.end()


def counted(work: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The same items. Meanwhile a line says how many, of `total` if that is known, are done; what is printed
    goes by `say`.
    """
    done = 0

    def text(seconds: float) -> str:
        of = f" of {total} ({done / total:.0%})" if total else ""
        return f"{what}: {done}{of}, {seconds:.0f} s"

    with Line() as line:
        for item in work:
            yield item
            done += 1
            line.tick(text)


def size(nbytes: float) -> str:
    """A number of bytes, as people say it."""
    amount, unit = float(nbytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def _draw(line: Line, text: str, stream: TextIO) -> None:
    global _shown
    columns = 80
    with suppress(OSError, ValueError):
        columns = os.get_terminal_size(stream.fileno()).columns or columns
    plain = "".join(c if c.isprintable() else "?" for c in f"gradd: {text}")
    with _lock:
        _shown = line, stream
        _write(stream, f"\r{plain[: columns - 1]}{_CLEAR}")


def _erase() -> None:
    global _shown
    if _shown is not None:
        (_, stream), _shown = _shown, None
        _write(stream, f"\r{_CLEAR}")


def _write(stream: TextIO, text: str) -> None:
    with suppress(OSError, ValueError):  # the terminal is gone, or does not take it
        stream.write(text)
        stream.flush()


def _in_child() -> None:
    global _lock, _shown
    _lock, _shown = threading.RLock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
