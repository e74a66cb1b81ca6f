"""Random programs that write to small tensors made of numbers, through aliases too, and read them: a value
that is known here must be the one that PyTorch has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module

Move = Callable[[Any, Any, Random, list[Any], list[Any]], Any]

MOVES: tuple[Move, ...] = (
    lambda T, x, r, xs, log: x.add_(r.randint(1, 3)),
    lambda T, x, r, xs, log: xs.append(x[r.randrange(x.shape[0])]),
    lambda T, x, r, xs, log: x.__setitem__(r.randrange(x.shape[0]), r.randint(-9, 9)),
    lambda T, x, r, xs, log: log.append(x.tolist()),
    lambda T, x, r, xs, log: xs.append(x.view(-1)),
    lambda T, x, r, xs, log: xs.append(x.detach()),
    lambda T, x, r, xs, log: x.copy_(x * 2),
    lambda T, x, r, xs, log: T.add(x, 1, out=x),
    lambda T, x, r, xs, log: xs.append(x.clone()),
    lambda T, x, r, xs, log: log.append(bool((x > 0).any())),
    lambda T, x, r, xs, log: x.data.mul_(-1),
    lambda T, x, r, xs, log: setattr(x, "data", x.clone() + 1),
    lambda T, x, r, xs, log: x.zero_() if r.random() < 0.3 else x.sub_(1),
    lambda T, x, r, xs, log: xs.append(x.t()),
    lambda T, x, r, xs, log: log.append(int(x.reshape(-1)[r.randrange(x.numel())].item())),
    lambda T, x, r, xs, log: x.index_fill_(0, T.tensor([0]), r.randint(0, 9)),
)


def ran(T: Any, seed: int) -> list[Any]:
    """What the program reads on its way and at its end; the class of the error that ends it."""
    r, log = Random(seed), []
    xs = []
    for _ in range(3):
        shape = r.choice([(4,), (2, 3), (1,), ()])
        numbers = [r.randint(-5, 5) for _ in range(math.prod(shape))]
        made = T.tensor(numbers, dtype=getattr(T, r.choice(["float32", "int64"])))
        xs.append(made.reshape(shape) if r.random() < 0.5 else made)
    for _ in range(r.randint(5, 25)):
        try:
            r.choice(MOVES)(T, r.choice(xs), r, xs, log)
        except (IndexError, RuntimeError) as error:
            log.append(type(error).__name__)
        del xs[:-8]
    return log + [x.tolist() for x in xs]


@pytest.mark.skipif(not ITSELF, reason="asks PyTorch what the programs read")
@pytest.mark.parametrize("share", range(4))
def test_a_value_that_is_known_is_the_current_one(share: int) -> None:
    torch = module()
    with gradd.connect("local:"):
        for seed in range(50 * share, 50 * share + 50):
            assert ran(gradd, seed) == ran(torch, seed), seed
