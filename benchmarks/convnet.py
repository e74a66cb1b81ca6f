"""A convnet on 28x28 images with SGD: what does a training step cost beside torch's?"""

from __future__ import annotations

from .bench import Bench, Row, main
from .models import convnet
from .step import row
from .training import Task, cross_entropy, sgd

TASK = Task(convnet, (1, 28, 28), 32, sgd, cross_entropy)


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    work = "convnet 1x28x28, conv 32, conv 64, pool, fc 128, fc 10, batch 32, SGD, loss every 10"
    return [row(bench, work, TASK, 1.0, steps=10)]


if __name__ == "__main__":
    main(question)
