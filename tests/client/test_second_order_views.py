"""Second and third gradients of what is written in place to a view, where the written op saved its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradd
import numpy as np
import pytest

VIEWS: dict[str, Callable[[Any], Any]] = {
    "all": lambda t: t.view(4),
    "row": lambda t: t[0],
    "transposed": lambda t: t.t(),
    "columns": lambda t: t[:, 1:],
}


def _orders(write: Callable[[Any], tuple[Any, Any]]) -> list[Any]:
    """Gradients of the first three orders through a tensor and the part of it that was written."""
    x = gradd.tensor([[1.0, 2.0], [0.5, -0.3]], dtype=gradd.float64, requires_grad=True)
    whole, part = write(x * x)
    (first,) = gradd.autograd.grad((whole.pow(2) * part.sum()).sum(), [x], create_graph=True)
    (second,) = gradd.autograd.grad((first * first).sum(), [x], create_graph=True)
    (third,) = gradd.autograd.grad(second.sum(), [x])
    return [t.detach().numpy() for t in (first, second, third)]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["relu", "exp", "sigmoid", "tanh", "sqrt"])
def test_they_are_those_of_what_is_put_together_anew(view: str, name: str) -> None:
    seen = VIEWS[view]

    def in_place(t: Any) -> tuple[Any, Any]:
        part = seen(t)
        getattr(part, f"{name}_")()
        return t, part

    def anew(t: Any) -> tuple[Any, Any]:
        inside = gradd.zeros(2, 2, dtype=gradd.bool)
        seen(inside).fill_(True)
        found = gradd.where(inside, getattr(t, name)(), t)
        return found, seen(found)

    want = _orders(anew)
    for _ in range(4):  # planned from the third on
        for got, ought in zip(_orders(in_place), want, strict=True):
            np.testing.assert_allclose(got, ought, rtol=1e-9, atol=1e-9)


def test_what_a_view_was_written_with_may_be_mutated() -> None:
    x = gradd.tensor([1.0, 2.0], dtype=gradd.float64, requires_grad=True)
    with gradd.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        y[1:].exp_()
        z = y.sum()
        y.zero_()
        z.backward()
    np.testing.assert_allclose(x.grad.numpy(), [1.0, np.exp(2.0)])
