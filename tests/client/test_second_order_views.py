"""Second and third gradients of what is written in place to a view, where the written op saved its result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
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


SEEN: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "real part": (lambda z: gradd.view_as_real(z)[..., 0], lambda z: z.real),
    "conjugate": (lambda z: z.conj()[1:], lambda z: z.conj()[1:]),
    "pairs": (lambda z: gradd.view_as_complex(z)[:1], lambda z: gradd.view_as_complex(z)[:1]),
}


@pytest.mark.parametrize("hooks", [False, True])
@pytest.mark.parametrize("seen", SEEN)
def test_of_views_of_another_dtype(seen: str, hooks: bool) -> None:
    view, part = SEEN[seen]

    def orders(in_place: bool) -> list[Any]:
        x = gradd.tensor([[0.3, 0.2], [0.5, -0.1]], dtype=gradd.float64, requires_grad=True)
        y = x * 0.5 if seen == "pairs" else gradd.complex(x[0] * 0.5, x[1])
        if in_place:
            view(y).exp_()
        elif seen == "pairs":
            y = gradd.stack([gradd.view_as_real(gradd.view_as_complex(y)[0].exp()), y[1]])
        elif seen == "real part":
            y = gradd.complex(y.real.exp(), y.imag)
        else:
            y = gradd.stack([y[0], y[1].exp()])
        out = (y * y.conj()).real.sum() if y.is_complex() else (y**3).sum()
        (first,) = gradd.autograd.grad(out + part(y).abs().sum(), x, create_graph=True)
        (second,) = gradd.autograd.grad((first * first).sum(), x, create_graph=True)
        (third,) = gradd.autograd.grad(second.sum(), x)
        return [t.detach().numpy() for t in (first, second, third)]

    with gradd.autograd.graph.saved_tensors_hooks(gradd.clone, lambda t: t) if hooks else nullcontext():
        want = orders(False)
        for _ in range(4):  # planned from the third on
            for got, ought in zip(orders(True), want, strict=True):
                np.testing.assert_allclose(got, ought, rtol=1e-9, atol=1e-9)
