"""What random loops do at indices and masks that are uploads: they read and write there, elsewhere each step.

A graph must read the upload of its own launch, nothing may write to it but what the script says, and what the
script holds of it stays what it was.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
from gradd.nn import functional

#: rows and columns of the memory that loops write to in place
ROWS, WIDTH = 6, 4
#: what becomes of the uploads themselves: the script holds them, writes to them before and after their use,
#: uses only a part of each, or sends the same in some steps
BECOMES = ("uploads held", "uploads written", "uploads windowed", "uploads the same")


class Drawn:
    """Uploads of one step; the same ones if the step is run again."""

    def __init__(self, seed: int, n: int, ways: set[str]) -> None:
        self._rng = np.random.default_rng([seed, n // 3 if "uploads the same" in ways else n])
        self._ways = ways
        #: all that were uploaded
        self.made: list[Any] = []

    def some(self, many: int, high: int, low: int = 0) -> Any:
        """Indices from `low`, maybe negative, up to `high`; some may be there twice."""
        return self._sent(self._rng.integers(low, high, many))

    def apart(self, many: int, high: int, low: int = 0) -> Any:
        """Indices of which no two are one place: where all are written, no order counts."""
        found = self._rng.permutation(high)[:many]
        return self._sent(np.where(self._rng.random(many) < 0.5, found - high, found) if low < 0 else found)

    def grid(self, *shape: int, high: int) -> Any:
        """Indices along the first dimension, of which no two of a column are one place."""
        return self._sent(np.stack([self._rng.permutation(high)[: shape[0]] for _ in range(shape[1])], 1))

    def mask(self, *shape: int) -> Any:
        """Which elements."""
        made = gradd.tensor(self._rng.random(shape) < 0.4)
        self.made.append(made)
        return made

    def values(self, *shape: int) -> Any:
        """Numbers to write there."""
        return gradd.tensor(self._rng.normal(size=shape).astype(np.float32))

    def _sent(self, numbers: Any) -> Any:
        if "uploads windowed" in self._ways:
            numbers = np.concatenate([np.full_like(numbers[:1], 99), numbers])
        made = gradd.tensor(numbers)
        if "uploads written" in self._ways:
            made.add_(1).sub_(1)
        self.made.append(made)
        return made[1:] if "uploads windowed" in self._ways else made


def _set(x: Any, at: Any, values: Any) -> Any:
    x = x.clone()
    x[at] = values
    return x


def _rows(x: Any, d: Drawn) -> Any:
    """Indices of all rows of `x`, some twice."""
    return d.some(len(x), len(x))


def _expanded(x: Any, d: Drawn) -> Any:
    """The last element of a column that is written stays."""
    row = x.detach()[0].clone()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Use of .* on expanded tensors is deprecated")
        row.expand(2, WIDTH).index_put_((d.some(3, 2, -2), d.apart(3, WIDTH, -1)), gradd.tensor(0.5))
    return x + 0.1 * row


#: by name: other rows of the width of `x`, (n, WIDTH), by what `Drawn` uploads
INDEXED: dict[str, Callable[[Any, Drawn], Any]] = {
    "index_fill": lambda x, d: x.index_fill(1, d.some(2, WIDTH, -WIDTH), 0.5),
    "index_fill of a tensor": lambda x, d: x.index_fill(0, d.some(2, len(x), -len(x)), d.values(1)[0]),
    "index_select": lambda x, d: x.index_select(0, _rows(x, d)),
    "index_select of columns": lambda x, d: x.index_select(1, d.some(WIDTH, WIDTH)),
    "index_add": lambda x, d: x.index_add(0, _rows(x, d), x, alpha=0.3),
    "index_copy": lambda x, d: x.index_copy(0, d.apart(2, len(x)), d.values(2, WIDTH)),
    "gather": lambda x, d: x.gather(0, d.grid(len(x), WIDTH, high=len(x))),
    "take_along_dim": lambda x, d: gradd.take_along_dim(x, d.grid(len(x), WIDTH, high=len(x)), 0),
    "scatter": lambda x, d: x.scatter(0, d.grid(2, WIDTH, high=len(x)), 0.25),
    "scatter of a tensor": lambda x, d: x.scatter(0, d.grid(2, WIDTH, high=len(x)), d.values(2, WIDTH)),
    "scatter_add": lambda x, d: x.scatter_add(0, d.grid(2, WIDTH, high=len(x)), x[:2]),
    "scatter_reduce": lambda x, d: x.scatter_reduce(0, d.grid(2, WIDTH, high=len(x)), x[:2], "mean"),
    "take": lambda x, d: x + 0.1 * x.take(d.some(WIDTH, x.numel(), -x.numel())),
    "put": lambda x, d: x.put(d.apart(3, x.numel(), -1), d.values(3)),
    "put, added": lambda x, d: x.put(d.some(3, x.numel(), -x.numel()), d.values(3), accumulate=True),
    "embedding": lambda x, d: x + 0.1 * functional.embedding(_rows(x, d), x),
    "embedding_bag": lambda x, d: x + 0.1 * functional.embedding_bag(_rows(x, d)[:, None], x, mode="sum"),
    "x[at]": lambda x, d: x[d.some(len(x), len(x), -len(x))],
    "x[:, at]": lambda x, d: x[:, d.some(WIDTH, WIDTH, -WIDTH)],
    "x[at, at]": lambda x, d: x + 0.1 * x[d.some(WIDTH, len(x), -len(x)), d.some(WIDTH, WIDTH, -WIDTH)],
    "x[at] = a number": lambda x, d: _set(x, d.some(2, len(x), -len(x)), 0.5),
    "x[at] = v": lambda x, d: _set(x, d.apart(2, len(x), -1), d.values(2, WIDTH)),
    "x[:, at] = v": lambda x, d: _set(x, (slice(None), d.apart(2, WIDTH, -1)), d.values(2)),
    "index_put": lambda x, d: x.index_put((d.apart(2, len(x), -1), d.some(2, WIDTH, -WIDTH)), d.values(2)),
    "index_put, added": lambda x, d: x.index_put((_rows(x, d),), 0.2 * x, accumulate=True),
    "expanded": _expanded,
    "masked_fill": lambda x, d: x.masked_fill(d.mask(len(x), WIDTH), 0.5),
    "where": lambda x, d: gradd.where(d.mask(len(x), 1), x, 0.5 * x),
    "x[mask] = a number": lambda x, d: _set(x, d.mask(len(x), WIDTH), 0.5),
    "nll_loss": lambda x, d: x + 0.1 * functional.nll_loss(x, d.some(len(x), WIDTH)),
    "cross_entropy": lambda x, d: x + 0.1 * functional.cross_entropy(x, d.some(len(x), WIDTH)),
}
#: the same in place, to memory that the session keeps, (ROWS, WIDTH)
WRITES: dict[str, Callable[[Any, Drawn], Any]] = {
    "index_fill_": lambda b, d: b.index_fill_(0, d.some(2, ROWS, -ROWS), 0.5),
    "index_add_": lambda b, d: b.index_add_(1, d.some(2, WIDTH), d.values(ROWS, 2)),
    "index_copy_": lambda b, d: b.index_copy_(0, d.apart(2, ROWS), d.values(2, WIDTH)),
    "scatter_": lambda b, d: b.scatter_(0, d.grid(2, WIDTH, high=ROWS), d.values(2, WIDTH)),
    "scatter_add_": lambda b, d: b.scatter_add_(0, d.grid(3, WIDTH, high=ROWS), d.values(3, WIDTH)),
    "put_": lambda b, d: b.put_(d.apart(3, ROWS * WIDTH, -1), d.values(3)),
    "index_put_": lambda b, d: b.index_put_((d.some(3, ROWS, -ROWS),), d.values(WIDTH), accumulate=True),
    "b[at] = v": lambda b, d: b.__setitem__(d.apart(2, ROWS, -1), d.values(2, WIDTH)),
    "b[at, 1:] = a number": lambda b, d: b.__setitem__((d.some(2, ROWS, -ROWS), slice(1, None)), 0.25),
    "masked_fill_": lambda b, d: b.masked_fill_(d.mask(ROWS, WIDTH), d.values(1)[0]),
    "masked_scatter_": lambda b, d: b.masked_scatter_(d.mask(ROWS, WIDTH), d.values(ROWS, WIDTH)),
}


def index_ways(seed: int) -> set[str]:
    """Those of a loop: half of the loops have some."""
    rng = random.Random(f"indices {seed}")
    if rng.random() < 0.5:
        return set()
    ways = {way for way in (*INDEXED, *WRITES) if rng.random() < 0.12}
    return ways | {way for way in BECOMES if rng.random() < 0.4}


class Indexing:
    """What a loop does at uploads."""

    def __init__(self, seed: int, ways: set[str]) -> None:
        self._seed, self._ways = seed, ways
        self.board = gradd.zeros(ROWS, WIDTH)
        #: uploads that the script holds
        self.held: list[Any] = []
        self._last: list[Any] = []

    def step(self, n: int, x: Any) -> Any:
        """`x` after what a step does."""
        drawn = Drawn(self._seed, n, self._ways)
        for name, change in INDEXED.items():
            if name in self._ways:
                x = change(x, drawn)
        for name, write in WRITES.items():
            if name in self._ways:
                write(self.board, drawn)
                x = x + 0.1 * self.board[: len(x)]
        if "uploads held" in self._ways:
            self.held += drawn.made
        self._last = drawn.made
        return x

    def after(self) -> None:
        """What it does once a step has its gradients, which need indices as they were."""
        for made in self._last[::2] if "uploads written" in self._ways else ():
            made.logical_not_() if made.dtype is gradd.bool else made.mul_(3)
