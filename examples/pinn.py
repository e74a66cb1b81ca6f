"""A physics-informed network: solve u'' = -sin(x), u(0) = u(pi) = 0 by penalising what the equation is off.

u_xx comes of differentiating twice with respect to x, and is differentiated again with respect to the
weights. Run it as

    python examples/pinn.py [url]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

POINTS, HIDDEN, STEPS = 32, 16, 300


def second_derivative(torch: Any, u: Any, x: Any) -> Any:
    """d2u/dx2 at each point; each value of `u` depends on its own `x` alone."""
    (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
    return curvature


def run(torch: Any) -> dict[str, float]:
    """Train; the loss, and the largest distance from the solution, sin(x)."""
    chance = np.random.default_rng(4)

    def tensor(array: Any) -> Any:
        return torch.tensor(array, dtype=torch.float64)

    net = torch.nn.Sequential(torch.nn.Linear(1, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1))
    net = net.to(torch.float64)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(tensor(chance.normal(0, 0.7, tuple(parameter.shape))))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    x = tensor(np.linspace(0, math.pi, POINTS)[:, None]).requires_grad_()
    ends = tensor([[0.0], [math.pi]])
    for _ in range(STEPS):
        optimizer.zero_grad()
        residual = second_derivative(torch, net(x), x) + torch.sin(x)
        loss = (residual**2).mean() + (net(ends) ** 2).sum()
        loss.backward()
        optimizer.step()
    error = (net(x) - torch.sin(x)).detach().abs().max()
    return {"loss": loss.item(), "largest error": error.item()}


if __name__ == "__main__":
    import gradd

    with gradd.connect(*sys.argv[1:2]):
        for name, figure in run(gradd).items():
            print(f"{name}: {figure:.6f}")
