"""How long does the smallest question to the daemon take? Beside it, 64 bytes to a TCP echo and back."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import gradd

from .bench import US, Bench, Row, main
from .rawtcp import Peer
from .where import where


def _sum() -> Callable[[], Any]:
    a, b = gradd.ones(4), gradd.ones(4)
    return lambda: (a + b).numpy()


def question(bench: Bench) -> list[Row]:
    """`a + b` on 4 floats that are there, fetched; p50."""
    with gradd.connect(bench.url), Peer() as peer:
        found = bench.interleave(
            _sum(), peer.echo, 1, rounds=bench.pick(2000, 500), warm=50
        )  # fmt: skip
    row = found.time("a+b on 4 floats already there, value fetched, p50", 240, US, "µs")
    row.peer = f"raw TCP {US * statistics.median(found.peer):.0f} µs"
    if bench.effort != "quick":
        row.where = where(_sum, 1, bench.pick(1000, 1))
    return [row]


if __name__ == "__main__":
    main(question)
