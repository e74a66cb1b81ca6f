"""A variational autoencoder: the bound on the likelihood of binary pictures, by reparametrised samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

SIDE, HIDDEN, LATENT, BATCH = 8, 32, 3, 32


def bars(count: int, seed: int) -> Any:
    """Binary pictures, each with one row or one column lit."""
    chance = np.random.default_rng(seed)
    made = np.zeros((count, SIDE, SIDE))
    for picture, at, lies in zip(
        made, chance.integers(0, SIDE, count), chance.random(count) < 0.5, strict=True
    ):
        (picture if lies else picture.T)[at] = 1
    return made.reshape(count, -1)


def autoencoder(torch: Any) -> Any:
    """Encoder and decoder; the noise is given."""
    nn = torch.nn

    class VAE(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(SIDE * SIDE, HIDDEN), nn.SiLU())
            self.mean, self.log_variance = nn.Linear(HIDDEN, LATENT), nn.Linear(HIDDEN, LATENT)
            self.decoder = nn.Sequential(nn.Linear(LATENT, HIDDEN), nn.SiLU(), nn.Linear(HIDDEN, SIDE * SIDE))

        def forward(self, x: Any, noise: Any) -> tuple[Any, Any, Any]:
            hidden = self.encoder(x)
            mean, log_variance = self.mean(hidden), self.log_variance(hidden)
            return self.decoder(mean + noise * (log_variance / 2).exp()), mean, log_variance

    return started(torch, VAE())


def run(torch: Any, steps: int = 8) -> list[float]:
    """The negative bound, in nats a picture, at each of `steps` steps."""
    model = autoencoder(torch)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    chance = np.random.default_rng(5)
    curve = []
    for step in range(steps):
        x = tensor(torch, bars(BATCH, seed=step))
        logits, mean, log_variance = model(x, tensor(torch, chance.normal(size=(BATCH, LATENT))))
        missed = torch.nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum()
        loss = (missed + divergence) / BATCH
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        curve.append(loss.detach())
    return torch.stack(curve).tolist()


if __name__ == "__main__":
    main(run, steps=600)
