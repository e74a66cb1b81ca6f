"""`gradd demo`: a training in the session that GRADD_URL names, in a process of its own. Needs no data."""

from __future__ import annotations

import sys
import time

import gradd as torch

#: steps, and steps between two lines; the share of points that is to be told right
STEPS, EACH, WANTED = 200, 40, 0.97


def points(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points on two spirals, and which of the two each is on."""
    along = torch.rand(count) ** 0.5 * 2.5 * torch.pi
    which = torch.randint(0, 2, (count,))
    angle = along + which * torch.pi
    place = torch.stack([along * angle.cos(), along * angle.sin()], 1) / 4
    return place + 0.02 * torch.randn(count, 2), which


def main() -> int:
    """Train, and print how it goes; 1 where too few points are told right."""
    session = torch.connect()
    print(f"a session in {session.url} learns which of two spirals a point is on", flush=True)
    torch.manual_seed(0)
    (places, labels), (others, theirs) = points(1024), points(1024)
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 2),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    began = time.perf_counter()
    print(f"{'step':>6} {'loss':>8} {'right':>7}")
    right = 0.0
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        loss = loss_of(model(places), labels)
        loss.backward()
        optimizer.step()
        if step % EACH == 0:
            with torch.no_grad():
                right = (model(others).argmax(1) == theirs).to(torch.float32).mean().item()
            print(f"{step:>6} {loss.item():>8.4f} {right:>7.1%}", flush=True)
    seconds = time.perf_counter() - began
    print(f"{right:.1%} of points that it had not seen, after {STEPS} steps in {seconds:.1f} s")
    return 0 if right >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
