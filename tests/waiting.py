"""How long a test waits for what must come. It bounds a hang, never a speed: machines are slow and busy."""

from __future__ import annotations

import functools
import statistics
import subprocess
import sys
import time

#: seconds; what comes, comes much earlier. Less than the Makefile's bound of a test, which says less.
PATIENCE = 240.0


@functools.cache
def silence() -> float:
    """Seconds within which, here and now, whatever runs says something: as long as forty Pythons take to
    start, one after the other. For tests of those who stop waiting.
    """
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
        taken.append(time.perf_counter() - began)
    return max(1.0, 40 * statistics.median(taken))
