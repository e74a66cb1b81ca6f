"""One thread that answers the pings of all idle WebSockets of this process."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

#: seconds between two looks; a daemon waits longer for pongs
KEEP = 5.0


class Kept(Protocol):
    """What is looked after."""

    def keep(self) -> bool:
        """Answer pings, if nobody else reads; False where the connection has ended."""


class Keeper:
    """Looks after what it is given, every `KEEP` seconds, on a thread that ends when nothing is left."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: weakref.WeakSet[Kept] = weakref.WeakSet()
        self._thread: threading.Thread | None = None
        self._rest = threading.Event()  # never set

    def add(self, kept: Kept) -> None:
        """Look after it from now on."""
        with self._lock:
            self._kept.add(kept)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="gradd-stream", daemon=True)
                self._thread.start()

    def remove(self, kept: Kept) -> None:
        """Look after it no longer."""
        with self._lock:
            self._kept.discard(kept)

    def _run(self) -> None:
        while True:
            self._rest.wait(KEEP)
            with self._lock:
                each = list(self._kept)
                if not each:
                    self._thread = None
                    return
            for kept in each:
                if not kept.keep():
                    self.remove(kept)
            del each


_keeper = Keeper()


def keeper() -> Keeper:
    """The process's."""
    return _keeper


def _in_child() -> None:
    global _keeper
    _keeper = Keeper()  # the sockets are the parent's


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
