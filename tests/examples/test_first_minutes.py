"""What someone tries in the first minutes prints, or raises, over the network what it does in PyTorch."""

from __future__ import annotations

import copy
import functools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import numpy as np
import pytest

pytestmark = pytest.mark.oracle

LINES = """
x
w
x.dtype, x.shape, x.stride(), x.ndim, len(x), x.device
x @ w
(x @ w).sum()
x @ torch.zeros(3, 1)
x + torch.zeros(3)
2 * x, 1 / x, 2 - x, -x, x**2, 2**x, x // 2, x % 2
x == 1, x > 2, ~(x > 2), abs(-x)
i / 2, i // 2, i % 2, i**2, i + True, i * 1.5
x @ i.float()
x.float().dtype, x.long(), x.bool(), x.half(), x.double()
x[0], x[-1], x[:, 1], x[0, 1], x[..., 0], x[None].shape
x[torch.tensor([1, 0])], x[[1, 0]], x[torch.tensor(1)], x[1:, ::2], x[0:0]
x[x > 2], x[torch.tensor([True, False])], (x > 2).nonzero(), x.masked_select(x > 2)
x[5]
x[0, 0, 0]
x[torch.tensor([5])]
assign(x.clone(), 0, 9.0)
assign(x.clone(), (slice(None), 1), torch.ones(2))
assign(x.clone(), x > 2, 0.0)
[row.sum().item() for row in x]
list(torch.tensor(1))
1 in i, bool(x.sum() > 0), float(x.sum()), math.sqrt(torch.tensor(4.0)), [0, 1, 2][torch.tensor(1)]
bool(x)
x.item()
f"{x.sum():.2f} {x.sum()} {i} {x}"
x.tolist(), np.asarray(x), x.numpy()
w.numpy()
x.mean(0), x.mean(dim=1, keepdim=True), x.std(), x.max(), x.argmax(1), x.cumsum(0), x.norm(), x.prod()
i.mean()
x.sum(dim=3)
x.view(-1), x.reshape(4, 1), x.t(), x.unsqueeze(0).shape, x.expand(3, 2, 2).shape
x.view(5)
torch.cat([x, x]), torch.stack([x, x]).shape, torch.split(x, 1), torch.where(x > 2, x, 0.0)
torch.arange(0, 1, 0.25), torch.linspace(0, 1, 3), torch.full((2,), 7), torch.eye(2), torch.zeros(0, 3)
torch.ones(2, -1)
torch.tensor([1e-8, 1.0]), torch.tensor([math.nan, math.inf]), torch.arange(2000), torch.tensor([[[1]]])
torch.tensor([1, 2], requires_grad=True)
torch.nn.functional.one_hot(i), torch.nn.functional.softmax(x, -1), torch.nn.functional.relu(-x)
torch.nn.functional.cross_entropy(x, torch.tensor([0, 1]))
torch.nn.functional.cross_entropy(x, torch.tensor([0, 5]))
gradient((x @ w).sum())
gradient((w * w).sum() + w[0].exp().sum())
gradient((w * w).sum(), twice=True)
gradient(x.sum())
gradient(w * w)
torch.autograd.grad((w**3).sum(), w, create_graph=True)
w.add_(1)
spoiled()
copy.deepcopy(x), copy.deepcopy(w)
copy.deepcopy(w * 2)
torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten())
torch.nn.Linear(2, 3)(torch.ones(5))
torch.nn.Linear(2, 2).load_state_dict({})
torch.optim.SGD([])
torch.optim.SGD([w], lr=-1)
torch.optim.Adam([w])
fitted()
x.frobnicate()
""".strip().splitlines()


def names_for(library: Any) -> dict[str, Any]:
    """What the lines may use, with `library` as torch."""
    x = library.tensor([[1.0, 2.0], [3.0, 4.0]])
    w = library.tensor([[0.5], [-1.0]], requires_grad=True)

    def assign(t: Any, key: Any, value: Any) -> Any:
        t[key] = value
        return t

    def gradient(y: Any, twice: bool = False) -> Any:
        y.backward()
        if twice:
            y.backward()
        return w.grad

    def spoiled() -> None:
        y = w.exp()
        z = y * y
        y.add_(1)
        z.sum().backward()

    def fitted() -> Any:
        inputs = library.linspace(-1, 1, 9).unsqueeze(1)
        line = library.nn.Linear(1, 1)
        with library.no_grad():
            line.weight.fill_(0.25)
            line.bias.zero_()
        optimizer = library.optim.SGD(line.parameters(), lr=0.3, momentum=0.5)
        for _ in range(100):
            optimizer.zero_grad()
            loss = library.nn.functional.mse_loss(line(inputs), 3 * inputs + 0.5)
            loss.backward()
            optimizer.step()
        return line.state_dict()

    mine = {"torch": library, "x": x, "w": w, "i": library.tensor([1, 2, 3]), "np": np, "math": math}
    does = {"assign": assign, "gradient": gradient, "spoiled": spoiled, "fitted": fitted}
    return {**mine, **does, "copy": copy}


def outcome(line: str, library: Any) -> str:
    """What the line prints, or the class and message of what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own deprecations
        try:
            text = str(eval(line, names_for(library)))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
    return re.sub(r" at 0x\w+", "", text)


@pytest.fixture(scope="module")
def session(daemon: str) -> Iterator[gradd.Session]:
    with gradd.connect(daemon) as session:
        yield session


@pytest.mark.parametrize("line", LINES)
def test_line(oracle: Callable[..., Any], line: str, session: gradd.Session) -> None:
    assert outcome(line, gradd) == oracle(functools.partial(outcome, line))
