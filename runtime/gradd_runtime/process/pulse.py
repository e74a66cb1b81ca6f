"""Heartbeats between the front and an engine process: two pipes beside the socket of envelopes.

A thread of the engine process writes a byte to one pipe at intervals, whatever the thread that runs sessions
does. Nothing is ever written to the other, the lifeline. When the front, which holds its other end, is gone,
the kernel ends the engine process, even if none of its threads can run.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time

_PAGE = os.sysconf("SC_PAGE_SIZE")


def beat(pipe: int, seconds: float) -> None:
    """Beat every `seconds` from now on; ends the process when nobody reads any more."""
    threading.Thread(target=_beat, args=(pipe, seconds), name="gradd-pulse", daemon=True).start()


def _beat(pipe: int, seconds: float) -> None:
    try:
        while True:
            os.write(pipe, b".")
            time.sleep(seconds)
    except OSError:
        os._exit(1)


def hang_on(lifeline: int) -> None:
    """Die when the other end of the pipe is closed, even in a kernel that holds the GIL."""
    os.set_blocking(lifeline, False)
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # ends the process, except on macOS, where `beat` does
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    try:
        os.read(lifeline, 1)
    except BlockingIOError:
        return
    os._exit(1)  # already closed


def beats(pipe: int) -> bool:
    """Whether there was a beat since the last call. `pipe` is non-blocking."""
    try:
        return bool(os.read(pipe, 1 << 16))
    except BlockingIOError:
        return False


def resident(pid: int) -> int:
    """Bytes of a process that are in RAM; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return 0


def cpu_seconds(pid: int) -> float | None:
    """A process's CPU time in seconds; None if the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
