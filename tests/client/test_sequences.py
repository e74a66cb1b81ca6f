"""Sequences of different lengths as one tensor: torch.nn.utils.rnn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with gradd.connect("local:") as s:
        yield s


LINES = [
    "pad([T.arange(2.0), T.arange(3.0)])",
    "pad([T.arange(2.0), T.arange(3.0)], batch_first=True, padding_value=-1.5)",
    "pad([T.arange(2.0), T.arange(3.0)], batch_first=True, padding_side='left')",
    "pad((T.ones(n, 2) for n in (1, 3, 2))).stride()",
    "pad((T.ones(n, 2) for n in (1, 3, 2)), True)",
    "pad([T.tensor([1, 2]), T.ones(3)])",
    "pad([T.ones(0), T.ones(1)])",
    "pad(T.ones(2, 3))",
    "pad([T.ones(2, requires_grad=True), T.ones(3)])",
    "unpad(T.arange(6.0).view(3, 2), T.tensor([1, 3]))",
    "unpad(T.arange(6.0).view(2, 3), T.tensor([1, 3]), batch_first=True)",
]
REFUSED = [
    "pad([])",
    "pad(3)",
    "pad([1, 2])",
    "pad([T.ones(1)], padding_side='x')",
    "pad([T.ones(2, 2), T.ones(3, 3)])",
]


def value(T: Any, line: str) -> Any:
    rnn = T.nn.utils.rnn
    return eval(line, {"T": T, "pad": rnn.pad_sequence, "unpad": rnn.unpad_sequence})


@pytest.mark.oracle
@pytest.mark.parametrize("line", LINES)
def test_what_the_oracle_gives(oracle: Callable[..., Any], line: str) -> None:
    assert repr(value(gradd, line)) == oracle(lambda torch: repr(value(torch, line)))


@pytest.mark.oracle
@pytest.mark.parametrize("line", REFUSED)
def test_what_the_oracle_refuses(torch: Any, line: str) -> None:
    with pytest.raises(Exception) as want:  # noqa: PT011 - the class is compared
        value(torch, line)
    with pytest.raises(want.type) as got:
        value(gradd, line)
    assert str(got.value) == str(want.value)


def test_gradients_reach_every_sequence() -> None:
    a, b = gradd.ones(2, requires_grad=True), gradd.ones(3, requires_grad=True)
    padded = gradd.nn.utils.rnn.pad_sequence([a, b], batch_first=True)
    (padded * gradd.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1.0, 2.0], [4.0, 5.0, 6.0])
