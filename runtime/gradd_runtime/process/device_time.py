"""How long a device is at what it is told: known when it is done, which is later than the turn is over."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

BEHIND = 2
"""Turns that a device may be behind where tenants share it: turns are soon over, and who comes waits for all
that the device was told before.
"""


class DeviceTimes:
    """The turns that a device is not done with, in order. Nothing to measure where calls return when they are
    done: a turn takes as long as it takes.
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._spare: list[Any] = []
        self._open: deque[tuple[Any, Callable[[float], None]]] = deque()

    def begin(self) -> Any:
        """A turn begins: what measures it, None where nothing does."""
        watch = self._spare.pop() if self._spare else self._backend.stopwatch()
        if watch is not None:
            watch.start()
        return watch

    def end(self, watch: Any, told: Callable[[float], None]) -> None:
        """It is over; `told` gets the seconds that it took, once the device is done."""
        watch.stop()
        self._open.append((watch, told))

    def read(self) -> None:
        """Tell of those that the device is done with. Waits for nothing."""
        while self._open:
            seconds = self._open[0][0].seconds()
            if seconds is None:
                return
            watch, told = self._open.popleft()
            self._spare.append(watch)
            told(seconds)

    def catch_up(self) -> None:
        """Let the device come within `BEHIND` turns."""
        self.read()
        if len(self._open) >= BEHIND:
            self._open[-BEHIND][0].wait()
            self.read()
