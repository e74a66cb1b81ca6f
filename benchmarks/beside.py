"""Rows of real models: gradd and torch run one script, whose losses are compared before it is measured.

A question gives a `Make`: of a library and a source of chance it makes a function that trains for one step
and returns that step's losses, unread. Weights and data are NumPy's, so both sides begin alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np

from .bench import Bench, Row
from .where import where

#: how many steps are compared: from the third on gradd replays a plan
COMPARED = 6
#: of a loss: what the order of sums in float32 may change in so many steps
TOLERANCE = 1e-3

Step = Callable[[], tuple[Any, ...]]


class Chance:
    """Random numbers as a script has them: the library draws them."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib

    def randn(self, *shape: int) -> Any:
        """Normal numbers of this shape."""
        return self.lib.randn(*shape)

    def randint(self, high: int, shape: tuple[int, ...]) -> Any:
        """Integers from 0 up to `high`."""
        return self.lib.randint(high, shape)

    def sample(self, categorical: Any) -> Any:
        """One draw of each of the distribution's batch."""
        return categorical.sample()

    def dropout(self, share: float) -> float:
        """The share that a layer drops."""
        return share


class Drawn(Chance):
    """NumPy draws, the same for both libraries, whose own numbers differ; and nothing is dropped."""

    def __init__(self, lib: Any) -> None:
        super().__init__(lib)
        self._rng = np.random.default_rng(1)

    def randn(self, *shape: int) -> Any:
        return self.lib.from_numpy(self._rng.standard_normal(shape, dtype=np.float32))

    def randint(self, high: int, shape: tuple[int, ...]) -> Any:
        return self.lib.from_numpy(self._rng.integers(0, high, shape))

    def sample(self, categorical: Any) -> Any:
        probs = categorical.probs
        drawn = self._rng.random(tuple(probs.shape[:-1]), dtype=np.float32)
        below = probs.cumsum(-1)[..., :-1] < self.lib.from_numpy(drawn)[..., None]
        return below.sum(-1)

    def dropout(self, share: float) -> float:
        return 0.0


Make = Callable[[Any, Chance], Step]


def started(lib: Any, model: Any, seed: int = 0) -> Any:
    """The model with NumPy's weights: matrices normal by their inputs, biases 0, scales as they are."""
    rng = np.random.default_rng(seed)
    with lib.no_grad():
        for name, p in model.named_parameters():
            shape = tuple(p.shape)
            if len(shape) > 1:
                spread = np.prod(shape[1:]) ** -0.5
                p.copy_(lib.from_numpy((spread * rng.standard_normal(shape)).astype(np.float32)))
            elif "bias" in name:
                p.zero_()
    return model


def codes(count: int, symbols: int) -> Any:
    """A text as numbers below `symbols`, each near the one before it, so that there is something to learn."""
    rng = np.random.default_rng(2)
    return rng.integers(0, 5, count).cumsum() % symbols


def losses(lib: Any, make: Make, steps: int = COMPARED) -> list[float]:
    """What the first steps come to with NumPy's chance, read at each step."""
    step = make(lib, Drawn(lib))
    return [loss.item() for _ in range(steps) for loss in step()]


def compare(bench: Bench, work: str, make: Make) -> None:
    """Exits where gradd's losses are not torch's, or where torch is absent, not finite."""
    steps = bench.pick(COMPARED, COMPARED, 3)
    with gradd.connect(bench.url):
        mine = losses(gradd, make, steps)
    theirs = mine if bench.torch is None else losses(bench.torch, make, steps)
    if not np.allclose(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE / 10):
        raise SystemExit(f"{work}: the losses of gradd are {mine}, those of torch {theirs}")


def script(lib: Any, make: Make, steps: int, every: int) -> Callable[[], None]:
    """`steps` steps, the losses read at every `every`th."""
    lib.manual_seed(0)
    step = make(lib, Chance(lib))

    def run() -> None:
        for n in range(steps):
            found = step()
            if (n + 1) % every == 0:
                for loss in found:
                    loss.item()

    return run


def row(
    bench: Bench, work: str, make: Make, bar: float, *, steps: int = 10, every: int = 10, rounds: int = 9
) -> Row:
    """The row of one model: gradd's time over torch's, of rounds of `steps` steps each."""
    compare(bench, work, make)
    every = bench.pick(every, every, min(every, 2))
    steps = bench.pick(steps, max(every, steps // 2), every)
    with gradd.connect(bench.url):
        mine = script(gradd, make, steps, every)
        peer = None if bench.torch is None else script(bench.torch, make, steps, every)
        found = bench.interleave(mine, peer, steps, bench.pick(rounds, 5), warm=1).ratio(work, bar)
    if bench.effort != "quick":
        calls = bench.pick(max(1, 16 // every), 1)
        found.where = where(lambda: script(gradd, make, every, every), every, calls)
    return found
