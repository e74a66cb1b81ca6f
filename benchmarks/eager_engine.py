"""The engine alone, in process, no plan: 100 tiny ops forward and backward beside torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd_engine.assembly  # noqa: F401 - declares every op
import numpy as np
from gradd_engine.ops.shared.constants import tensor

from .bench import Bench, Row, main
from .where import functions

OPS = 100


def forward_backward(x: Any, count: int) -> Callable[[], None]:
    """`count` times 100 ops on 4 floats and back."""

    def run() -> None:
        for _ in range(count):
            y = x
            for _ in range(OPS // 4):
                y = ((y * 0.5 + x) * 0.9).tanh()
            x.grad = None
            y.sum().backward()

    return run


def question(bench: Bench) -> list[Row]:
    """The engine's time over torch's."""
    ones = np.ones(4, np.float32)
    count = bench.pick(20, 10)
    mine = forward_backward(tensor(ones, requires_grad=True), count)
    peer = None
    if bench.torch is not None:
        peer = forward_backward(bench.torch.ones(4, requires_grad=True), count)
    found = bench.interleave(mine, peer, count)
    row = found.ratio("eager engine in-process, first run: 100 tiny ops forward + backward", 1.5)
    if bench.effort != "quick":
        row.where = functions(mine, count)
    return [row]


if __name__ == "__main__":
    main(question)
