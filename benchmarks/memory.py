"""How much more memory does a planned training step take than an eager one? In a `local:` session."""

from __future__ import annotations

import tracemalloc

import gradd
from gradd_runtime.plan import Plans

from .bench import Bench, Row, main
from .training import script
from .transformer import TASK


def peak(planned: bool, steps: int) -> float:
    """Most bytes at a time over a few steps, arrays and plans together (as tracemalloc counts)."""
    enabled, Plans.enabled = Plans.enabled, planned
    tracemalloc.start()
    try:
        with gradd.connect("local:") as session:
            run = script(gradd, TASK, steps, steps, False, False)
            run()
            session.flush()
            tracemalloc.reset_peak()
            run()
            session.flush()
            return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        Plans.enabled = enabled


def question(bench: Bench) -> list[Row]:
    """Peaks of the transformer step, plans and all."""
    steps = bench.pick(10, 4, 1)
    eager, planned = peak(False, steps), peak(True, steps)
    return [
        Row(
            work="memory at the peak of a transformer step, planned over eager", value=planned / eager,
            bar=1.5, mine=f"{planned / 1e6:.1f} MB", peer=f"eager: {eager / 1e6:.1f} MB",
        )
    ]  # fmt: skip


if __name__ == "__main__":
    main(question)
