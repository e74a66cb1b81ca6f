"""1,000 sessions in one event loop against one daemon: what a step of all of them takes, and how many threads
and bytes. Exits 1 where a value is wrong, or sessions take threads to wait.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import threading
import time
from typing import NamedTuple

import gradd

from .daemon import serving
from .leak import resident

COUNT, STEPS = 1000, 5


class Together(NamedTuple):
    """What became of the sessions of a loop."""

    count: int
    #: sessions that have not computed what they should
    wrong: int
    threads_before: int
    #: the most while all were computing
    threads: int
    connecting_seconds: float
    #: for a step of every session, its loss awaited
    step_seconds: float
    #: of this process, by its sessions
    bytes: int


async def together(url: str, count: int) -> Together:
    """Open so many sessions; each then trains a number of its own, all at once."""
    threads_before, memory = threading.active_count(), resident(os.getpid())
    everybody = asyncio.Barrier(count)
    times: list[float] = []
    threads: list[int] = []

    async def one(k: int) -> bool:
        async with gradd.aconnect(url) as session:
            w = gradd.full((4,), float(k), requires_grad=True)
            await session.aflush()
            await everybody.wait()
            times.append(time.perf_counter())
            for _ in range(STEPS):
                loss = (w * w).sum()
                loss.backward()
                with gradd.no_grad():
                    w -= 0.25 * w.grad
                w.grad = None
                await loss.aitem()
            found = await w.detach().atolist()
            times.append(time.perf_counter())
            threads.append(threading.active_count())
            sizes.append(resident(os.getpid()))
            await everybody.wait()
            return bool(found == [k / 2**STEPS] * 4)

    began = time.perf_counter()
    sizes: list[int] = []
    right = await asyncio.gather(*(one(k) for k in range(count)))
    return Together(
        count,
        right.count(False),
        threads_before,
        max(threads),
        min(times) - began,
        (max(times) - min(times)) / STEPS,
        max(sizes) - memory,
    )


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    given = parser.parse_args()
    with serving(f"--tenant-sessions={2 * given.count}") as (url, _):
        found = asyncio.run(together(url, given.count))
    each = found.bytes / found.count / 1024
    print(
        f"{found.count:,} sessions in one loop: connected within {found.connecting_seconds:.1f} s, "
        f"a step of all in {found.step_seconds:.2f} s; "
        f"{found.threads} threads, {found.threads_before} before; {each:.0f} KiB each"
    )
    if found.wrong or found.threads > found.threads_before + 1:
        raise SystemExit(f"{found.wrong} sessions computed something else, or some waited on threads")


if __name__ == "__main__":
    main()
