"""An LSTM language model of words: truncated backpropagation through time, the state handed on from piece
to piece, weights of the embedding and of the output tied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

WIDTH, LENGTH, BATCH, KEPT = 32, 10, 8, 0.9


def words(count: int, symbols: int = 20) -> Any:
    """A text in which each word has two words that may follow it, one of them likely."""
    chance = np.random.default_rng(3)
    follows = chance.integers(0, symbols, (symbols, 2))
    text = [0]
    for likely in chance.random(count) < 0.8:
        text.append(int(follows[text[-1], 0 if likely else 1]))
    return np.array(text)


def language_model(torch: Any, symbols: int) -> Any:
    """Embedding, two layers of LSTM and scores; dropout by a mask that it is given."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(symbols, WIDTH)
            self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)
            self.scores = nn.Linear(WIDTH, symbols)
            self.scores.weight = self.embedding.weight

        def forward(self, text: Any, state: Any, mask: Any) -> tuple[Any, Any]:
            found, state = self.lstm(self.embedding(text) * mask, state)
            return self.scores(found * mask), tuple(part.detach() for part in state)

    return started(torch, Model())


def run(torch: Any, steps: int = 8) -> list[float]:
    """The perplexities of `steps` pieces of the text."""
    text = words(BATCH * (steps * LENGTH + 1) - 1)
    rows = text.reshape(BATCH, -1)
    model = language_model(torch, int(text.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    state = tuple(torch.zeros(2, BATCH, WIDTH) for _ in range(2))
    chance = np.random.default_rng(4)
    curve = []
    for at in range(0, steps * LENGTH, LENGTH):
        piece = tensor(torch, rows[:, at : at + LENGTH + 1])
        mask = tensor(torch, (chance.random((BATCH, 1, WIDTH)) < KEPT) / KEPT)
        scores, state = model(piece[:, :-1], state, mask)
        loss = torch.nn.functional.cross_entropy(scores.transpose(1, 2), piece[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        curve.append(loss.detach().exp())
    return torch.stack(curve).tolist()


if __name__ == "__main__":
    main(run, steps=200)
