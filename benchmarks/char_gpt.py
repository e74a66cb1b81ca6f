"""A GPT on characters whose heads have a Linear each: what does a training step cost beside torch's?"""

from __future__ import annotations

from functools import partial
from typing import Any

from .bench import Bench, Row, main
from .beside import Chance, Make, Step, codes, row, started

SYMBOLS, BLOCK, BATCH, WIDTH, HEADS, LAYERS = 65, 32, 16, 64, 4, 4
NAME = f"char-GPT, {LAYERS} blocks, d={WIDTH}, {HEADS} heads apart, block {BLOCK}, batch {BATCH}, AdamW"


def gpt(lib: Any) -> Any:
    """Pre-norm blocks; a head masks its scores with a triangle that it keeps, and heads are joined by cat."""
    nn, functional = lib.nn, lib.nn.functional
    size = WIDTH // HEADS

    class Head(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.key = nn.Linear(WIDTH, size, bias=False)
            self.query = nn.Linear(WIDTH, size, bias=False)
            self.value = nn.Linear(WIDTH, size, bias=False)
            self.register_buffer("seen", lib.tril(lib.ones(BLOCK, BLOCK)))

        def forward(self, x: Any) -> Any:
            length = x.shape[1]
            scores = self.query(x) @ self.key(x).transpose(-2, -1) * size**-0.5
            scores = scores.masked_fill(self.seen[:length, :length] == 0, float("-inf"))
            return functional.softmax(scores, dim=-1) @ self.value(x)

    class Heads(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.heads = nn.ModuleList(Head() for _ in range(HEADS))
            self.out = nn.Linear(WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            return self.out(lib.cat([head(x) for head in self.heads], dim=-1))

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.heads = Heads()
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x: Any) -> Any:
            x = x + self.heads(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.symbol, self.place = nn.Embedding(SYMBOLS, WIDTH), nn.Embedding(BLOCK, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm, self.scores = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, SYMBOLS)

        def forward(self, x: Any, targets: Any) -> Any:
            seen = self.symbol(x) + self.place(lib.arange(x.shape[1]))
            scores = self.scores(self.norm(self.blocks(seen)))
            return functional.cross_entropy(scores.view(-1, SYMBOLS), targets.view(-1))

    return GPT()


def make(lib: Any, chance: Chance, indexed: bool = False) -> Step:
    """AdamW. `indexed`: a batch is stacked of pieces at random places, else rows of pieces cut before."""
    model = started(lib, gpt(lib))
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-3)
    many = 16 * BATCH
    text = codes(many * BLOCK + 1, SYMBOLS)
    data = lib.from_numpy(text)
    x_all = lib.from_numpy(text[:-1].reshape(many, BLOCK))
    y_all = lib.from_numpy(text[1:].reshape(many, BLOCK))
    begins = 0

    def batch() -> tuple[Any, Any]:
        nonlocal begins
        if indexed:
            ix = chance.randint(len(data) - BLOCK, (BATCH,))
            x = lib.stack([data[i : i + BLOCK] for i in ix])
            return x, lib.stack([data[i + 1 : i + BLOCK + 1] for i in ix])
        rows = slice(begins, begins + BATCH)
        begins = (begins + BATCH) % many
        return x_all[rows], y_all[rows]

    def step() -> tuple[Any, ...]:
        x, y = batch()
        loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


INDEXED: Make = partial(make, indexed=True)


def question(bench: Bench) -> list[Row]:
    """Loss every 10 and every step, and with batches of pieces at random places."""
    return [
        row(bench, f"{NAME}, loss every 10", make, 0.65, steps=20),
        row(bench, f"{NAME}, loss every step", make, 0.95, steps=20, every=1),
        row(bench, f"{NAME}, stack of data[i:i+{BLOCK}], loss every 10", INDEXED, 0.75, steps=20),
    ]


if __name__ == "__main__":
    main(question)
