"""A small vision transformer: what does a training step cost beside torch's?"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bench import Bench, Row, main
from .beside import Chance, Step, row, started

SIDE, PATCH, WIDTH, HEADS, LAYERS, BATCH = 32, 4, 64, 4, 4, 16


def vision_transformer(lib: Any) -> Any:
    """Patches, a token that gathers the answer, and pre-norm blocks whose attention is written out."""
    nn = lib.nn
    tokens, size = (SIDE // PATCH) ** 2 + 1, WIDTH // HEADS

    class Attention(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)
            self.attend = nn.Softmax(dim=-1)

        def forward(self, x: Any) -> Any:
            n, length, _ = x.shape
            parts = self.qkv(self.norm(x)).chunk(3, dim=-1)
            q, k, v = (part.reshape(n, length, HEADS, size).permute(0, 2, 1, 3) for part in parts)
            weights = self.attend(lib.matmul(q, k.transpose(-1, -2)) * size**-0.5)
            return self.out(lib.matmul(weights, v).permute(0, 2, 1, 3).reshape(n, length, WIDTH))

    class ViT(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
            self.token = nn.Parameter(lib.zeros(1, 1, WIDTH))
            self.places = nn.Parameter(lib.zeros(1, tokens, WIDTH))
            self.attentions = nn.ModuleList(Attention() for _ in range(LAYERS))
            self.mlps = nn.ModuleList(
                nn.Sequential(
                    nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
                )
                for _ in range(LAYERS)
            )
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 10)

        def forward(self, pictures: Any) -> Any:
            x = self.patches(pictures).flatten(2).transpose(1, 2)
            x = lib.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.places
            for attention, mlp in zip(self.attentions, self.mlps, strict=True):
                x = attention(x) + x
                x = mlp(x) + x
            return self.head(self.norm(x[:, 0]))

    return ViT()


def make(lib: Any, chance: Chance) -> Step:
    """Adam on rows of pictures."""
    model = started(lib, vision_transformer(lib))
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
    rng = np.random.default_rng(3)
    many = 16 * BATCH
    x_all = lib.from_numpy(rng.standard_normal((many, 3, SIDE, SIDE), dtype=np.float32))
    y_all = lib.from_numpy(rng.integers(0, 10, many))
    begins = 0

    def step() -> tuple[Any, ...]:
        nonlocal begins
        rows = slice(begins, begins + BATCH)
        begins = (begins + BATCH) % many
        optimizer.zero_grad()
        loss = lib.nn.functional.cross_entropy(model(x_all[rows]), y_all[rows])
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    work = (
        f"ViT on 3x{SIDE}x{SIDE}, patch {PATCH}, {LAYERS} blocks, d={WIDTH}, {HEADS} heads, batch {BATCH}, "
        "Adam, loss every 10"
    )
    return [row(bench, work, make, 1.0)]


if __name__ == "__main__":
    main(question)
