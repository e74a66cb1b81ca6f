"""Training loops on the stand-in: their losses beside NumPy's, and what a step costs.

``python -m tests.device.loops`` prints the launches of a step of each, planned and unplanned, and by line
what it waited for.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import gradd
from gradd import nn
from gradd.nn import functional
from gradd_runtime.process import InlinePlacement

from tests import standin
from tests.standin.sessions import sessions_there

#: one step: the loss, a tensor that nobody has read
Step = Callable[[], Any]
#: where sessions compute, for as long as a block
There = Callable[[], AbstractContextManager[InlinePlacement]]
#: what watches a step
Watch = Callable[[], AbstractContextManager[None]]
#: steps after which a loop is planned, and its plan a graph
WARM = 8


def _trained(parameters: Any, optimizer: Any, loss: Callable[[], Any], norm: float | None = None) -> Step:
    owned = list(parameters)

    def step() -> Any:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        if norm is not None:
            nn.utils.clip_grad_norm_(owned, norm)
        optimizer.step()
        return found.detach()

    return step


def mlp(optimizer: Callable[..., Any], **options: Any) -> Step:
    """A classifier with dropout and clipped gradients."""
    model = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(16), nn.Linear(16, 3))
    x, y = gradd.randn(24, 6), gradd.randint(0, 3, (24,))
    made = optimizer(model.parameters(), **options)
    return _trained(model.parameters(), made, lambda: functional.cross_entropy(model(x), y), 1.0)


def halves() -> Step:
    """The same in bfloat16, without an embedding."""
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)).to(gradd.bfloat16)
    x = gradd.randn(24, 6).to(gradd.bfloat16)
    made = gradd.optim.Adam(model.parameters(), lr=0.01)
    return _trained(model.parameters(), made, lambda: (model(x) ** 2).mean())


def convnet() -> Step:
    """Convolutions, batch norm, pooling and dropout."""
    model = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout2d(0.1),
        nn.Conv2d(6, 6, 3, stride=2), nn.AvgPool2d(2, 1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(6, 3),
    )  # fmt: skip
    x, y = gradd.randn(8, 1, 10, 10), gradd.randint(0, 3, (8,))
    made = gradd.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    return _trained(model.parameters(), made, lambda: functional.cross_entropy(model(x), y))


def lstm() -> Step:
    """Two layers of an LSTM over a batch of sequences."""
    model, head = nn.LSTM(4, 6, num_layers=2, batch_first=True), nn.Linear(6, 1)
    x = gradd.randn(5, 7, 4)
    owned = [*model.parameters(), *head.parameters()]
    made = gradd.optim.RMSprop(owned, lr=0.005)

    def loss() -> Any:
        outputs, _ = model(x)
        return ((head(outputs[:, -1]) - x.sum((1, 2))[:, None]) ** 2).mean()

    return _trained(owned, made, loss, 0.5)


def transformer() -> Step:
    """A table of embeddings, a layer with causal attention and a head, trained to say what comes next."""
    table, head = nn.Embedding(13, 16, padding_idx=0), nn.Linear(16, 13)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    tokens = gradd.randint(0, 13, (4, 9))
    mask = nn.Transformer.generate_square_subsequent_mask(8)
    owned = [*table.parameters(), *layer.parameters(), *head.parameters()]
    made = gradd.optim.AdamW(owned, lr=1e-3)

    def loss() -> Any:
        found = head(layer(table(tokens[:, :-1]), src_mask=mask, is_causal=True))
        return functional.cross_entropy(found.reshape(-1, 13), tokens[:, 1:].reshape(-1), ignore_index=0)

    return _trained(owned, made, loss, 1.0)


def bag() -> Step:
    """Bags of embeddings with a loss of two classes."""
    table, head = nn.EmbeddingBag(11, 8, mode="mean"), nn.Linear(8, 1)
    words, y = gradd.randint(0, 11, (6, 5)), gradd.randint(0, 2, (6, 1)).to(gradd.float32)
    owned = [*table.parameters(), *head.parameters()]
    made = gradd.optim.Adagrad(owned, lr=0.1)
    loss = nn.BCELoss()
    return _trained(owned, made, lambda: loss(head(table(words)).sigmoid(), y))


LOOPS: dict[str, Callable[[], Step]] = {
    "mlp sgd": lambda: mlp(gradd.optim.SGD, lr=0.1),
    "mlp momentum": lambda: mlp(gradd.optim.SGD, lr=0.1, momentum=0.9, nesterov=True),
    "mlp adam": lambda: mlp(gradd.optim.Adam, lr=0.01),
    "mlp amsgrad": lambda: mlp(gradd.optim.Adam, lr=0.01, amsgrad=True),
    "mlp adamw": lambda: mlp(gradd.optim.AdamW, lr=0.01, weight_decay=0.1),
    "mlp rmsprop": lambda: mlp(gradd.optim.RMSprop, lr=0.01, momentum=0.5, centered=True),
    "bfloat16": halves,
    "convnet": convnet,
    "lstm": lstm,
    "transformer": transformer,
    "embedding bag": bag,
}


@dataclass
class Cost:
    """What steps came to: their losses, and what the last one launched and waited for."""

    losses: list[float]
    planned: int
    launches: int = 0
    waits: Counter[tuple[str, str]] = field(default_factory=Counter)


def curve(name: str, steps: int) -> list[float]:
    """The losses of a loop in a session of its own, where `local:` is now."""
    with gradd.connect("local:"):
        gradd.manual_seed(0)
        step = LOOPS[name]()
        return [step().item() for _ in range(steps)]


def measured(name: str, *, planned: bool, there: There = sessions_there, watch: Watch = nullcontext) -> Cost:
    """A loop whose losses are read at its end; what is counted, on the stand-in, and watched is the last
    step alone.
    """
    with there() as placement, gradd.connect("local:") as session:
        plans = placement._sessions[session.name].session.plans
        plans.enabled = planned
        gradd.manual_seed(0)
        step = LOOPS[name]()
        losses = []
        for _ in range(WARM):
            losses.append(step())
            session.flush()
        before = plans.counts["planned"]
        standin.reset()
        with watch():
            losses.append(step())
            session.flush()
        cost = Cost([], plans.counts["planned"] - before, sum(standin.LAUNCHES.values()))
        cost.waits = standin.WAITS.copy()
        cost.losses = [loss.item() for loss in losses]
    return cost


def rows(names: list[str]) -> Iterator[str]:
    """A table of the costs."""
    for name in names:
        for planned in (True, False):
            cost = measured(name, planned=planned)
            how = "planned" if planned else "unplanned"
            waits = ", ".join(f"{line} {what} {n}" for (what, line), n in sorted(cost.waits.items()))
            yield f"{name:14} {how:10} {cost.launches:5} launches  waits: {waits or 'none'}"


if __name__ == "__main__":
    for row in rows(sys.argv[1:] or list(LOOPS)):
        print(row, flush=True)
