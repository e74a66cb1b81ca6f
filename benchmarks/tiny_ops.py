"""100 tiny ops forward and backward, fetched every 10: what do they cost beside torch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd

from .bench import Bench, Row, main, not_built
from .where import where

OPS = 100


def forward_backward(lib: Any, rounds: int) -> Callable[[], None]:
    """`rounds` times 100 ops on 4 floats and back, the gradient read at every tenth."""
    x = lib.ones(4, requires_grad=True)

    def run() -> None:
        for n in range(rounds):
            y = x
            for _ in range(OPS // 4):
                y = ((y * 0.5 + x) * 0.9).tanh()
            x.grad = None
            y.sum().backward()
            if n % 10 == 9:
                x.grad.numpy()

    return run


def question(bench: Bench) -> list[Row]:
    """Recorded each time; the bar is that of @gradd.function."""
    name = "100 tiny ops forward and backward, fetched every 10"
    with gradd.connect(bench.url):
        mine = forward_backward(gradd, 10)
        peer = None if bench.torch is None else forward_backward(bench.torch, 10)
        row = bench.interleave(mine, peer, 10).ratio(f"{name}, recorded")
    if bench.effort != "quick":
        row.where = where(lambda: forward_backward(gradd, 10), 10, bench.pick(20, 1))
    return [row, not_built(f"{name}, under @gradd.function", "@gradd.function", 0.40)]


if __name__ == "__main__":
    main(question)
