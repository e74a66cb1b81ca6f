"""A vision transformer: patches of pictures, PyTorch's encoder layers, a token that gathers the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

CLASSES, SIDE, PATCH, WIDTH, HEADS, LAYERS, BATCH = 6, 16, 4, 32, 4, 2, 16


def pictures(count: int, seed: int) -> tuple[Any, Any]:
    """Gray pictures of stripes, whose direction is their class."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, CLASSES, count)
    angles, phases = labels * np.pi / CLASSES, chance.uniform(0, 2 * np.pi, count)
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    along = np.cos(angles)[:, None, None] * x + np.sin(angles)[:, None, None] * y
    stripes = np.sin(6 * np.pi * along + phases[:, None, None])
    return (stripes + chance.normal(0, 0.3, stripes.shape))[:, None], labels


def vision_transformer(torch: Any) -> Any:
    """The model; its weights are NumPy's."""
    nn = torch.nn

    class ViT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(1, WIDTH, PATCH, stride=PATCH)
            self.token = nn.Parameter(torch.zeros(1, 1, WIDTH))
            self.places = nn.Parameter(torch.zeros(1, (SIDE // PATCH) ** 2 + 1, WIDTH))
            layer = nn.TransformerEncoderLayer(
                WIDTH, HEADS, 2 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            self.encoder = nn.TransformerEncoder(
                layer, LAYERS, norm=nn.LayerNorm(WIDTH), enable_nested_tensor=False
            )
            self.head = nn.Linear(WIDTH, CLASSES)

        def forward(self, x: Any) -> Any:
            seen = self.patches(x).flatten(2).transpose(1, 2)
            tokens = torch.cat([self.token.expand(len(x), -1, -1), seen], dim=1)
            return self.head(self.encoder(tokens + self.places)[:, 0])

    return started(torch, ViT())


def run(torch: Any, steps: int = 6) -> list[float]:
    """The losses of `steps` steps, warmed up, and the share of new pictures that it then tells right."""
    model = vision_transformer(torch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=max(1, steps // 5)),
            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps),
        ],
        milestones=[max(1, steps // 5)],
    )
    losses = []
    for step in range(steps):
        images, labels = (tensor(torch, part) for part in pictures(BATCH, seed=step))
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
    model.eval()
    images, labels = (tensor(torch, part) for part in pictures(64, seed=-1 % 2**32))
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).to(losses[0].dtype).mean()
    return [*torch.stack(losses).tolist(), right.item()]


if __name__ == "__main__":
    main(run, steps=150)
