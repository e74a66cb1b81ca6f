"""What does a tiny op cost in a chain of 1,000 with one fetch at its end?"""

from __future__ import annotations

from typing import Any

import gradd

from .bench import US, Bench, Row, main
from .peers import forward
from .where import where

OPS = 1000


def links(start: Any, length: int = OPS) -> Any:
    """A chain of multiplications and additions."""
    x = start
    for _ in range(length // 2):
        x = x * 0.5 + start
    return x


def chain(lib: Any, length: int) -> Any:
    """The chain on 4 floats, and its last value."""
    return links(lib.ones(4), length).numpy()


@gradd.function
def traced(start: Any) -> Any:
    """The chain under `gradd.function`."""
    return links(start)


def question(bench: Bench) -> list[Row]:
    """First time (a chain of another length each round), repeated, and under `gradd.function`."""
    name = f"chain of {OPS:,} tiny ops then one fetch, per op"
    torch = bench.torch
    with gradd.connect(bench.url):
        fresh = iter(range(OPS, OPS + 2 * 1000, 2))

        def first() -> None:
            chain(gradd, next(fresh))

        peer = None if torch is None else lambda: chain(torch, OPS)
        once = bench.interleave(first, peer, OPS, warm=1)
        others = forward(bench, links, 4)
        again = bench.interleave(lambda: chain(gradd, OPS), peer, OPS, warm=3, others=others)
        function = bench.interleave(lambda: traced(gradd.ones(4)).numpy(), peer, OPS, warm=4, others=others)
    rows = [
        once.time(f"{name}, first time", 13, US, "µs"),
        again.time(f"{name}, repeated", 3, US, "µs"),
        function.time(f"{name}, under @gradd.function", 0.8, US, "µs"),
    ]
    if bench.effort != "quick":
        rows[0].where = where(lambda: lambda: chain(gradd, next(fresh)), OPS, bench.pick(20, 1)).replace(
            "a step", "an op"
        )
        rows[1].where = where(lambda: lambda: chain(gradd, OPS), OPS, bench.pick(20, 5)).replace(
            "a step", "an op"
        )
        rows[2].where = where(lambda: lambda: traced(gradd.ones(4)).numpy(), OPS, bench.pick(20, 5)).replace(
            "a step", "an op"
        )
    return rows


if __name__ == "__main__":
    main(question)
