"""Signs of life between the front and an engine process: two pipes beside the socket of envelopes.

The engine process beats: a thread of its own writes an octet at intervals, whatever the one that runs
sessions does. Into the other pipe, the lifeline, nothing is ever written. The front holds its end, and when
the front is gone, however that came, the kernel ends the engine process: no thread of it need run for that.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time


def beat(pipe: int, seconds: float) -> None:
    """Beat every so many seconds from here on; ends the process where nobody reads any more."""
    threading.Thread(target=_beat, args=(pipe, seconds), name="gradd-pulse", daemon=True).start()


def _beat(pipe: int, seconds: float) -> None:
    try:
        while True:
            os.write(pipe, b".")
            time.sleep(seconds)
    except OSError:
        os._exit(1)


def hang_on(lifeline: int) -> None:
    """Die when the other end of the pipe is closed, also in a kernel that holds the interpreter's lock."""
    os.set_blocking(lifeline, False)
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends the process; not on macOS, where `beat` does
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    try:
        os.read(lifeline, 1)
    except BlockingIOError:
        return
    os._exit(1)  # it was closed before


def beats(pipe: int) -> bool:
    """Whether there was a beat since the last look. `pipe` does not block."""
    try:
        return bool(os.read(pipe, 1 << 16))
    except BlockingIOError:
        return False


def cpu_seconds(pid: int) -> float | None:
    """The time that a process has computed; None where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
