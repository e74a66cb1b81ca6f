"""Train one model in several sessions, each with its part of every batch, and compare with one session.

The gradients are averaged at the daemon, so that the model of each session is that of one session with the
whole batch. Run it as

    python examples/data_parallel.py [url] [sessions]

`gradd serve --workers 3` has three engine processes, to which sessions go in turn.
"""

from __future__ import annotations

import sys
from typing import Any

import gradd as torch
import numpy as np
from gradd import nn, parallel

STEPS, BATCH = 60, 96


def build(session: Any) -> tuple[nn.Module, torch.optim.Optimizer]:
    """The same model in every session: they have the same seed."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def learn(session: Any, model: nn.Module, optimizer: torch.optim.Optimizer, x: Any, y: Any) -> torch.Tensor:
    """Gradients of one part of a batch."""
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.tensor(x)), torch.tensor(y))
    loss.backward()
    return loss.detach()


def train(sessions: list[Any]) -> tuple[float, list[np.ndarray[Any, Any]]]:
    """The last loss, and the parameters of the first session's model; all have the same."""
    models, optimizers = zip(*parallel.map(sessions, build), strict=True)
    chance, count = np.random.default_rng(1), len(sessions)
    for _ in range(STEPS):
        x = chance.normal(size=(BATCH, 8)).astype(np.float32)
        y = np.sin(x.sum(1, keepdims=True))
        losses = parallel.map(sessions, learn, models, optimizers, np.split(x, count), np.split(y, count))
        parallel.all_reduce([[p.grad for p in model.parameters()] for model in models])
        parallel.map(sessions, lambda _, optimizer: optimizer.step(), optimizers)
    return float(np.mean([loss.item() for loss in losses])), [
        p.numpy() for p in models[0].state_dict().values()
    ]


def main(url: str | None = None, count: str = "3") -> None:
    """Train in so many sessions and in one."""
    sessions = [torch.connect(url) for _ in range(int(count) + 1)]
    loss, found = train(sessions[1:])
    alone, expected = train(sessions[:1])
    off = max(float(np.abs(p - q).max()) for p, q in zip(found, expected, strict=True))
    print(f"loss in {count} sessions: {loss:.6f}")
    print(f"loss in one session: {alone:.6f}")
    print(f"largest difference of a parameter: {off:.5f}")
    for session in sessions:
        session.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
