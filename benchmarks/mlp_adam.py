"""MLP 784-512-256-10, batch 64, Adam: what does a training step cost beside torch's?"""

from __future__ import annotations

from .bench import Bench, Row, main
from .models import mlp
from .step import row
from .training import Task, adam, cross_entropy

TASK = Task(mlp, (784,), 64, adam, cross_entropy)
NAME = "MLP 784-512-256-10, batch 64, Adam"


def question(bench: Bench) -> list[Row]:
    """Loss every step and every 10."""
    return [
        row(bench, f"{NAME}, loss every step", TASK, 0.70, steps=40, every=1),
        row(bench, f"{NAME}, loss every 10", TASK, 0.58, steps=40),
    ]


if __name__ == "__main__":
    main(question)
