"""Does anything grow over 10,000 training steps, or as sessions come and go? Exits 1 where it does."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

import gradd
import numpy as np

from .daemon import family, serving

STEPS = 10_000
FLAT = 1.02
#: sessions that come and go, and what each uploads
SESSIONS, UPLOAD = 16, 64 << 20


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


def come_and_go(url: str, pid: int) -> float:
    """Upload to session after session and delete each; what the daemon's processes hold behind the last, in
    uploads, beside what they held behind the second.
    """
    octets = np.ones(UPLOAD, np.uint8)
    held = []
    for n in range(SESSIONS):
        with gradd.connect(url, session=f"leak{n}"):
            x = gradd.tensor(octets)
            assert x[-1].item() == 1
        gradd.delete_session(f"leak{n}", url)
        held.append(sum(resident(one) for one in family(pid)))
    return (held[-1] - held[1]) / UPLOAD


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
        left = come_and_go(url, pid)
        print(f"{left:.2f} uploads of {SESSIONS - 2} deleted sessions are still there")
    grown = left > 1
    for one, after in held[-1].items():
        ratio = after / held[0][one]
        grown = grown or ratio > FLAT
        sizes = ", ".join(f"{at[one] / 1e6:.1f}" for at in held)
        print(f"{names.get(one, 'worker'):<8} {sizes} MB after each quarter: {ratio:.3f} of the first")
    sys.exit("memory grew" if grown else None)


if __name__ == "__main__":
    main()
