"""An engine process that is begun before the front has imported what it needs itself. Each takes a second
of a core, and a daemon is ready when both have. So nothing but the standard library is imported here.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Numeric libraries read these once, when loaded."""

HEAP = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 31)}
"""Makes glibc keep freed arrays instead of unmapping them, which would take most of an eager chain's time."""


def threads_of(threads: int, workers: int) -> int:
    """Compute threads of an engine process; 0 shares the cores out among `workers`."""
    return threads or max(1, len(os.sched_getaffinity(0)) // workers)


def begin(threads: int, arguments: Sequence[str], descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    """An engine process that inherits those descriptors. It is not a fork, which would copy the front's
    locks and device.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-X", "faulthandler", "-m", "gradd_runtime.process.worker", *arguments],
        stdin=subprocess.DEVNULL,
        pass_fds=descriptors,
        start_new_session=True,  # Ctrl-C in a terminal is for the front
        env={**HEAP, **os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))},
    )


class Early:
    """A process that waits to be told what it is: `hand` does, or `close` ends it."""

    def __init__(self, threads: int) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._child: subprocess.Popen[bytes] | None = begin(
                threads, [str(theirs.fileno())], [theirs.fileno()]
            )

    def hand(self, arguments: Sequence[str], descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
        """Let it be what another process is with those arguments, of which some are the `descriptors`. It is
        the caller's from here on. Raises OSError where it has ended.
        """
        child, self._child = self._child, None
        assert child is not None
        text = json.dumps({"arguments": arguments, "descriptors": descriptors}).encode() + b"\n"
        try:
            with self._ours:
                left = text[socket.send_fds(self._ours, [text], descriptors) :]
                if left:  # one that has heard all may have closed its end, where nothing can be sent
                    self._ours.sendall(left)
        except OSError:
            child.kill()
            child.wait()
            raise
        return child

    def close(self) -> None:
        """End it, unless it was handed over."""
        if self._child is not None:
            with self._ours, suppress(OSError):
                self._child.kill()
            self._child.wait()
            self._child = None


def started(
    early: Early | None, threads: int, arguments: Sequence[str], descriptors: Sequence[int]
) -> subprocess.Popen[bytes]:
    """An engine process: the early one, or where there is none, or it has ended, one that begins now."""
    if early is not None:
        with suppress(OSError):
            return early.hand(arguments, descriptors)
    return begin(threads, arguments, descriptors)
