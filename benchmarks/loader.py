"""What does a training step cost whose batches come from a DataLoader's worker, beside the same with data on
the server? And beside the same while a worker makes as many that are not sent, which is what the way to the
server costs: on two cores the worker takes time of the engine's. Exits with 1 if a bar is not met.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
from gradd.utils.data import DataLoader, Dataset, TensorDataset

from .bench import Bench, Row, main
from .training import Task, cross_entropy, sgd

BAR = 1.05
SHAPE, BATCH = (3, 32, 32), 64


class Pictures(Dataset[Any]):
    """Images as a worker makes them: each a copy of a stored one, of which every other is mirrored."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(0)
        self.count = count
        self.images = rng.standard_normal((16 * BATCH, *SHAPE), dtype=np.float32)
        self.labels = rng.integers(0, 10, len(self.images))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        i %= len(self.images)
        image = self.images[i]
        return (image[:, :, ::-1] if i % 2 else image).copy(), self.labels[i]


def flat(lib: Any) -> Any:
    """3072-256-10, ReLU, on flattened images."""
    nn = lib.nn
    return nn.Sequential(nn.Flatten(), nn.Linear(3072, 256), nn.ReLU(), nn.Linear(256, 10))


def conv(lib: Any) -> Any:
    """Two convolutions and a linear layer."""
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, 10),
    )  # fmt: skip


def script(task: Task, batches: Callable[[int], Any], steps: int, every: int) -> Callable[[], None]:
    """`steps` steps on what `batches` gives for their numbers, the loss read at every `every`th."""
    gradd.manual_seed(0)
    model = task.model(gradd)
    optimizer = task.optimizer(gradd, model.parameters())

    def run() -> None:
        for n in range(steps):
            x, y = batches(n)
            optimizer.zero_grad()
            loss = task.loss(gradd, model(x), y)
            loss.backward()
            optimizer.step()
            if (n + 1) % every == 0:
                loss.item()

    return run


def arrays(samples: Any) -> Any:
    """A batch as NumPy has it: it stays in the script's process."""
    images, labels = zip(*samples, strict=True)
    return np.stack(images), np.array(labels)


def _row(bench: Bench, name: str, model: Callable[[Any], Any], steps: int, every: int, made: bool) -> Row:
    """`made`: the peer's worker makes batches as well."""
    task = Task(model, SHAPE, BATCH, sgd, cross_entropy)
    steps, rounds = bench.pick(steps, max(10, steps // 2), every), bench.pick(15, 7)
    with gradd.connect(bench.url):
        pictures = Pictures((rounds + 3) * steps * BATCH)
        loaded = iter(DataLoader(pictures, batch_size=BATCH, num_workers=1))
        unsent = iter(DataLoader(pictures, batch_size=BATCH, num_workers=1, collate_fn=arrays))
        x, y = gradd.from_numpy(pictures.images), gradd.from_numpy(pictures.labels)

        def there(n: int) -> Any:
            if made:
                next(unsent)
            rows = slice(n % 16 * BATCH, (n % 16 + 1) * BATCH)
            return x[rows], y[rows]

        mine = script(task, lambda n: next(loaded), steps, every)
        peer = script(task, there, steps, every)
        found = bench.interleave(mine, peer, steps, rounds)
    beside = "data on the server" + ", batches made and not sent" * made
    return found.ratio(f"{name}, batch 64x3x32x32 of a DataLoader, beside {beside}, loss every {every}", BAR)


def _rows_there(bench: Bench, name: str, model: Callable[[Any], Any], steps: int, every: int) -> Row:
    """A loader of tensors that are on the server, which takes rows there."""
    task = Task(model, SHAPE, BATCH, sgd, cross_entropy)
    steps, rounds = bench.pick(steps, max(10, steps // 2), every), bench.pick(15, 7)
    with gradd.connect(bench.url):
        pictures = Pictures(0)
        x, y = gradd.from_numpy(pictures.images), gradd.from_numpy(pictures.labels)
        loader = DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=True)
        loaded = itertools.chain.from_iterable(itertools.repeat(loader))

        order = gradd.randperm(len(x))

        def there(n: int) -> Any:
            rows = order[n % 16 * BATCH : (n % 16 + 1) * BATCH]
            return x[rows], y[rows]

        mine = script(task, lambda n: next(loaded), steps, every)
        peer = script(task, there, steps, every)
        found = bench.interleave(mine, peer, steps, rounds)
    work = f"{name}, shuffled batch 64x3x32x32 of a TensorDataset, beside rows by a permutation"
    return found.ratio(f"{work}, loss every {every}", BAR)


def question(bench: Bench) -> list[Row]:
    """One worker; the loss read at every step and at every tenth. Then data that are on the server."""
    models = (("MLP 3072-256-10", flat, 40), ("conv 16, conv 32", conv, 20))
    there = [_rows_there(bench, *model, every) for model in models for every in (1, 10)]
    return there + [
        _row(bench, name, model, steps, every, made)
        for name, model, steps in models
        for every in (1, 10)
        for made in (False, True)
    ]


if __name__ == "__main__":
    main(question, strict=True)
