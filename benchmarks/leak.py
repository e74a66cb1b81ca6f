"""Does anything grow over 10,000 training steps? Exits 1 where a process's memory does by over 2 %."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

import gradd

from .daemon import family, serving

STEPS = 10_000
FLAT = 1.02


def resident(pid: int) -> int:
    """Resident memory of a process in bytes (Linux)."""
    found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return 1024 * int(found[1])


def train(steps: int) -> None:
    """Steps as users write them: slices, a loss read now and then, an evaluation, gradients looked at."""
    nn = gradd.nn
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
    optimizer = gradd.optim.Adam(model.parameters(), lr=1e-3)
    x, y = gradd.randn(1000, 32), gradd.randint(0, 10, (1000,))
    for n in range(steps):
        start = 16 * (n % 62)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[start : start + 16]), y[start : start + 16])
        loss.backward()
        optimizer.step()
        if n % 7 == 0:
            loss.item()
        if n % 50 == 0:
            model[0].weight.grad.numpy()
            with gradd.no_grad():
                model.eval()
                (model(x).argmax(1) == y).float().mean().item()
                model.train()


def main() -> None:
    """Train in four quarters; what each process holds after the first is what it may hold after the last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    steps = parser.parse_args().steps
    with serving() as (url, pid), gradd.connect(url) as session:
        names = {os.getpid(): "client", pid: "front"}
        held: list[dict[int, int]] = []
        for _ in range(4):
            train(steps // 4)
            session.flush()
            held.append({one: resident(one) for one in (os.getpid(), *family(pid))})
    grown = False
    for one, after in held[-1].items():
        ratio = after / held[0][one]
        grown = grown or ratio > FLAT
        sizes = ", ".join(f"{at[one] / 1e6:.1f}" for at in held)
        print(f"{names.get(one, 'worker'):<8} {sizes} MB after each quarter: {ratio:.3f} of the first")
    sys.exit(f"memory grew over {steps} steps" if grown else None)


if __name__ == "__main__":
    main()
