"""Which front leads: who made the file with the highest number, of which there can be one only.

The files are on storage that all fronts see, see `Folder` and `Bucket` for what it has to do. A number
is never given twice, so sessions that are opened under it are told from those of all leads before.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import msgspec
from gradd_runtime.store import Files

LOOK_SECONDS = 1.0
"""Between two looks at whether another front took the lead."""
KEPT = 1000
"""Files of earlier leads that stay: who was stopped since one of them finds that it leads no more."""


class FrontAddress(msgspec.Struct, frozen=True):
    """A front, as the file of its lead tells of it."""

    url: str
    """Where others reach it."""
    machine: str
    """What it runs on, see `this_machine`."""


class Leads:
    """The leads in `files`, which have nothing else. Every method may raise OSError."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def latest(self) -> tuple[int, FrontAddress | None]:
        """The number of the latest lead, 0 before the first, and whose it is; None where nobody says, for who
        took it died at that.
        """
        number = max(self._numbers(), default=0)
        while self.is_over(number):  # a list may be old
            number += 1
        try:
            return number, msgspec.json.decode(self._files.read(str(number)), type=FrontAddress)
        except (FileNotFoundError, msgspec.MsgspecError):
            return number, None

    def take(self, after: int, front: FrontAddress) -> bool:
        """Let `front` have the lead after that one; False where another has it."""
        if not self._files.create(str(after + 1), msgspec.json.encode(front)):
            return False
        old = [number for number in self._numbers() if number <= after - KEPT]
        self._files.remove(name for number in old for name in (str(number), _mark(number)))
        return True

    def is_over(self, number: int) -> bool:
        """Whether a front took the lead after that one."""
        return self._files.exists(str(number + 1))

    def serve(self, number: int) -> None:
        """Who has that lead answers from now on."""
        self._files.write(_mark(number), b"")

    def serves(self, number: int) -> bool:
        """Whether it began to answer."""
        return self._files.exists(_mark(number))

    def _numbers(self) -> list[int]:
        return [int(name) for name in self._files.sizes() if name.isdecimal()]


def _mark(number: int) -> str:
    return f"{number}.serves"


class Lead:
    """The lead of that number, which this front has. As a context it is watched: `on_lost` is called, on a
    thread of its own, once another front has taken the next.
    """

    def __init__(self, leads: Leads, number: int) -> None:
        self.number = number
        self.lost = False
        self.on_lost: Callable[[], None] = lambda: None
        self._leads = leads
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="gradd-lead", daemon=True)

    def serve(self) -> None:
        """Tell the other fronts that this one answers."""
        with contextlib.suppress(OSError):  # they wait longer for it then
            self._leads.serve(self.number)

    def is_over(self) -> bool:
        """Whether another front has taken the next, as of now. May raise OSError."""
        return self._leads.is_over(self.number)

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            with contextlib.suppress(OSError):  # the storage is away: nobody else gets the lead either
                if self.is_over():
                    self.lost = True
                    self.on_lost()
                    return

    def __enter__(self) -> Lead:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()


def this_machine() -> str:
    """What no other machine or container says, nor this one after it was started again."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text().strip() if boot.exists() else ''}".strip()
