"""What does it cost that an engine process is on another node? `python -m benchmarks.cluster`

In turn within one run: engine processes on this machine (`workers`), on a node of a Ray cluster that is on
this machine, too, so that the way is that of another machine without its network, and the same by a front
that passes connections on to the one that leads. Exits 1 where a bar is missed.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gradd
from gradd import nn, optim
from gradd_server.keys import KeyFile

from tests.faults.nodes import SHARE, RayNodes

from .daemon import serving

ROUNDS = 40


def _sum() -> Callable[[], Any]:
    a, b = gradd.ones(4), gradd.ones(4)
    return lambda: (a + b).numpy()


def _step(every: int) -> Callable[[], Any]:
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    x, y = gradd.randn(64, 784), gradd.randint(0, 10, (64,))
    count = 0

    def step() -> None:
        nonlocal count
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        count += 1
        if count % every == 0:
            loss.item()

    return step


def _asked(url: str, make: Callable[[], Callable[[], Any]]) -> tuple[gradd.Session, Callable[[], Any]]:
    """A session there, and what is asked of it: tensors know whose they are."""
    session = gradd.connect(url)
    return session, make()


#: what is asked, how often in a round, and the most that the cluster may take of the time of `workers`
QUESTIONS: dict[str, tuple[Callable[[], Callable[[], Any]], int, float]] = {
    "a + b on 4 floats, fetched": (_sum, 50, 1.5),
    "MLP 784-512-256-10, batch 64, SGD, loss every step": (lambda: _step(1), 20, 1.05),
    "the same, loss every 10 steps": (lambda: _step(10), 20, 1.05),
}


def main() -> int:
    """Print the medians of all, and the ratios."""
    missed = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gradd-bench-")))
        nodes = stack.enter_context(RayNodes(1, folder / "ray.log"))
        flags = ["--placement=ray", f"--ray-address={nodes.address}", f"--ray-share={SHARE}"]
        where = [[f"--data-dir={folder / 'alone'}"], *2 * [[*flags, f"--data-dir={folder / 'fronts'}"]]]
        urls = [stack.enter_context(serving(*flags))[0] for flags in where]
        for name, (make, times, bar) in QUESTIONS.items():
            taken: list[list[float]] = [[] for _ in urls]
            asked = []
            for url, data in zip(urls, ("alone", "fronts", "fronts"), strict=True):
                os.environ["GRADD_API_KEY"] = KeyFile(folder / data).create()[0]
                asked.append(_asked(url, make))
            for turn in range(ROUNDS):
                for which in (0, 1, 2) if turn % 2 else (2, 1, 0):
                    session, ask = asked[which]
                    began = time.perf_counter()
                    for _ in range(times):
                        ask()
                    session.flush()
                    taken[which].append((time.perf_counter() - began) / times)
            for session, _ in asked:
                session.close()
            here, there, by = (1e6 * statistics.median(each) for each in taken)
            ratio, passed_on = (
                statistics.median(b / a for a, b in zip(taken[0], each, strict=True)) for each in taken[1:]
            )
            figures = f"workers {here:.0f} µs, cluster {there:.0f} µs, {ratio:.2f} (at most {bar:.2f})"
            print(f"{name}: {figures}; by the other front {by:.0f} µs, {passed_on:.2f}", flush=True)
            missed += ratio > bar
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
