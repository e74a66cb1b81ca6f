"""Training steps of gradd and torch in turn: one script, run with either library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradd
import numpy as np

from .bench import Bench, Row
from .where import where


@dataclass(frozen=True)
class Task:
    """A model, its data (rows of which make the batches), its loss and its optimizer, by library."""

    model: Callable[[Any], Any]
    shape: tuple[int, ...]
    batch: int
    optimizer: Callable[[Any, Any], Any]
    loss: Callable[[Any, Any, Any], Any]
    classes: int | None = 10


def cross_entropy(lib: Any, out: Any, y: Any) -> Any:
    """The loss of a classifier."""
    return lib.nn.functional.cross_entropy(out, y)


def squares(lib: Any, out: Any, y: Any) -> Any:
    """The loss of a regression."""
    return ((out - y) ** 2).mean()


def sgd(lib: Any, parameters: Any) -> Any:
    """Plain SGD."""
    return lib.optim.SGD(parameters, lr=1e-3)


def adam(lib: Any, parameters: Any) -> Any:
    """Adam with its defaults."""
    return lib.optim.Adam(parameters, lr=1e-4)


def script(lib: Any, task: Task, steps: int, every: int, between: bool, upload: bool) -> Callable[[], None]:
    """`steps` steps of training as a user writes them, the loss read at every `every`th; `between`: before
    backward() already; `upload`: the batch comes from this process's numpy arrays."""
    rng = np.random.default_rng(0)
    many = 16 * task.batch
    inputs = rng.standard_normal((many, *task.shape), dtype=np.float32)
    targets = (
        rng.standard_normal((many, *task.shape), dtype=np.float32)
        if task.classes is None
        else rng.integers(0, task.classes, many)
    )
    lib.manual_seed(0)
    model = task.model(lib)
    optimizer = task.optimizer(lib, model.parameters())
    x_all, y_all = lib.from_numpy(inputs), lib.from_numpy(targets)

    def run() -> None:
        for n in range(steps):
            rows = slice(n % 16 * task.batch, (n % 16 + 1) * task.batch)
            x, y = (
                (lib.from_numpy(inputs[rows]), lib.from_numpy(targets[rows]))
                if upload
                else (x_all[rows], y_all[rows])
            )
            optimizer.zero_grad()
            loss = task.loss(lib, model(x), y)
            if between:
                loss.item()
            loss.backward()
            optimizer.step()
            if (n + 1) % every == 0:
                loss.item()

    return run


def row(
    bench: Bench, work: str, task: Task, bar: float, *, steps: int, every: int = 10, between: bool = False,
    upload: bool = False,
) -> Row:  # fmt: skip
    """The row of one task: gradd's time over torch's."""
    steps = bench.pick(steps, max(10, steps // 2), every)
    with gradd.connect(bench.url):
        mine = script(gradd, task, steps, every, between, upload)
        peer = None
        if bench.torch is not None:
            peer = script(bench.torch, task, steps, every, between, upload)
        found = bench.interleave(mine, peer, steps, rounds=bench.pick(15, 5)).ratio(work, bar)
    if bench.effort != "quick":
        found.where = where(
            lambda: script(gradd, task, every, every, between, upload), every, bench.pick(40 // every, 1)
        )
    return found
