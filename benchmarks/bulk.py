"""How fast do 256 MB go up and come back, beside raw TCP, and how much memory does it take?"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np

from .bench import Bench, Row, Timing, main
from .daemon import Memory
from .rawtcp import Peer

SIZE = 256_000_000
MB = 1e6


def _rate(found: Timing, work: str, bar: float, nbytes: int) -> Row:
    """The row of my bytes a second over the peer's."""
    inverse = Timing(found.peer, found.mine, found.cpu)
    row = inverse.ratio(work, bar)
    row.at_least = True
    gbps = [sorted(nbytes / s / 1e9 for s in side)[len(side) // 2] for side in (found.mine, found.peer)]
    row.mine, row.peer = f"{gbps[0]:.2f} GB/s", f"raw TCP {gbps[1]:.2f} GB/s"
    return row


def _memory(bench: Bench, work: str, call: Callable[[], Any], client: int, daemon: int) -> Row:
    """The row of what a call takes beyond the bytes' own place on each side; the worse side counts."""
    sides = Memory(os.getpid()), Memory(bench.pid)
    held = call()
    extra = [(side.rise() - own) / MB for side, own in zip(sides, (client, daemon), strict=True)]
    del held
    name = f"{work}, extra memory a side"
    if bench.pid is None:
        return Row(work=name, bar=16, unit="MB", note="both sides are one process here")
    return Row(
        work=name,
        value=max(extra),
        unit="MB",
        bar=16,
        mine=f"client {max(0, extra[0]):.0f}, daemon {max(0, extra[1]):.0f} MB",
    )


def question(bench: Bench) -> list[Row]:
    """Upload with `from_numpy`, download with `numpy()`."""
    nbytes = bench.pick(SIZE, SIZE // 4, 1 << 20) // 4 * 4
    name = f"{nbytes // 1_000_000} MB"
    array = np.ones(nbytes // 4, np.float32)
    rounds = bench.pick(5, 3)
    with gradd.connect(bench.url) as session, Peer() as peer:

        def upload() -> gradd.Tensor:
            t = gradd.from_numpy(array)
            session.flush()
            return t

        def drop() -> None:
            gradd.zeros(1).numpy()  # what died is freed with the next batch

        up = bench.interleave(upload, lambda: peer.give(array), 1, rounds, warm=1)
        drop()
        # The sum looks at every page, for pages that nobody has touched are not counted.
        up_memory = _memory(bench, f"upload {name}", lambda: upload().sum().item(), 0, nbytes)
        drop()
        base = upload()
        # As many tensors as will be read: what was read once is not asked for again.
        there = [base + 0.0 for _ in range(rounds + 2)]
        session.flush()

        def download() -> Any:
            return there.pop().numpy()

        down = bench.interleave(download, lambda: peer.take(nbytes), 1, rounds, warm=1)
        drop()
        down_memory = _memory(bench, f"download {name}", download, nbytes, 0)
    return [
        _rate(up, f"upload {name}, of raw TCP", 0.6, nbytes),
        up_memory,
        _rate(down, f"download {name}, of raw TCP", 0.9, nbytes),
        down_memory,
    ]


if __name__ == "__main__":
    main(question)
