"""The 60 commonest ops of training scripts, each at three sizes, for gradd's engine and torch alike.

A case makes its arrays from a size and is called with a library (`torch`, or the engine under torch's names)
and those arrays as tensors. Where its backward matters, the arrays that get gradients are named by position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: elements of the main operand
SIZES = {"small": 1 << 10, "middle": 1 << 17, "large": 1 << 22}
#: elements of a row, by size
_ROW = {1 << 10: 64, 1 << 17: 256, 1 << 22: 1024}
#: images [N, C, H, W], by size
_IMAGES = {1 << 10: (1, 4, 16, 16), 1 << 17: (2, 16, 64, 64), 1 << 22: (8, 32, 128, 128)}
#: batch, heads, positions; 64 features each
_HEADS = {1 << 10: (1, 1, 16), 1 << 17: (1, 8, 256), 1 << 22: (4, 16, 1024)}

Arrays = list[Any]


@dataclass(frozen=True)
class Case:
    """One op. `grads`: positions of the arrays that get gradients, where its backward is measured too."""

    name: str
    arrays: Callable[[int, np.random.Generator], Arrays]
    call: Callable[..., Any]
    grads: tuple[int, ...] = ()


def _random(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def _shape(n: int) -> tuple[int, int]:
    return n // _ROW[n], _ROW[n]


def rows(n: int, rng: np.random.Generator) -> Arrays:
    """A matrix."""
    return [_random(rng, *_shape(n))]


def positive(n: int, rng: np.random.Generator) -> Arrays:
    """A matrix of positive numbers."""
    return [np.abs(_random(rng, *_shape(n))) + np.float32(0.1)]


def two(n: int, rng: np.random.Generator) -> Arrays:
    """Two matrices, the second with no element near 0."""
    return rows(n, rng) + positive(n, rng)


def and_row(n: int, rng: np.random.Generator) -> Arrays:
    """A matrix and a row of it."""
    return [*rows(n, rng), _random(rng, _ROW[n])]


def normed(n: int, rng: np.random.Generator) -> Arrays:
    """A matrix, a weight and a bias."""
    return [*and_row(n, rng), _random(rng, _ROW[n])]


def masked(n: int, rng: np.random.Generator) -> Arrays:
    """Two matrices and a mask."""
    return [*two(n, rng), rng.random(_shape(n)) < 0.3]


def product(n: int, rng: np.random.Generator) -> Arrays:
    """A matrix, and one to multiply it with."""
    return [*rows(n, rng), _random(rng, _ROW[n], _ROW[n])]


def linear(n: int, rng: np.random.Generator) -> Arrays:
    """A matrix, a layer's weight and its bias."""
    return [*product(n, rng), _random(rng, _ROW[n])]


def batches(n: int, rng: np.random.Generator) -> Arrays:
    """Two batches of matrices to multiply."""
    batch, heads, length = _HEADS[n]
    return [_random(rng, batch * heads, length, 64), _random(rng, batch * heads, 64, length)]


def heads(n: int, rng: np.random.Generator) -> Arrays:
    """Query, key and value."""
    return [_random(rng, *_HEADS[n], 64) for _ in range(3)]


def images(n: int, rng: np.random.Generator) -> Arrays:
    """Images."""
    return [_random(rng, *_IMAGES[n])]


def channels(n: int, rng: np.random.Generator) -> Arrays:
    """Images, and a number a channel, four times: two of them positive."""
    count = _IMAGES[n][1]
    some = [_random(rng, count) for _ in range(2)]
    return [*images(n, rng), *some, np.zeros(count, np.float32), np.ones(count, np.float32)]


def filters(*window: int, own: bool = False) -> Callable[[int, np.random.Generator], Arrays]:
    """Images and filters of this window; with `own`, a filter a channel."""

    def arrays(n: int, rng: np.random.Generator) -> Arrays:
        count = _IMAGES[n][1]
        return [*images(n, rng), _random(rng, count, 1 if own else count, *window)]

    return arrays


def lines(n: int, rng: np.random.Generator) -> Arrays:
    """Sequences of channels, and filters of 3."""
    batch, count, height, width = _IMAGES[n]
    return [_random(rng, batch, count, height * width), _random(rng, count, count, 3)]


def table(n: int, rng: np.random.Generator) -> Arrays:
    """A table, and places of as many of its rows."""
    count, _ = _shape(n)
    return [*rows(n, rng), rng.integers(0, count, count)]


def into(n: int, rng: np.random.Generator) -> Arrays:
    """A table, places of its rows, and rows."""
    return [*table(n, rng), *rows(n, rng)]


def elements(n: int, rng: np.random.Generator) -> Arrays:
    """A matrix, a place in its row for every element, and a matrix."""
    return [*rows(n, rng), rng.integers(0, _ROW[n], _shape(n)), *rows(n, rng)]


def classes(n: int, rng: np.random.Generator) -> Arrays:
    """Scores of classes, and the right ones."""
    count, width = _shape(n)
    return [*rows(n, rng), rng.integers(0, width, count)]


def several(n: int, rng: np.random.Generator) -> Arrays:
    """Four matrices, of `n` elements together."""
    count, width = _shape(n)
    return [_random(rng, count // 4, width) for _ in range(4)]


_F = "functional"

CASES = (
    # elementwise
    Case("add", two, lambda t, x, y: x + y),
    Case("add, a row to each", and_row, lambda t, x, y: x + y, (0, 1)),
    Case("add, a number", rows, lambda t, x: x + 1.5),
    Case("sub", two, lambda t, x, y: x - y),
    Case("mul", two, lambda t, x, y: x * y, (0, 1)),
    Case("mul, a number", rows, lambda t, x: x * 0.5),
    Case("div", two, lambda t, x, y: x / y),
    Case("pow 2", rows, lambda t, x: x**2, (0,)),
    Case("exp", rows, lambda t, x: x.exp()),
    Case("log", positive, lambda t, x: x.log()),
    Case("sqrt", positive, lambda t, x: x.sqrt()),
    Case("abs", rows, lambda t, x: x.abs()),
    Case("clamp", rows, lambda t, x: x.clamp(-1.0, 1.0)),
    Case("maximum", two, lambda t, x, y: t.maximum(x, y)),
    Case("greater", two, lambda t, x, y: x > y),
    Case("where", masked, lambda t, x, y, m: t.where(m, x, y)),
    Case("masked_fill", masked, lambda t, x, y, m: x.masked_fill(m, -1e9), (0,)),
    Case("tanh", rows, lambda t, x: x.tanh(), (0,)),
    Case("sigmoid", rows, lambda t, x: x.sigmoid(), (0,)),
    Case("relu", rows, lambda t, x: t.relu(x), (0,)),
    Case("leaky_relu", rows, lambda t, x: t.functional.leaky_relu(x, 0.2), (0,)),
    Case("gelu", rows, lambda t, x: t.functional.gelu(x), (0,)),
    Case("silu", rows, lambda t, x: t.functional.silu(x), (0,)),
    Case("dropout", rows, lambda t, x: t.functional.dropout(x, 0.1, True), (0,)),
    # reductions
    Case("sum", rows, lambda t, x: x.sum()),
    Case("sum, last dimension", rows, lambda t, x: x.sum(-1)),
    Case("sum, first dimension", rows, lambda t, x: x.sum(0)),
    Case("mean", rows, lambda t, x: x.mean(-1)),
    Case("var", rows, lambda t, x: x.var(-1)),
    Case("norm", rows, lambda t, x: x.norm()),
    Case("max", rows, lambda t, x: x.max(-1)),
    Case("argmax", rows, lambda t, x: x.argmax(-1)),
    Case("cumsum", rows, lambda t, x: x.cumsum(-1)),
    Case("softmax", rows, lambda t, x: x.softmax(-1), (0,)),
    Case("log_softmax", rows, lambda t, x: x.log_softmax(-1), (0,)),
    Case("cross_entropy", classes, lambda t, x, y: t.functional.cross_entropy(x, y), (0,)),
    Case("mse_loss", two, lambda t, x, y: t.functional.mse_loss(x, y), (0,)),
    # norms
    Case("layer_norm", normed, lambda t, x, w, b: t.functional.layer_norm(x, x.shape[1:], w, b), (0, 1, 2)),
    Case(
        "batch_norm", channels,
        lambda t, x, w, b, mean, var: t.functional.batch_norm(x, mean, var, w, b, True), (0, 1, 2),
    ),
    Case("group_norm", channels, lambda t, x, w, b, *_: t.functional.group_norm(x, 4, w, b), (0, 1, 2)),
    # products
    Case("matmul", product, lambda t, x, y: x @ y),
    Case("bmm", batches, lambda t, x, y: t.bmm(x, y), (0, 1)),
    Case("linear", linear, lambda t, x, w, b: t.functional.linear(x, w, b), (0, 1, 2)),
    Case(
        "attention", heads,
        lambda t, q, k, v: t.functional.scaled_dot_product_attention(q, k, v), (0, 1, 2),
    ),
    Case(
        "attention, causal", heads,
        lambda t, q, k, v: t.functional.scaled_dot_product_attention(q, k, v, is_causal=True), (0, 1, 2),
    ),
    # images
    Case("conv2d", filters(3, 3), lambda t, x, w: t.functional.conv2d(x, w, padding=1), (0, 1)),
    Case(
        "conv2d, stride 2, a channel each", filters(3, 3, own=True),
        lambda t, x, w: t.functional.conv2d(x, w, stride=2, padding=1, groups=x.shape[1]), (0, 1),
    ),
    Case("conv1d", lines, lambda t, x, w: t.functional.conv1d(x, w, padding=1), (0, 1)),
    Case("max_pool2d", images, lambda t, x: t.functional.max_pool2d(x, 2), (0,)),
    Case("avg_pool2d", images, lambda t, x: t.functional.avg_pool2d(x, 2), (0,)),
    # places
    Case("embedding", table, lambda t, w, i: t.functional.embedding(i, w), (0,)),
    Case("index_select", table, lambda t, x, i: x.index_select(0, i), (0,)),
    Case("x[index]", table, lambda t, x, i: x[i], (0,)),
    Case("gather", elements, lambda t, x, i, _: x.gather(1, i), (0,)),
    Case("scatter_add", elements, lambda t, x, i, y: x.scatter_add(1, i, y), (0, 2)),
    Case("index_put, adding", into, lambda t, x, i, y: x.index_put((i,), y, accumulate=True)),
    # arranging
    Case("cat", several, lambda t, *x: t.cat(x, 1), (0, 1, 2, 3)),
    Case("transpose, contiguous", rows, lambda t, x: x.t().contiguous()),
    Case("sort", rows, lambda t, x: x.sort(-1)[0], (0,)),
    Case("topk 10", rows, lambda t, x: x.topk(10)[0], (0,)),
)  # fmt: skip
