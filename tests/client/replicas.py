"""Random models and loops that train over several sessions, beside one session with the whole batch.

`Loop(seed)` is one; `differences` trains it both ways and says what differs. What a seed means depends on
nothing else.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradd
import gradd as torch
import numpy as np
from gradd import nn, optim, parallel
from gradd.parallel import _buckets

CLOSE = 1e-6
#: of the parameters beside those of one session; what is float32 rounds otherwise where a batch is divided
LOOSE = {"float64": CLOSE, "float32": 1e-4}

Model = Callable[[random.Random], nn.Module]


class Tied(nn.Module):
    """An embedding whose weight is the last layer's, and a layer that is used twice."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.words, self.width = chance.randint(5, 9), chance.randint(2, 6)
        self.embedding = nn.Embedding(self.words, self.width)
        self.middle = nn.Linear(self.width, self.width)
        self.last = nn.Linear(self.width, self.words, bias=chance.random() < 0.5)
        self.last.weight = self.embedding.weight

    def forward(self, x: Any) -> Any:
        """Scores of words, (n, 5) integers to (n, words)."""
        h = self.embedding(x).mean(1)
        for _ in range(2):
            h = torch.tanh(self.middle(h))
        return self.last(h)


def mlp(chance: random.Random) -> nn.Module:
    """Layers of random widths."""
    widths = [7, *(chance.randint(1, 9) for _ in range(chance.randint(1, 3))), 4]
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(widths):
        layers.append(nn.Linear(a, b, bias=chance.random() < 0.8))
        layers.append(chance.choice([nn.Tanh, nn.ReLU, nn.GELU, nn.Sigmoid])())
        if chance.random() < 0.3:
            layers.append(nn.LayerNorm(b))
    return nn.Sequential(*layers[:-1])


def convolution(chance: random.Random) -> nn.Module:
    """A convolution over (n, 7), and what follows."""
    channels = chance.randint(1, 4)
    return nn.Sequential(
        nn.Unflatten(1, (1, 7)), nn.Conv1d(1, channels, 3, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(7 * channels, 4),
    )  # fmt: skip


def optimizer(chance: random.Random) -> tuple[type[optim.Optimizer], dict[str, Any]]:
    """Its class and what it is made with."""
    return chance.choice(
        [
            (optim.SGD, {"lr": 0.1}),
            (optim.SGD, {"lr": 0.05, "momentum": 0.9, "nesterov": chance.random() < 0.5}),
            (optim.SGD, {"lr": 0.05, "weight_decay": 0.1}),
            (optim.Adam, {"lr": 0.01, "amsgrad": chance.random() < 0.5}),
            (optim.AdamW, {"lr": 0.01}),
            (optim.RMSprop, {"lr": 0.01}),
            (optim.Adagrad, {"lr": 0.05}),
        ]
    )


class Loop:
    """A model, data, an optimizer, and how they are trained in `count` sessions."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.seed, self.count = seed, chance.choice([1, 2, 2, 3, 3, 4])
        self.make: Model = chance.choice([mlp, mlp, convolution, Tied])
        self.shape = chance.randrange(1 << 30)
        self.kind, self.options = optimizer(chance)
        self.dtype = chance.choice(["float64", "float64", "float32"])
        self.steps, self.parts = chance.randint(2, 5), chance.choice([1, 1, 2])
        even = [chance.randint(1, 4)] * self.count
        self.sizes = even if chance.random() < 0.5 else [chance.randint(1, 5) for _ in even]
        #: mean takes parts of one size
        self.op = "mean" if self.sizes == even and chance.random() < 0.8 else "sum"
        #: what is reduced: gradients together or each alone, or, where that is the same, parameters
        plain = self.kind is optim.SGD and not self.options.get("momentum") and self.op == "mean"
        self.what = chance.choice(["grads", "grads", "each", *["parameters"] * plain])
        self.clip = chance.random() < 0.3 and self.what != "parameters"
        self.keeps_zeros, self.reads = chance.random() < 0.3, chance.random() < 0.5
        #: replicas 1, 2, .. begin elsewhere, and become like one
        self.source = chance.choice([None, 0, self.count - 1])
        self.bucket = chance.choice([8, 64, 25 << 20])
        self.twice = chance.random() < 0.3

    def batch(self, step: int, part: int) -> list[tuple[Any, Any]]:
        """Inputs and targets, of each session."""
        chance = np.random.default_rng([self.seed, step, part])
        n, edges = sum(self.sizes), np.cumsum(self.sizes)[:-1]
        if self.make is Tied:
            x, y = chance.integers(0, 5, (n, 5)), chance.integers(0, 5, n)
        else:
            x, y = chance.normal(size=(n, 7)).astype(self.dtype), chance.integers(0, 4, n)
        return list(zip(np.split(x, edges), np.split(y, edges), strict=True))

    def built(self, session: Any, other: bool = False) -> tuple[nn.Module, optim.Optimizer]:
        """A model of the current session, and its optimizer; `other`: with other numbers in it."""
        torch.manual_seed(self.seed + other)
        model = self.make(random.Random(self.shape)).to(getattr(torch, self.dtype))
        return model, self.kind(model.parameters(), **self.options)

    def pass_(self, session: Any, model: nn.Module, of: tuple[Any, Any], share: float) -> Any:
        """Forward and backward of one part of a batch."""
        loss = nn.functional.cross_entropy(model(torch.tensor(of[0])), torch.tensor(of[1])) * share
        loss.backward()
        return loss.detach()

    def end(self, session: Any, model: nn.Module, of: optim.Optimizer) -> None:
        """The end of a step."""
        if self.clip:
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        of.step()
        of.zero_grad(set_to_none=not self.keeps_zeros)

    def alone(self, session: Any) -> list[Any]:
        """Parameters after training with whole batches in one session."""
        with current(session):
            model, of = self.built(session)
            for step in range(self.steps):
                for part in range(self.parts):
                    both = zip(*self.batch(step, part), strict=True)
                    self.pass_(session, model, tuple(map(np.concatenate, both)), 1 / self.parts)  # type: ignore[arg-type]
                self.end(session, model, of)
            return [p.detach().numpy() for p in model.parameters()]

    def together(self, sessions: list[Any], between: Callable[[], None] = lambda: None) -> list[list[Any]]:
        """Parameters of each session's model. `between` is called between two things that are done."""
        sessions = sessions[: self.count]
        others = [self.source is not None and at != self.source for at in range(self.count)]
        made = parallel.map(sessions, self.built, others)
        models, optimizers = [m for m, _ in made], [o for _, o in made]
        if self.source is not None:
            parallel.broadcast(models, self.source)
        weights = [1.0] * self.count
        if self.op == "sum":
            weights = [size / sum(self.sizes) for size in self.sizes]
        for step in range(self.steps):
            for part in range(self.parts):
                shares = [weight / self.parts for weight in weights]
                losses = parallel.map(sessions, self.pass_, models, self.batch(step, part), shares)
                between()
                if self.reads:
                    assert all(np.isfinite(loss.item()) for loss in losses)
            if self.what != "parameters":
                self.reduce([[p.grad for p in m.parameters()] for m in models])
            between()
            parallel.map(sessions, self.end, models, optimizers)
            if self.what == "parameters":
                self.reduce([list(m.parameters()) for m in models])
            between()
        return [[p.detach().numpy() for p in model.parameters()] for model in models]

    def reduce(self, lists: list[list[Any]]) -> None:
        """All that is there, together or one by one."""
        if self.what == "each":
            for row in zip(*lists, strict=True):
                parallel.all_reduce(list(row), self.op)  # type: ignore[arg-type]
        else:
            parallel.all_reduce(lists, self.op)  # type: ignore[arg-type]


def full(session: Any, value: Any, *shape: int, **options: Any) -> Any:
    """A tensor of that value everywhere, for `parallel.map`."""
    return torch.full(shape, value, **options)


@contextmanager
def current(session: Any) -> Iterator[None]:
    """In it the session is current; it is not closed."""
    session.enter()
    try:
        yield
    finally:
        session.leave()


def differences(seed: int, sessions: list[Any], alone: Any) -> str:
    """What differs where a loop is trained in some of `sessions`, and in the session `alone`; else empty."""
    loop = Loop(seed)
    before, _buckets.BUCKET = _buckets.BUCKET, loop.bucket
    try:
        expected = loop.alone(alone)
        found = loop.together(sessions)
    finally:
        _buckets.BUCKET = before
    for at, parameters in enumerate(found):
        for number, (p, q, first) in enumerate(zip(parameters, expected, found[0], strict=True)):
            if p.tobytes() != first.tobytes():
                return f"seed {seed}: parameter {number} of session {at} is not that of session 0"
            off = float(np.abs(p - q).max())
            if not off <= LOOSE[loop.dtype]:
                return f"seed {seed}: parameter {number} is off by {off}"
    return ""


def connected(count: int, url: str = "local:", names: str | None = None) -> list[Any]:
    """Sessions, of which none is current."""
    made = []
    for at in range(count):
        made.append(gradd.connect(url, session=None if names is None else f"{names}-{at}"))
    return made
