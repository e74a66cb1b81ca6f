"""A small GPT that learns to continue a text, one character after the other.

The loss of each step is kept as a tensor and read at the end: no step waits for a value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

TEXT = "the rain came down the lane, and the man in the rain ran again to the train. " * 12
BLOCK, WIDTH, HEADS, LAYERS, BATCH = 24, 32, 4, 2, 16


def gpt(torch: Any, symbols: int) -> Any:
    """Embeddings of characters and places, blocks of causal attention, and scores of the next character."""
    nn, F = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            b, t, _ = x.shape
            q, k, v = (part.view(b, t, HEADS, -1).transpose(1, 2) for part in self.qkv(x).split(WIDTH, dim=2))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(mixed.transpose(1, 2).reshape(b, t, WIDTH))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.attention = Attention()
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.first(x))
            return x + self.mlp(self.second(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.symbol, self.place = nn.Embedding(symbols, WIDTH), nn.Embedding(BLOCK, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, symbols, bias=False)

        def forward(self, codes: Any) -> Any:
            x = self.symbol(codes) + self.place(torch.arange(codes.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    return started(torch, GPT())


def run(torch: Any, steps: int = 8) -> list[float]:
    """The losses of `steps` steps, and then the mean probability that it gives what comes next."""
    letters = sorted(set(TEXT))
    codes = np.array([letters.index(c) for c in TEXT])
    model = gpt(torch, len(letters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps)
    chance = np.random.default_rng(1)
    losses = []
    for _ in range(steps):
        at = chance.integers(0, len(codes) - BLOCK - 1, BATCH)
        rows = tensor(torch, np.stack([codes[i : i + BLOCK + 1] for i in at]))
        scores = model(rows[:, :-1])
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
    model.eval()
    with torch.no_grad():
        likely = model(rows[:, :-1]).softmax(-1).gather(2, rows[:, 1:, None]).mean()
    return [*torch.stack(losses).tolist(), likely.item()]


if __name__ == "__main__":
    main(run, steps=300)
