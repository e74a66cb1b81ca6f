"""Random programs, planned at first sight and never planned, on all cores.

``python -m tests.runtime.fuzz 50000`` prints how many ran, how many of their batches were planned, and the
seeds where the two runs differ (exit status 1).
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
import traceback
from typing import Any

from gradd_engine.backends.numpy import NUMPY
from gradd_runtime.placement import InlinePlacement

from tests.runtime.test_plans import compare, random_program

#: seeds that a process takes at a time
SHARE = 50


def settle() -> None:
    """What is loaded stays: no collection of garbage need look through it again."""
    NUMPY.kernels.load()
    gc.collect()
    gc.freeze()


def some(seeds: range) -> tuple[int, int, list[str]]:
    """Run the programs of these seeds: how many, planned batches, what differed."""
    frames: dict[str, list[bytes]] = {}
    real = InlinePlacement._run

    def run(self: InlinePlacement, name: str, frame: Any) -> bytes:
        frames.setdefault(name, []).append(bytes(frame))
        return real(self, name, frame)

    InlinePlacement._run = run  # type: ignore[method-assign]
    planned, bad = 0, []
    try:
        for seed in seeds:
            try:
                name, _ = random_program(seed, "fuzz")
                planned += compare(frames.pop(name))["planned"]
            except Exception:
                bad.append(f"seed {seed}: {traceback.format_exc(limit=-2)[-600:]}")
            frames.clear()
    finally:
        InlinePlacement._run = real  # type: ignore[method-assign]
    return len(seeds), planned, bad


def main(programs: int, first: int = 0) -> int:
    """Run the seeds from `first` on; 1 where some differ."""
    began = time.monotonic()
    shares = [range(n, min(n + SHARE, first + programs)) for n in range(first, first + programs, SHARE)]
    ran = planned = 0
    bad: list[str] = []
    with multiprocessing.get_context("spawn").Pool(os.cpu_count(), settle, maxtasksperchild=40) as pool:
        for n, p, more in pool.imap_unordered(some, shares):
            ran, planned, bad = ran + n, planned + p, bad + more
            for line in more:
                print(line, flush=True)
            if ran % 1000 < n:
                print(f"{ran} programs, {len(bad)} differ, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{ran} random programs, {planned} planned batches, {len(bad)} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
