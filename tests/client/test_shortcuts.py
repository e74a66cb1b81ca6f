"""Random scripts find the same values with and without two shortcuts: small uploads are read without a trip,
and a loader's next batches are uploaded before they are asked for.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import gradd
import gradd as torch
import numpy as np
import pytest
from gradd._recording import Made, ahead
from gradd._surface.foreach import FOREACH
from gradd._wire import Known
from gradd.utils.data import DataLoader, Dataset

from tests.waiting import PATIENCE

SEEDS = range(12)

#: what gives another tensor, often of the same memory
VIEWS: list[Callable[[Any], Any]] = [
    lambda t: t[...], lambda t: t.detach(), lambda t: t.data, lambda t: t.reshape(-1), lambda t: t.T,
    lambda t: t.flatten()[1:], lambda t: t.clone(), lambda t: t.contiguous(), lambda t: t.unsqueeze(0),
    lambda t: t.expand(2, *t.shape)[1], lambda t: t.real,
    lambda t: torch.nn.Parameter(t, requires_grad=False),
]  # fmt: skip
WRITES: list[Callable[[Any, Any, int], Any]] = [
    lambda t, o, n: t.add_(n), lambda t, o, n: t.zero_(), lambda t, o, n: t.copy_(o),
    lambda t, o, n: t.reshape(-1)[:2].neg_(), lambda t, o, n: t.__setitem__(..., n),
    lambda t, o, n: torch.add(t, n, out=t), lambda t, o, n: setattr(t, "data", o), lambda t, o, n: t.set_(o),
    lambda t, o, n: t.data.add_(n), lambda t, o, n: t.detach().mul_(n), lambda t, o, n: t.resize_(3),
    lambda t, o, n: t.unsqueeze_(0), lambda t, o, n: FOREACH["_foreach_add_"]([t, o], n),
    lambda t, o, n: t.masked_fill_(t == n, 1), lambda t, o, n: t.sub_(o), lambda t, o, n: t.t_(),
    # refused by the session, with all that was sent behind it
    lambda t, o, n: torch.take(t, torch.tensor([99])).sum().item(),
]  # fmt: skip
READS: list[Callable[[Any, int], Any]] = [
    lambda t, n: t.tolist(), lambda t, n: t.reshape(-1)[0].item(), lambda t, n: bool((t == n).any()),
    lambda t, n: (t.to(torch.int64) + n).tolist(), lambda t, n: [x.tolist() for x in t],
    lambda t, n: t.numpy().tolist(), lambda t, n: int(t.flatten()[-1]), lambda t, n: t.sum().item(),
    lambda t, n: bool(t.flatten()[-1] == n), lambda t, n: str(t),
]  # fmt: skip
SHAPES = [(), (3,), (2, 3), (4,), (2, 2)]


def made(draw: random.Random) -> Any:
    """A small tensor of numbers that are here."""
    shape = draw.choice(SHAPES)
    values = np.array([draw.randrange(-4, 5) for _ in range(int(np.prod(shape)))]).reshape(shape)
    if draw.random() < 0.3:
        return torch.from_numpy(values.astype(np.float32))
    return torch.tensor(values.tolist(), dtype=draw.choice([torch.float32, torch.int64, torch.bfloat16]))


def script(seed: int) -> list[Any]:
    """What a random script reads, and the errors that it meets."""
    draw, found = random.Random(seed), list[Any]()
    with gradd.connect("local:"):
        tensors = [made(draw)]
        for _ in range(60):
            what, t, other, n = (
                draw.random(),
                draw.choice(tensors),
                draw.choice(tensors),
                draw.randrange(-3, 4),
            )
            view, write, read = draw.choice(VIEWS), draw.choice(WRITES), draw.choice(READS)
            new = made(draw)
            try:
                if what < 0.2:
                    tensors.append(new)
                elif what < 0.4:
                    tensors.append(view(t))
                elif what < 0.65:
                    write(t, other, n)
                else:
                    found.append(read(t, n))
            except (RuntimeError, IndexError, TypeError) as error:
                found.append(type(error).__name__)
        return [*found, [t.tolist() for t in tensors]]


@pytest.mark.parametrize("seed", SEEDS)
def test_values_that_are_here_are_those_of_the_session(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = script(seed)
    monkeypatch.setattr(Known, "holds", lambda self, t: False)
    assert found == script(seed)


class Rows(Dataset[Any]):
    """Rows of arrays, in several parts."""

    def __init__(self, width: int, parts: int, fails: int) -> None:
        self.width, self.parts, self.fails = width, parts, fails

    def __len__(self) -> int:
        return 13

    def __getitem__(self, i: int) -> Any:
        if i == self.fails:
            raise ValueError("no picture")
        return [np.full(self.width, i + part, np.float32) for part in range(self.parts)], i


class Late:
    """In the place of `Made`: made when it is taken."""

    def __init__(self, session: Any, ahead: Any, make: Callable[[], Any]) -> None:
        self._make = make
        told = any(name in make.__self__.head for name in (b"Failed", b"Ended"))  # type: ignore[attr-defined]
        self.data = make() if told else None

    def take(self, session: Any) -> Any:
        return self._make()


def arrive(it: Any) -> None:
    """Wait until all that was asked for is there."""
    there = [it._pool.arrived.get(timeout=PATIENCE) for _ in range(len(it._asked))]
    for answer in there:
        it._pool.arrived.put(answer)


def training(seed: int, early: bool) -> list[Any]:
    """What a random loop over loaders reads, and the errors that it meets."""
    draw, found = random.Random(seed), list[Any]()
    with gradd.connect("local:") as session:
        torch.manual_seed(seed)
        width, parts = draw.choice([4, 30_000, 70_000]), draw.choice([1, 2, 5])
        loaders = [
            DataLoader(
                Rows(width, parts, draw.choice([-1, 5])), 2, shuffle=draw.random() < 0.6,
                num_workers=draw.choice([1, 2]), persistent_workers=draw.random() < 0.5,
            )
            for _ in range(draw.choice([1, 2]))
        ]  # fmt: skip
        w = torch.rand(width, requires_grad=True)
        opt = torch.optim.SGD([w], lr=1e-7)
        its = [iter(loader) for loader in loaders]
        for _ in range(12):
            at, waits, fails, reads, leaves = draw.randrange(len(its)), *(draw.random() for _ in range(4))
            if early and waits < 0.6:
                arrive(its[at])
            try:
                xs, y = next(its[at])
                loss = sum((x @ w).sum() for x in xs) + torch.nn.functional.dropout(xs[0]).sum()
                loss.backward()
                opt.step()
                if fails < 0.15:
                    torch.gather(xs[0], 1, torch.tensor([[width], [0]]))
                    session.flush()
                if reads < 0.6:
                    found.append((loss.item(), y.tolist()))
            except StopIteration:
                leaves = 0.0
            except (RuntimeError, ValueError, IndexError) as error:
                found.append(type(error).__name__)
            if leaves < 0.1:
                its[at] = iter(loaders[at])
        return [*found, w.detach().sum().item(), torch.rand(2).tolist()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.parametrize("seed", SEEDS[:6])
def test_data_made_ahead_are_what_they_would_be(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(64), raising=False)
    assert ahead.Made is Made
    found = training(seed, True)
    monkeypatch.setattr(ahead, "Made", Late)
    assert found == training(seed, False)
