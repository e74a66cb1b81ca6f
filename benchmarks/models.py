"""The models, in the spelling that gradd and torch share: `lib` is either."""

from __future__ import annotations

from typing import Any


def mlp(lib: Any) -> Any:
    """784-512-256-10, ReLU."""
    nn = lib.nn
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10)
    )  # fmt: skip


def convnet(lib: Any) -> Any:
    """1x28x28: two 3x3 convolutions of 32 and 64 channels, pooling, 128, 10."""
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(64 * 12 * 12, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def transformer(lib: Any, width: int = 128, heads: int = 4, blocks: int = 2) -> Any:
    """Pre-norm blocks with causal attention and a GELU feed-forward of four times the width; (n, length,
    width) in and out."""
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            n, length, _ = x.shape
            q, k, v = (
                part.reshape(n, length, heads, width // heads).transpose(1, 2)
                for part in self.qkv(self.norm1(x)).split(width, -1)
            )
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(n, length, width))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    return nn.Sequential(*(Block() for _ in range(blocks)))


def language_model(lib: Any, symbols: int, width: int = 64, hidden: int = 128) -> Any:
    """Embedding, one LSTM layer and scores: (n, length) numbers of symbols in, (n, length, symbols) out."""
    nn = lib.nn

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.scores = nn.Embedding(symbols, width), nn.Linear(hidden, symbols)
            self.lstm = nn.LSTM(width, hidden, batch_first=True)

        def forward(self, text: Any) -> Any:
            return self.scores(self.lstm(self.embedding(text))[0])

    return Model()
