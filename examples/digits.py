"""Train a classifier of handwritten digits: a PyTorch script, but for the name that it imports.

GRADD_URL says which daemon computes; without it the session is in this process. With `import torch` in place
of gradd it runs under PyTorch. The data is scikit-learn's: 1,797 images of 8 x 8 pixels from 0 to 16.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import gradd as torch
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED, EPOCHS, BATCH, WANTED = 7, 30, 32, 0.97


def data() -> list[torch.Tensor]:
    """Images and labels to train with (1,437) and to test with (360), every digit in its proportion."""
    images, labels = load_digits(return_X_y=True)
    split = train_test_split(
        (images / 16).astype(np.float32), labels, test_size=360, stratify=labels, random_state=SEED
    )
    train_images, test_images, train_labels, test_labels = map(torch.from_numpy, split)
    return [train_images, train_labels, test_images, test_labels]


def make_model(weights: dict[str, np.ndarray[Any, Any]] | None = None) -> torch.nn.Module:
    """The classifier, with random weights or those given by name."""
    torch.manual_seed(SEED)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 10),
    )
    if weights is not None:
        model.load_state_dict({name: torch.tensor(values) for name, values in weights.items()})
    return model


def train(
    model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor, epochs: int = EPOCHS
) -> Iterator[float]:
    """Train, yielding the loss of each step as it is done. The order of the batches is always the same."""
    loss_of = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    shuffled = np.random.default_rng(SEED)
    for _ in range(epochs):
        order = torch.from_numpy(shuffled.permutation(len(images)))
        for batch in order.split(BATCH):
            optimizer.zero_grad()
            loss = loss_of(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            yield loss.item()


def count_correct(model: torch.nn.Module, images: torch.Tensor, labels: torch.Tensor) -> int:
    """How many of the images the model names rightly."""
    with torch.no_grad():
        return int((model(images).argmax(dim=1) == labels).sum().item())


class RoundTrips:
    """Messages whose reply the script waited for, by this side's count and by the daemon's own."""

    def __init__(self) -> None:
        self.here = self.there = self.steps = 0
        # PyTorch has no sessions, and no round trips.
        self._session = torch.current_session() if hasattr(torch, "current_session") else None

    def start(self) -> None:
        """Count from here on."""
        if self._session is not None:
            self.there -= self._session.info().round_trips
            self.here -= self._session.stats()["round_trips"]

    def stop(self, steps: int) -> None:
        """Count to here, in so many steps."""
        self.steps += steps
        if self._session is not None:
            self.here += self._session.stats()["round_trips"]
            self.there += self._session.info().round_trips - 1  # asking for it is one itself

    def __str__(self) -> str:
        each = self.here / self.steps
        return f"{each:.4g} round trip{'s' * (each != 1)} a step"


def show_progress(done: int, of: int) -> None:
    """A bar that the next line of the table writes over; only for someone who watches."""
    if sys.stdout.isatty():
        bar = "#" * (30 * done // of)
        print(f"\r[{bar:<30}] {done} of {of}", end="\r" if done == of else "", flush=True)


def main() -> int:
    """Train, show how it goes, test; 1 where the accuracy is below what is wanted."""
    images, labels, test_images, test_labels = data()
    model, trips = make_model(), RoundTrips()
    epoch_steps = -(-len(images) // BATCH)
    losses: list[float] = []
    correct, began = 0, time.perf_counter()
    print(f"{'epoch':>5} {'loss':>8} {'accuracy':>9} {'seconds':>8}")
    for step, loss in enumerate(train(model, images, labels), 1):
        losses.append(loss)
        epoch, done = divmod(step, epoch_steps)
        show_progress(done or epoch_steps, epoch_steps)
        if step == 2:  # the first two steps also tell the daemon the programs
            trips.start()
        if done == 0:
            trips.stop(epoch_steps if epoch > 1 else epoch_steps - 2)
            correct = count_correct(model, test_images, test_labels)
            if epoch < EPOCHS:
                trips.start()
            mean, accuracy = np.mean(losses[-epoch_steps:]), correct / len(test_images)
            print(f"{epoch:>5} {mean:>8.4f} {accuracy:>9.4f} {time.perf_counter() - began:>8.2f}")
    if trips.here != trips.there:
        print(f"round trips: {trips.here} counted here, {trips.there} by the daemon", file=sys.stderr)
        return 1
    accuracy = correct / len(test_images)
    print(f"test accuracy {accuracy:.4f} ({correct} of {len(test_images)}), {trips}")
    return 0 if accuracy >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
