"""A training task, and the one script that gradd and torch both run it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SGD_LR = 1e-3
ADAM_LR = 1e-4


@dataclass(frozen=True)
class Task:
    """A model, its data (rows of which make the batches), its loss and its optimizer, by library."""

    model: Callable[[Any], Any]
    shape: tuple[int, ...]
    batch: int
    optimizer: Callable[..., Any]
    loss: Callable[[Any, Any, Any], Any]
    classes: int | None = 10


def cross_entropy(lib: Any, out: Any, y: Any) -> Any:
    """The loss of a classifier."""
    return lib.nn.functional.cross_entropy(out, y)


def squares(lib: Any, out: Any, y: Any) -> Any:
    """The loss of a regression."""
    return ((out - y) ** 2).mean()


def sgd(lib: Any, parameters: Any, **options: Any) -> Any:
    """Plain SGD."""
    return lib.optim.SGD(parameters, lr=SGD_LR, **options)


def adam(lib: Any, parameters: Any, **options: Any) -> Any:
    """Adam with its defaults, but for the learning rate."""
    return lib.optim.Adam(parameters, lr=ADAM_LR, **options)


def data(task: Task) -> tuple[Any, Any]:
    """Inputs and targets of 16 batches, as numpy arrays."""
    rng = np.random.default_rng(0)
    many = 16 * task.batch
    inputs = rng.standard_normal((many, *task.shape), dtype=np.float32)
    targets = (
        rng.standard_normal((many, *task.shape), dtype=np.float32)
        if task.classes is None
        else rng.integers(0, task.classes, many)
    )
    return inputs, targets


def script(lib: Any, task: Task, steps: int, every: int, between: bool, upload: bool) -> Callable[[], None]:
    """`steps` steps of training as a user writes them, the loss read at every `every`th; `between`: before
    backward() already; `upload`: the batch comes from this process's numpy arrays."""
    inputs, targets = data(task)
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
