"""DCGAN: a generator of transposed convolutions against a critic of strided ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

NOISE, WIDTH, SIDE, BATCH = 8, 4, 16, 16


def squares(count: int, seed: int) -> Any:
    """Pictures of one bright square each, in [-1, 1]."""
    chance = np.random.default_rng(seed)
    made = np.full((count, 1, SIDE, SIDE), -0.9)
    for picture, (top, left, size) in zip(made, chance.integers(3, 8, (count, 3)), strict=True):
        picture[0, top : top + size, left : left + size] = 0.9
    return made


def networks(torch: Any) -> tuple[Any, Any]:
    """The generator and the critic."""
    nn = torch.nn
    generator = nn.Sequential(
        nn.ConvTranspose2d(NOISE, 4 * WIDTH, 4, bias=False),
        nn.BatchNorm2d(4 * WIDTH),
        nn.ReLU(inplace=True),
        nn.ConvTranspose2d(4 * WIDTH, 2 * WIDTH, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * WIDTH),
        nn.ReLU(inplace=True),
        nn.ConvTranspose2d(2 * WIDTH, 1, 4, stride=2, padding=1),
        nn.Tanh(),
    )
    critic = nn.Sequential(
        nn.Conv2d(1, WIDTH, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(WIDTH, 2 * WIDTH, 4, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * WIDTH),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(2 * WIDTH, 1, 4),
        nn.Flatten(0),
    )
    return started(torch, generator, 1), started(torch, critic, 2)


def run(torch: Any, steps: int = 5) -> list[float]:
    """The losses of critic and generator, in turn, of `steps` steps."""
    generator, critic = networks(torch)
    of_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
    told = torch.nn.BCEWithLogitsLoss()
    real, fake = torch.ones(BATCH), torch.zeros(BATCH)
    chance = np.random.default_rng(3)
    losses = []
    for step in range(steps):
        made = generator(tensor(torch, chance.normal(size=(BATCH, NOISE, 1, 1))))
        of_critic.zero_grad()
        shown = tensor(torch, squares(BATCH, seed=step))
        loss = told(critic(shown), real * 0.9) + told(critic(made.detach()), fake)
        loss.backward()
        of_critic.step()
        losses.append(loss.detach())
        of_generator.zero_grad()
        loss = told(critic(made), real)
        loss.backward()
        of_generator.step()
        losses.append(loss.detach())
    return torch.stack(losses).tolist()


if __name__ == "__main__":
    main(run, steps=150)
