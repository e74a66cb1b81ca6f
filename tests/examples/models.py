"""Two models as a PyTorch user writes them: with `gradd` in the place of `torch` they print the same.

A decoder of two transformer blocks trained with AdamW, a schedule and clipped gradients; a small
convolutional network with batch norm trained with momentum. Weights and data come from NumPy, so both
start alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def main(torch: Any) -> list[str]:
    """The lines it prints; numbers to four digits."""
    rng = np.random.default_rng(0)
    nn, functional = torch.nn, torch.nn.functional
    lines: list[str] = []

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            heads = [
                t.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                for t in self.qkv(self.before(x)).chunk(3, dim=-1)
            ]
            mixed = functional.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
            return x + self.mlp(self.between(x))

    class Decoder(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(50, 16)
            self.blocks = nn.ModuleList([Block(16, 2) for _ in range(2)])
            self.head = nn.Linear(16, 50)

        def forward(self, tokens: Any) -> Any:
            x = self.embedding(tokens)
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    class Convolutional(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.norm = nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.second, self.last = nn.Conv2d(8, 8, 3, stride=2), nn.Linear(8 * 6 * 6, 10)

        def forward(self, x: Any) -> Any:
            x = functional.max_pool2d(functional.relu(self.norm(self.first(x))), 2)
            return self.last(torch.flatten(functional.relu(self.second(x)), 1))

    def initialised(model: Any) -> Any:
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(torch.from_numpy((rng.standard_normal(tuple(p.shape)) * 0.1).astype("float32")))
        return model

    decoder = initialised(Decoder())
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
    tokens = torch.from_numpy(rng.integers(0, 50, (64, 9)))
    for step in range(20):
        at = (step % 4) * 16
        batch = tokens[at : at + 16]
        logits = decoder(batch[:, :-1])
        loss = functional.cross_entropy(logits.reshape(-1, 50), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 5 == 0:
            lines.append(f"{step} {loss.item():.4f} {float(norm):.3f} {schedule.get_last_lr()[0]:.5f}")

    network = initialised(Convolutional())
    descent = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    images = torch.from_numpy(rng.standard_normal((32, 1, 28, 28)).astype("float32"))
    labels = torch.from_numpy(rng.integers(0, 10, 32))
    for step in range(6):
        descent.zero_grad()
        scores = network(images)
        loss = functional.cross_entropy(scores, labels)
        loss.backward()
        descent.step()
        lines.append(f"{step} {loss.item():.4f} {(scores.argmax(1) == labels).float().mean().item():.5f}")
    network.eval()
    with torch.no_grad():
        lines.append(str(network(images).softmax(1)[:2].amax(1)))
    return lines


if __name__ == "__main__":
    import gradd

    with gradd.connect():
        print("\n".join(main(gradd)))
