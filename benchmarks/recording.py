"""How much of the client's CPU does recording take?"""

from __future__ import annotations

import time

import gradd

from .bench import Bench, Row, main, spread
from .mlp_sgd import TASK
from .training import script


def question(bench: Bench) -> list[Row]:
    """CPU per op of a chain while it is recorded, and per step of a repeated MLP step, sending included."""
    ops, steps = bench.pick(1000, 1000, 10), bench.pick(50, 50, 10)
    per_op, per_step = [], []
    with gradd.connect(bench.url) as session:
        a = gradd.ones(4)
        for n in range(bench.pick(21, 7) + 2):
            x = a
            began = time.thread_time()
            for _ in range(ops):
                x = x * 0.5
            if n > 1:
                per_op.append(1e6 * (time.thread_time() - began) / ops)
            x.numpy()
        run = script(gradd, TASK, steps, 10, False, False)
        for n in range(bench.pick(11, 5) + 2):
            session.flush()
            began = time.process_time()
            run()
            session.flush()
            if n > 1:
                per_step.append(1e3 * (time.process_time() - began) / steps)
    rows = []
    for work, bar, unit, values in (
        ("client CPU per recorded op", 1.6, "µs", per_op),
        ("client CPU for a repeated MLP step in all, loss every 10", 0.15, "ms", per_step),
    ):
        value, low, high = spread(values)
        rows.append(Row(work=work, value=value, low=low, high=high, unit=unit, bar=bar))
    return rows


if __name__ == "__main__":
    main(question)
