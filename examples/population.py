"""Train a population of 64 small models in 1, 2 and 3 sessions, and print how many times as fast that is.

Each model has a learning rate of its own. After each round the worst take the weights of the best, also from
session to session, and a rate near theirs. Run it as

    python examples/population.py [url] [rounds] [steps]

A daemon of several engine processes (`gradd serve --workers 3 --threads 1`) computes for as many sessions at
once, as far as it has cores; one of a cluster, on as many nodes. Without a url the sessions share one thread,
and more of them are not faster. A line is marked where the daemon is on this machine, and there are more
sessions than cores: nodes take turns then, and it says nothing of a cluster. The models are the same in any
number of sessions, but for rounding.
"""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any
from urllib.parse import urlsplit

import gradd as torch
import numpy as np
from gradd import parallel

MODELS, POINTS, HIDDEN, MOVED = 64, 256, 48, 8


class Members:
    """Models of one session, side by side: parameters have one dimension more, and one op is for all."""

    def __init__(self, session: Any, rates: Any, *weights: Any) -> None:
        torch.manual_seed(0)
        self.weights = [torch.tensor(weight, requires_grad=True) for weight in weights]
        self.rates = torch.tensor(rates)
        self.x = torch.rand(POINTS, 2) * 2 - 1
        self.y = torch.sin(4 * self.x[:, :1]) * torch.cos(3 * self.x[:, 1:])

    def losses(self) -> torch.Tensor:
        """The loss of each model."""
        h = self.x
        for weight in self.weights[:-1]:
            h = torch.tanh(h @ weight)
        return ((h @ self.weights[-1] - self.y) ** 2).mean((1, 2))

    def learn(self, steps: int) -> list[float]:
        """Some steps of gradient descent; the losses after them."""
        for _ in range(steps):
            gradients = torch.autograd.grad(self.losses().sum(), self.weights)
            with torch.no_grad():
                for weight, gradient in zip(self.weights, gradients, strict=True):
                    weight -= self.rates * gradient
        with torch.no_grad():
            found: list[float] = self.losses().nan_to_num(math.inf).tolist()
        return found


def exchange(groups: list[Members], losses: np.ndarray[Any, Any], chance: np.random.Generator) -> None:
    """The worst models take the weights of the best, and a learning rate near theirs."""
    places = [(group, at) for group in groups for at in range(len(group.rates))]
    order = np.argsort(losses)
    for best, worst in zip(order[:MOVED], order[::-1][:MOVED], strict=True):
        (source, i), (target, j) = places[best], places[worst]
        given = [t.detach()[i] for t in (*source.weights, source.rates)]
        taken = [t.detach()[j] for t in (*target.weights, target.rates)]
        if source is target:
            for mine, other in zip(taken, given, strict=True):
                mine.copy_(other)
        else:
            parallel.broadcast([given, taken])
        taken[-1].mul_(float(chance.uniform(0.8, 1.25)))


def train(sessions: list[Any], rounds: int, steps: int) -> tuple[float, float]:
    """Seconds of a training, without its first round, which tells the daemon the programs; the best loss."""
    count, chance = len(sessions), np.random.default_rng(0)
    rates = (10 ** chance.uniform(-3, 0, (MODELS, 1, 1))).astype(np.float32)
    sizes = [(2, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1)]
    weights = [chance.normal(0, 1 / math.sqrt(size[0]), (MODELS, *size)).astype(np.float32) for size in sizes]
    parts = [np.array_split(each, count) for each in (rates, *weights)]
    groups = parallel.map(sessions, Members, *parts)
    began = 0.0
    for turn in range(rounds + 1):
        if turn == 1:
            began = time.perf_counter()
        found = parallel.map(sessions, lambda _, group: group.learn(steps), groups)
        losses = np.concatenate(found)
        exchange(groups, losses, chance)
    return time.perf_counter() - began, float(losses.min())


def main(url: str | None = None, rounds: str = "4", steps: str = "20") -> None:
    """Train in 1, 2 and 3 groups of models, each in a session."""
    here = urlsplit(url or "").hostname in (None, "localhost", "127.0.0.1", "::1")
    cores = len(os.sched_getaffinity(0))
    alone = 0.0
    for count in (1, 2, 3):
        sessions = [torch.connect(url) for _ in range(count)]
        nodes = {node for session in sessions if (node := session.info().node)}
        seconds, best = train(sessions, int(rounds), int(steps))
        alone = alone or seconds
        where = f" on {len(nodes)} node{'s' * (len(nodes) > 1)}" if nodes else ""
        mark = f" (simulated: {cores} cores)" if here and count > cores else ""
        what = f"{count} session{'s' * (count > 1)}{where}"
        print(f"{what}: {seconds:.2f} s, {alone / seconds:.2f} times as fast{mark}, best loss {best:.4f}")
        for session in sessions:
            session.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
