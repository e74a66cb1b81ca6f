"""Whether an engine process lives: it beats, or it computes.

A kernel may hold the interpreter's lock for long, and then nothing beats; but it computes. A process that was
stopped, or waits for what never comes, does neither. Looks are counted, not seconds: a daemon that was
suspended itself, with its processes, blames none of them.
"""

from __future__ import annotations

import os

from gradd_runtime.process import beats, cpu_seconds

LOOKS = 5
"""Looks without a sign of life after which a process is given up."""

_SHARE = 0.01
"""Of the time between two looks: who computes for less only waits, as for a lock, again and again."""


class Watch:
    """Looks at the process `pid`, whose beats come over `pipe` (closed with this object), every `seconds`."""

    def __init__(self, pid: int, pipe: int, seconds: float) -> None:
        os.set_blocking(pipe, False)
        self._pid = pid
        self._pipe = pipe
        self._least = _SHARE * seconds
        self._computed = cpu_seconds(pid)
        self._missed = 0

    def look(self) -> None:
        """Look once."""
        computed, before = cpu_seconds(self._pid), self._computed
        self._computed = computed
        computes = computed is not None and before is not None and computed - before >= self._least
        self._missed = 0 if beats(self._pipe) or computes else self._missed + 1

    @property
    def doubtful(self) -> bool:
        """It missed more than what a busy machine explains."""
        return self._missed > LOOKS // 2

    @property
    def over(self) -> bool:
        """It is to be given up."""
        return self._missed >= LOOKS

    def close(self) -> None:
        """Look no more."""
        os.close(self._pipe)
