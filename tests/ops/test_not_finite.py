"""Gradients that are not finite stay where they are: what an op takes nothing from gets zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gradd
import pytest

BAD = (math.nan, math.inf, -math.inf)


def _set(x: Any, m: Any, v: Any) -> Any:
    y = x * 1
    y[m] = v
    return y


F: dict[str, Callable[..., Any]] = {
    "masked_fill": lambda T, x, v, m: x.masked_fill(m, v),
    "brackets with a mask": lambda T, x, v, m: _set(x, m, v),
    "index_put_ with a mask": lambda T, x, v, m: (x * 1).index_put_((m,), v),
    "index_put_": lambda T, x, v, m: (x * 1).index_put_((T.tensor([1, 2]),), T.stack([v, v])),
    "index_put_ that adds": lambda T, x, v, m: (x * 1).index_put_(
        (T.tensor([1, 1]),), T.stack([v, v]), accumulate=True
    ),
    "where": lambda T, x, v, m: T.where(m, v, x),
    "index_fill": lambda T, x, v, m: x.index_fill(0, T.tensor([1]), v),
    "index_copy": lambda T, x, v, m: x.index_copy(0, T.tensor([1]), T.stack([v])),
    "masked_scatter": lambda T, x, v, m: x.masked_scatter(m, T.stack([v, v, v, v])),
    "masked_select": lambda T, x, v, m: x.masked_select(m) * v,
    "scatter": lambda T, x, v, m: x.scatter(0, T.tensor([1]), T.stack([v])),
    "slice_scatter": lambda T, x, v, m: x.slice_scatter(T.stack([v]), 0, 1, 2),
    "gather": lambda T, x, v, m: x.gather(0, T.tensor([0, 0, 3])),
    "max": lambda T, x, v, m: x.max(),
    "median": lambda T, x, v, m: x.median(),
    "nanmedian": lambda T, x, v, m: x.nanmedian(),
    "amax": lambda T, x, v, m: x.amax(),
    "cummax": lambda T, x, v, m: x.cummax(0)[0],
    "maximum": lambda T, x, v, m: T.maximum(x, v),
    "clamp": lambda T, x, v, m: x.clamp(min=v),
    "relu": lambda T, x, v, m: x.relu(),
    "leaky_relu": lambda T, x, v, m: T.nn.functional.leaky_relu(x),
    "elu": lambda T, x, v, m: T.nn.functional.elu(x),
    "hardtanh": lambda T, x, v, m: T.nn.functional.hardtanh(x),
    "hardswish": lambda T, x, v, m: T.nn.functional.hardswish(x),
    "hardshrink": lambda T, x, v, m: T.nn.functional.hardshrink(x),
    "threshold": lambda T, x, v, m: T.nn.functional.threshold(x, 0.5, 0.0),
    "prelu": lambda T, x, v, m: T.nn.functional.prelu(x, v.reshape(1)),
    "abs": lambda T, x, v, m: x.abs(),
    "tril": lambda T, x, v, m: T.outer(x, x).tril(),
    "pad": lambda T, x, v, m: T.nn.functional.pad(x, (1, 1)),
    "max_pool1d": lambda T, x, v, m: T.nn.functional.max_pool1d(x.reshape(1, 1, 4), 2),
    "sort": lambda T, x, v, m: x.sort()[0],
    "topk": lambda T, x, v, m: x.topk(2)[0],
    "quantile": lambda T, x, v, m: x.quantile(0.5),
    "embedding": lambda T, x, v, m: T.nn.functional.embedding(
        T.tensor([0, 1, 0, 1]), x.reshape(4, 1), padding_idx=0
    ),
    "nll_loss": lambda T, x, v, m: T.nn.functional.nll_loss(
        x.reshape(2, 2), T.tensor([0, -100]), reduction="none"
    ),
    "kl_div": lambda T, x, v, m: T.nn.functional.kl_div(
        x, T.tensor([0.0, 0.5, 0.0, 0.5], dtype=T.float64), reduction="none"
    ),
}


def gradients(T: Any, name: str, bad: float) -> list[Any]:
    """Of the input and of the value that is written, where the gradient of each second element is `bad`."""
    x = T.tensor([0.5, 2.0, -1.0, -0.25], dtype=T.float64, requires_grad=True)
    v = T.tensor(1.5, dtype=T.float64, requires_grad=True)
    y = F[name](T, x, v, T.tensor([False, True, False, True]))
    given = T.tensor(([bad, 1.0, bad, 2.0] * 8)[: y.numel()], dtype=T.float64).reshape(y.shape)
    y.backward(given)
    return [value for t in (x, v) for value in ([None] if t.grad is None else t.grad.reshape(-1).tolist())]


@pytest.mark.oracle
@pytest.mark.parametrize("name", F)
def test_they_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    with gradd.connect("local:"):
        for bad in BAD:
            ours, theirs = gradients(gradd, name, bad), gradients(torch, name, bad)
            assert [a is None for a in ours] == [b is None for b in theirs]
            numbers = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None]
            assert [a for a, _ in numbers] == pytest.approx([b for _, b in numbers], nan_ok=True)


@pytest.mark.parametrize("bad", BAD)
def test_what_is_not_taken_gets_nothing(bad: float) -> None:
    with gradd.connect("local:"):
        for name in ("brackets with a mask", "index_put_ with a mask", "masked_fill"):
            assert gradients(gradd, name, bad)[4] == 3.0, name
        for name, at in (("max", 1), ("median", 3), ("nanmedian", 3)):
            found = gradients(gradd, name, bad)
            assert [g for n, g in enumerate(found[:4]) if n != at] == [0.0, 0.0, 0.0], name
            assert not math.isfinite(found[at]), name
