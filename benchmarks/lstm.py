"""A language model of one LSTM layer, with clipped gradients and SGD: what does a training step cost beside
torch's?
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np

from .bench import Bench, Row, main
from .models import language_model
from .where import where

SYMBOLS, LENGTH, BATCH = 64, 35, 20
WORK = "LSTM language model, embedding 64, hidden 128, 35 steps, batch 20, clipped, SGD, loss every 10"


def script(lib: Any, steps: int, every: int) -> Callable[[], None]:
    """`steps` steps over 16 pieces of text, the loss read at every `every`th."""
    pieces = np.random.default_rng(0).integers(0, SYMBOLS, (16, BATCH, LENGTH + 1))
    texts = [(lib.from_numpy(p[:, :-1].copy()), lib.from_numpy(p[:, 1:].reshape(-1))) for p in pieces]
    lib.manual_seed(0)
    model = language_model(lib, SYMBOLS)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1)
    functional, clip = lib.nn.functional, lib.nn.utils.clip_grad_norm_

    def run() -> None:
        for n in range(steps):
            text, target = texts[n % len(texts)]
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(text).reshape(-1, SYMBOLS), target)
            loss.backward()
            clip(model.parameters(), 1.0)
            optimizer.step()
            if (n + 1) % every == 0:
                loss.item()

    return run


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    steps = bench.pick(10, 10, 2)
    every = min(steps, 10)
    with gradd.connect(bench.url):
        peer = None if bench.torch is None else script(bench.torch, steps, every)
        mine = script(gradd, steps, every)
        found = bench.interleave(mine, peer, steps, bench.pick(15, 5)).ratio(WORK, 1.5)
    if bench.effort != "quick":
        found.where = where(lambda: script(gradd, every, every), every, bench.pick(4, 1))
    return [found]


if __name__ == "__main__":
    main(question)
