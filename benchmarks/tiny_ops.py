"""100 tiny ops forward and backward, fetched every 10: what do they cost beside torch's?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gradd

from .bench import Bench, Row, main
from .peers import backward
from .where import where

OPS = 100


def links(x: Any, tanh: Callable[[Any], Any]) -> Any:
    """The ops on `x`."""
    y = x
    for _ in range(OPS // 4):
        y = tanh((y * 0.5 + x) * 0.9)
    return y


def forward_backward(lib: Any, rounds: int, function: bool = False) -> Callable[[], None]:
    """`rounds` times 100 ops on 4 floats and back, the gradient read at every tenth."""
    x = lib.ones(4, requires_grad=True)

    def step() -> None:
        y = links(x, type(x).tanh)
        x.grad = None
        y.sum().backward()

    once = lib.function(step) if function else step

    def run() -> None:
        for n in range(rounds):
            once()
            if n % 10 == 9:
                x.grad.numpy()

    return run


def question(bench: Bench) -> list[Row]:
    """Recorded each time, and under `gradd.function`."""
    name = "100 tiny ops forward and backward, fetched every 10"
    rows = []
    for how, function, bar in (("recorded", False, 1.0), ("under @gradd.function", True, 0.42)):
        with gradd.connect(bench.url):
            mine = forward_backward(gradd, 10, function)
            peer = None if bench.torch is None else forward_backward(bench.torch, 10)
            others = backward(bench, links, 4, 10, 10)
            row = bench.interleave(mine, peer, 10, others=others).ratio(f"{name}, {how}", bar)
        if bench.effort != "quick":
            row.where = where(partial(forward_backward, gradd, 10, function), 10, bench.pick(20, 1))
        rows.append(row)
    return rows


if __name__ == "__main__":
    main(question)
