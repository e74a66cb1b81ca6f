"""A normalising flow of affine couplings: the density of two moons, and points drawn by its inverse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from beside import main, started, tensor

LAYERS, HIDDEN, BATCH = 4, 24, 64


def moons(count: int, seed: int) -> Any:
    """Points on two half circles that reach into each other."""
    chance = np.random.default_rng(seed)
    angle, upper = chance.uniform(0, np.pi, count), chance.random(count) < 0.5
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.stack([x, y], 1) + chance.normal(0, 0.07, (count, 2))


def real_nvp(torch: Any) -> Any:
    """Couplings that scale and move one coordinate by what the other says."""
    nn = torch.nn

    class Coupling(nn.Module):
        def __init__(self, kept: int) -> None:
            super().__init__()
            self.kept = kept
            self.net = nn.Sequential(nn.Linear(1, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 2))
            self.register_buffer("order", torch.tensor([kept, 1 - kept]).argsort())

        def change(self, known: Any) -> tuple[Any, Any]:
            scale, shift = self.net(known).chunk(2, dim=1)
            return torch.tanh(scale), shift

        def forward(self, x: Any) -> tuple[Any, Any]:
            known, other = x[:, [self.kept]], x[:, [1 - self.kept]]
            scale, shift = self.change(known)
            changed = other * scale.exp() + shift
            return torch.cat([known, changed], 1)[:, self.order], scale.sum(1)

        def inverse(self, z: Any) -> Any:
            known, changed = z[:, [self.kept]], z[:, [1 - self.kept]]
            scale, shift = self.change(known)
            return torch.cat([known, (changed - shift) * (-scale).exp()], 1)[:, self.order]

    class Flow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(Coupling(i % 2) for i in range(LAYERS))

        def log_prob(self, x: Any) -> Any:
            total = 0.0
            for layer in self.layers:
                x, stretched = layer(x)
                total = total + stretched
            return total - 0.5 * x.pow(2).sum(1) - math.log(2 * math.pi)

        def inverse(self, z: Any) -> Any:
            for layer in reversed(self.layers):
                z = layer.inverse(z)
            return z

    return started(torch, Flow())


def run(torch: Any, steps: int = 8) -> list[float]:
    """The negative log-likelihood at each of `steps` steps, and the mean of points that are then drawn."""
    flow = real_nvp(torch)
    optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
    curve = []
    for step in range(steps):
        loss = -flow.log_prob(tensor(torch, moons(BATCH, seed=step))).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss.detach())
    with torch.no_grad():
        drawn = flow.inverse(tensor(torch, np.random.default_rng(9).normal(size=(BATCH, 2))))
    return [*torch.stack(curve).tolist(), *drawn.mean(0).tolist()]


if __name__ == "__main__":
    main(run, steps=400)
