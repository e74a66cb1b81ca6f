"""A language model of nn.TransformerEncoder: what does a training step cost beside torch's?"""

from __future__ import annotations

import math
from typing import Any

from .bench import Bench, Row, main
from .beside import Chance, Step, codes, row, started

SYMBOLS, WIDTH, HEADS, HIDDEN, LAYERS, LENGTH, BATCH, DROPPED = 1000, 128, 2, 128, 2, 35, 20, 0.2


def language_model(lib: Any, dropped: float) -> Any:
    """nn.TransformerEncoder on (length, batch) with a causal mask; places as sines."""
    nn = lib.nn

    class Places(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, longest: int = 500) -> None:
            super().__init__()
            self.dropout = nn.Dropout(dropped)
            at = lib.arange(longest).unsqueeze(1)
            turns = lib.exp(lib.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
            places = lib.zeros(longest, 1, WIDTH)
            places[:, 0, 0::2] = lib.sin(at * turns)
            places[:, 0, 1::2] = lib.cos(at * turns)
            self.register_buffer("places", places)

        def forward(self, x: Any) -> Any:
            return self.dropout(x + self.places[: x.size(0)])

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.places = nn.Embedding(SYMBOLS, WIDTH), Places()
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropped)
            self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
            self.scores = nn.Linear(WIDTH, SYMBOLS)

        def forward(self, text: Any) -> Any:
            x = self.places(self.embedding(text) * math.sqrt(WIDTH))
            mask = nn.Transformer.generate_square_subsequent_mask(len(text))
            return self.scores(self.encoder(x, mask))

    return Model()


def make(lib: Any, chance: Chance) -> Step:
    """SGD with clipped gradients on pieces of a text in columns."""
    model = started(lib, language_model(lib, chance.dropout(DROPPED)))
    model.train()
    optimizer = lib.optim.SGD(model.parameters(), lr=0.5)
    loss_of = lib.nn.CrossEntropyLoss()
    columns = lib.from_numpy(codes(BATCH * (16 * LENGTH + 1), SYMBOLS).reshape(BATCH, -1).T.copy())
    at = 0

    def step() -> tuple[Any, ...]:
        nonlocal at
        text, targets = columns[at : at + LENGTH], columns[at + 1 : at + 1 + LENGTH].reshape(-1)
        at = (at + LENGTH) % (16 * LENGTH)
        loss = loss_of(model(text).view(-1, SYMBOLS), targets)
        optimizer.zero_grad()
        loss.backward()
        lib.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        return (loss,)

    return step


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    work = (
        f"nn.TransformerEncoder language model, {LAYERS} layers, d={WIDTH}, {HEADS} heads, dropout, "
        f"seq {LENGTH}, batch {BATCH}, SGD, loss every 10"
    )
    return [row(bench, work, make, 1.0)]


if __name__ == "__main__":
    main(question)
