"""A training as a user writes it, with PyTorch's names: it knows of no daemon, no session and no failure."""

from __future__ import annotations

import gradd as torch
import numpy as np
from gradd import nn

STEPS = 25


def train() -> dict[str, bytes]:
    """An MLP under Adam, with fresh data, large uploads, hooks, values read, and an error that is caught; the
    octets of all that it ends with.
    """
    torch.manual_seed(7)
    numbers = np.random.default_rng(7)
    model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    counter = torch.zeros(1, dtype=torch.float64)
    norms, losses = [], []
    model[0].weight.register_hook(lambda g: norms.append(g.norm()) or g * 0.5)
    for step in range(STEPS):
        x = torch.from_numpy(numbers.standard_normal((64, 20), np.float32))
        if step % 8 == 0:  # over the size from which an upload goes ahead of its batch
            table = torch.from_numpy(numbers.standard_normal((4000, 20), np.float32))
        x = x + table[64 * step : 64 * step + 64] + 0.1 * torch.randn(64, 20)
        y = torch.tensor([(step + k) % 4 for k in range(64)])
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        counter += 1
        losses.append(loss)
        if step % 3 == 0:
            loss.item()
        if step % 10 == 9:
            table.numpy()
            try:
                torch.linalg.inv(torch.zeros(2, 2))
            except RuntimeError:
                continue
    assert counter.item() == STEPS
    ends = {**model.state_dict(), "losses": torch.stack(losses), "norms": torch.stack(norms)}
    return {name: t.detach().numpy().tobytes() for name, t in ends.items()}
