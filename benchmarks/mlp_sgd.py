"""MLP 784-512-256-10, batch 64, SGD: what does a training step cost beside torch's?"""

from __future__ import annotations

from .bench import Bench, Row, main
from .models import mlp
from .step import row
from .training import Task, cross_entropy, sgd

TASK = Task(mlp, (784,), 64, sgd, cross_entropy)
NAME = "MLP 784-512-256-10, batch 64, SGD"


def question(bench: Bench) -> list[Row]:
    """Loss every step, every 10, between forward and backward, and with the batch uploaded."""
    return [
        row(bench, f"{NAME}, loss every step", TASK, 0.95, steps=40, every=1),
        row(bench, f"{NAME}, loss every 10", TASK, 0.78, steps=40),
        row(bench, f"{NAME}, item() between forward and backward", TASK, 1.05, steps=40, between=True),
        row(bench, f"{NAME}, batch uploaded each step, loss every 10", TASK, 0.92, steps=40, upload=True),
    ]


if __name__ == "__main__":
    main(question)
