"""Random programs, planned at first sight and never planned, on all cores.

``python -m tests.runtime.fuzz 50000`` prints how many ran, how many of their batches were planned, and the
seeds where the two runs differ (exit status 1, as where a process of it died).
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from gradd_engine.backends.array import NUMPY
from gradd_runtime.process import InlinePlacement

from tests.runtime.plan.test_plans import compare, random_program

#: seeds that a process takes at a time
SHARE = 50
#: shares that it takes before another takes its place, for what it gathers of memory
SHARES = 40
Found = tuple[int, int, list[str]]


def settle() -> None:
    """What is loaded stays: no collection of garbage need look through it again."""
    NUMPY.kernels.load()
    gc.collect()
    gc.freeze()


def some(seeds: range) -> Found:
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


def main(
    programs: int, first: int = 0, jobs: int | None = None, work: Callable[[range], Found] = some
) -> int:
    """Run the seeds from `first` on in `jobs` processes; 1 where some differ, or were not run."""
    began = time.monotonic()
    jobs = jobs or os.cpu_count() or 1
    shares = [range(n, min(n + SHARE, first + programs)) for n in range(first, first + programs, SHARE)]
    spawn = multiprocessing.get_context("spawn")
    ran = planned = 0
    bad: list[str] = []
    lost = False
    for begin in range(0, len(shares), jobs * SHARES):
        group = shares[begin : begin + jobs * SHARES]
        try:
            with ProcessPoolExecutor(jobs, spawn, settle) as pool:
                for done in as_completed([pool.submit(work, share) for share in group]):
                    n, p, more = done.result()
                    ran, planned, bad = ran + n, planned + p, bad + more
                    for line in more:
                        print(line, flush=True)
                    if ran % 1000 < n:
                        print(
                            f"{ran} programs, {len(bad)} differ, {time.monotonic() - began:.0f} s", flush=True
                        )
        except BrokenProcessPool:
            print("a process died; what it ran, and what was to run beside it, is not counted", flush=True)
            lost = True
            break
    print(f"{ran} random programs, {planned} planned batches, {len(bad)} differ")
    return 1 if bad or lost else 0


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser("python -m tests.runtime.fuzz", description=__doc__)
    parser.add_argument("programs", type=int, help="how many to run")
    parser.add_argument("first", type=int, nargs="?", default=0, help="the seed of the first one (0)")
    parser.add_argument("--jobs", type=int, help="processes (one a core)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    asked = arguments()
    sys.exit(main(asked.programs, asked.first, asked.jobs))
