"""A training step's row: gradd, torch and the other peers in turn."""

from __future__ import annotations

import gradd

from .bench import Bench, Row
from .peers import training
from .training import Task, script
from .where import where


def row(
    bench: Bench, work: str, task: Task, bar: float, *, steps: int, every: int = 10, between: bool = False,
    upload: bool = False,
) -> Row:  # fmt: skip
    """The row of one task: gradd's time over torch's, and what the other peers took."""
    steps = bench.pick(steps, max(10, steps // 2), every)
    with gradd.connect(bench.url):
        mine = script(gradd, task, steps, every, between, upload)
        peer = None
        if bench.torch is not None:
            peer = script(bench.torch, task, steps, every, between, upload)
        gradd.manual_seed(0)
        start = [p.detach().numpy() for p in task.model(gradd).parameters()]
        others = training(bench, task, start, steps, every, between, upload)
        found = bench.interleave(mine, peer, steps, bench.pick(15, 5), others=others).ratio(work, bar)
    if bench.effort != "quick":
        found.where = where(
            lambda: script(gradd, task, every, every, between, upload), every, bench.pick(40 // every, 1)
        )
    return found
