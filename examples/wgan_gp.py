"""WGAN-GP: a critic whose gradient is held near length 1, the penalty being a norm of a gradient.

Its own gradient is of second order, through the norm. Run it as

    python examples/wgan_gp.py [url]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

SAMPLES, HIDDEN, STEPS, WEIGHT = 64, 32, 80, 10.0


def penalty(torch: Any, critic: Any, real: Any, fake: Any, mix: Any) -> tuple[Any, Any]:
    """How far the critic's gradients between real and fake points are from length 1; and those lengths."""
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (gradient,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    lengths = gradient.norm(2, dim=1)
    return ((lengths - 1) ** 2).mean(), lengths


def run(torch: Any) -> dict[str, float]:
    """Train a critic to tell two clouds of points apart; its distance between them, and its slopes."""
    chance = np.random.default_rng(2)

    def tensor(array: Any) -> Any:
        return torch.tensor(array, dtype=torch.float64)

    critic = torch.nn.Sequential(torch.nn.Linear(2, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1))
    critic = critic.to(torch.float64)
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.copy_(tensor(chance.normal(0, 0.5, tuple(parameter.shape))))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
    real = tensor(chance.normal(1.0, 0.3, (SAMPLES, 2)))
    fake = tensor(chance.normal(-1.0, 0.3, (SAMPLES, 2)))
    for mix in chance.uniform(size=(STEPS, SAMPLES, 1)):
        optimizer.zero_grad()
        distance = critic(real).mean() - critic(fake).mean()
        extra, lengths = penalty(torch, critic, real, fake, tensor(mix))
        (WEIGHT * extra - distance).backward()
        optimizer.step()
    return {
        "distance of the clouds": distance.item(),
        "penalty": extra.item(),
        "mean length of the gradient": lengths.mean().item(),
    }


if __name__ == "__main__":
    import gradd

    with gradd.connect(*sys.argv[1:2]):
        for name, figure in run(gradd).items():
            print(f"{name}: {figure:.6f}")
