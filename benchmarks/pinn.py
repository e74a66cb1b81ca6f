"""A physics-informed network by second derivatives: what does a training step cost beside torch's?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .bench import Bench, Row, main
from .beside import Chance, Step, row, started

WIDTH, INSIDE, EDGE = 32, 512, 64
VISCOSITY = 0.01 / math.pi


def network(lib: Any) -> Any:
    """u(x, t) by four hidden layers."""
    nn = lib.nn
    layers = [nn.Linear(2, WIDTH), nn.Tanh()]
    for _ in range(3):
        layers += [nn.Linear(WIDTH, WIDTH), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, 1))


def make(lib: Any, chance: Chance) -> Step:
    """Burgers' equation at points inside, values at those of the edge; Adam."""
    model = started(lib, network(lib))
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
    rng = np.random.default_rng(3)

    def column(array: Any) -> Any:
        return lib.from_numpy(array.astype(np.float32)).reshape(-1, 1)

    x = column(rng.uniform(-1, 1, INSIDE)).requires_grad_(True)
    t = column(rng.uniform(0, 1, INSIDE)).requires_grad_(True)
    start = np.linspace(-1, 1, EDGE)
    at_start = lib.cat([column(start), lib.zeros(EDGE, 1)], dim=1)
    wanted = column(-np.sin(np.pi * start))
    at_sides = lib.cat([column(np.sign(start)), column(rng.uniform(0, 1, EDGE))], dim=1)

    def derivative(of: Any, by: Any) -> Any:
        return lib.autograd.grad(of, by, lib.ones_like(of), create_graph=True)[0]

    def step() -> tuple[Any, ...]:
        optimizer.zero_grad()
        u = model(lib.cat([x, t], dim=1))
        u_x, u_t = derivative(u, x), derivative(u, t)
        u_xx = derivative(u_x, x)
        inside = ((u_t + u * u_x - VISCOSITY * u_xx) ** 2).mean()
        edge = ((model(at_start) - wanted) ** 2).mean() + (model(at_sides) ** 2).mean()
        loss = inside + edge
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    work = f"PINN 2-{WIDTH}x4-1 with tanh, {INSIDE} points, second derivatives, Adam, loss every 10"
    return [row(bench, work, make, 1.0, steps=20)]


if __name__ == "__main__":
    main(question)
