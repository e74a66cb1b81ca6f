"""Whether an engine process is alive: it sends heartbeats, or uses the CPU.

A kernel that holds the GIL stops the heartbeats, but uses the CPU. A process that is stopped or deadlocked
does neither. Looks are counted, not seconds, so that no process is blamed after the daemon itself was
suspended.
"""

from __future__ import annotations

import os

from gradd_runtime.process import beats, cpu_seconds

LOOKS = 5
"""Looks without a sign of life after which a process counts as dead."""

_SHARE = 0.01
"""Share of CPU time between two looks; a process that uses less is only waiting, e.g. polling a lock."""


class SilentLooks:
    """How many looks in a row found no sign of life."""

    def __init__(self) -> None:
        self._missed = 0

    def _looked(self, alive: bool) -> None:
        self._missed = 0 if alive else self._missed + 1

    @property
    def doubtful(self) -> bool:
        """Whether it missed more looks than a busy machine explains."""
        return self._missed > LOOKS // 2

    @property
    def over(self) -> bool:
        """Whether it counts as dead."""
        return self._missed >= LOOKS


class Watch(SilentLooks):
    """Watches the process `pid`, whose heartbeats come over `pipe` (closed with this object), every
    `seconds`.
    """

    def __init__(self, pid: int, pipe: int, seconds: float) -> None:
        super().__init__()
        os.set_blocking(pipe, False)
        self._pid = pid
        self._pipe = pipe
        self._least = _SHARE * seconds
        self._computed = cpu_seconds(pid)

    def look(self) -> None:
        """Look once."""
        computed, before = cpu_seconds(self._pid), self._computed
        self._computed = computed
        computes = computed is not None and before is not None and computed - before >= self._least
        self._looked(beats(self._pipe) or computes)

    def close(self) -> None:
        """Stop watching."""
        os.close(self._pipe)
