"""DCGAN, a generator and a critic with an optimizer each: what does a step of both cost beside torch's?"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bench import Bench, Row, main
from .beside import Chance, Step, row, started

NOISE, WIDTH, SIDE, BATCH = 64, 16, 32, 16


def networks(lib: Any) -> tuple[Any, Any]:
    """Noise (n, 64, 1, 1) to pictures (n, 3, 32, 32), and pictures to the probability that they are real."""
    nn = lib.nn
    generator: list[Any] = [nn.ConvTranspose2d(NOISE, 4 * WIDTH, 4, 1, 0, bias=False)]
    critic: list[Any] = [nn.Conv2d(3, WIDTH, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True)]
    for n in (1, 2):
        more, less = 8 // 2**n * WIDTH, 4 // 2**n * WIDTH
        up = nn.ConvTranspose2d(more, less, 4, 2, 1, bias=False)
        generator += [nn.BatchNorm2d(more), nn.ReLU(inplace=True), up]
        down = nn.Conv2d(n * WIDTH, 2 * n * WIDTH, 4, 2, 1, bias=False)
        critic += [down, nn.BatchNorm2d(2 * n * WIDTH), nn.LeakyReLU(0.2, inplace=True)]
    generator += [nn.BatchNorm2d(WIDTH), nn.ReLU(inplace=True)]
    generator += [nn.ConvTranspose2d(WIDTH, 3, 4, 2, 1, bias=False), nn.Tanh()]
    critic += [nn.Conv2d(4 * WIDTH, 1, 4, 1, 0, bias=False), nn.Sigmoid()]
    return nn.Sequential(*generator), nn.Sequential(*critic)


def pictures(count: int) -> Any:
    """Of one bright square each."""
    rng = np.random.default_rng(3)
    made = np.full((count, 3, SIDE, SIDE), -0.9, np.float32)
    for picture, (top, left, size) in zip(made, rng.integers(6, 14, (count, 3)), strict=True):
        picture[:, top : top + size, left : left + size] = 0.9
    return made


def make(lib: Any, chance: Chance) -> Step:
    """The critic on real pictures and on made ones, a pass each, then the generator."""
    generator, critic = (started(lib, model, seed) for seed, model in enumerate(networks(lib)))
    of_generator = lib.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    of_critic = lib.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    loss_of = lib.nn.BCELoss()
    shown = lib.from_numpy(pictures(16 * BATCH))
    begins = 0

    def step() -> tuple[Any, ...]:
        nonlocal begins
        real = shown[begins : begins + BATCH]
        begins = (begins + BATCH) % (16 * BATCH)
        critic.zero_grad()
        label = lib.full((BATCH,), 1.0)
        on_real = loss_of(critic(real).view(-1), label)
        on_real.backward()
        fake = generator(chance.randn(BATCH, NOISE, 1, 1))
        label.fill_(0.0)
        on_fake = loss_of(critic(fake.detach()).view(-1), label)
        on_fake.backward()
        of_critic.step()
        generator.zero_grad()
        label.fill_(1.0)
        deceived = loss_of(critic(fake).view(-1), label)
        deceived.backward()
        of_generator.step()
        return on_real + on_fake, deceived

    return step


def question(bench: Bench) -> list[Row]:
    """Losses every 10."""
    work = f"DCGAN 3x{SIDE}x{SIDE}, {WIDTH} channels, batch {BATCH}, two Adams, losses every 10"
    return [row(bench, work, make, 1.2)]


if __name__ == "__main__":
    main(question)
