"""An LSTM language model with clipped gradients: what does a training step cost beside torch's?"""

from __future__ import annotations

from typing import Any

from .bench import Bench, Row, main
from .beside import Chance, Step, codes, row, started

SYMBOLS, EMBEDDED, HIDDEN, LENGTH, BATCH = 1000, 64, 128, 35, 20
NAME = (
    f"LSTM language model, embedding {EMBEDDED}, hidden {HIDDEN}, seq {LENGTH}, batch {BATCH}, clipped, SGD"
)


def language_model(lib: Any) -> Any:
    """Text as (length, batch), and a state that goes from piece to piece."""
    nn = lib.nn

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(SYMBOLS, EMBEDDED)
            self.lstm = nn.LSTM(EMBEDDED, HIDDEN)
            self.scores = nn.Linear(HIDDEN, SYMBOLS)

        def forward(self, text: Any, state: Any) -> tuple[Any, Any]:
            found, state = self.lstm(self.embedding(text), state)
            return self.scores(found), state

    return Model()


def make(lib: Any, chance: Chance) -> Step:
    """Truncated backpropagation through time."""
    model = started(lib, language_model(lib))
    optimizer = lib.optim.SGD(model.parameters(), lr=1.0)
    columns = lib.from_numpy(codes(BATCH * (16 * LENGTH + 1), SYMBOLS).reshape(BATCH, -1).T.copy())
    state = tuple(lib.zeros(1, BATCH, HIDDEN) for _ in range(2))
    at = 0

    def step() -> tuple[Any, ...]:
        nonlocal at, state
        text, targets = columns[at : at + LENGTH], columns[at + 1 : at + 1 + LENGTH].reshape(-1)
        at = (at + LENGTH) % (16 * LENGTH)
        optimizer.zero_grad()
        scores, last = model(text, state)
        state = tuple(part.detach() for part in last)
        loss = lib.nn.functional.cross_entropy(scores.view(-1, SYMBOLS), targets)
        loss.backward()
        lib.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        return (loss,)

    return step


def question(bench: Bench) -> list[Row]:
    """Loss every 10 and every step."""
    return [
        row(bench, f"{NAME}, loss every 10", make, 0.9, steps=20),
        row(bench, f"{NAME}, loss every step", make, 1.2, steps=20, every=1),
    ]


if __name__ == "__main__":
    main(question)
