"""Two transformer blocks with Adam: what does a training step cost beside torch's?"""

from __future__ import annotations

from .bench import Bench, Row, main
from .models import transformer
from .step import row
from .training import Task, adam, squares

TASK = Task(transformer, (64, 128), 8, adam, squares, classes=None)


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    work = "two transformer blocks, d=128, 4 heads, seq 64, batch 8, Adam, loss every 10"
    return [row(bench, work, TASK, 0.57, steps=10)]


if __name__ == "__main__":
    main(question)
