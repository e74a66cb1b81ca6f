"""The models, losses and optimizers of the training tasks in jax, by what they stand for. `jax` is the
module; parameters are a list, in the order and the layout of the shared spelling (`models.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .models import convnet, mlp, transformer
from .training import ADAM_LR, SGD_LR, adam, cross_entropy, sgd, squares


def _mlp(jax: Any, p: Any, x: Any) -> Any:
    """Linear layers with ReLU between them; weights are (out, in)."""
    for n in range(0, len(p), 2):
        x = (jax.nn.relu(x) if n else x) @ p[n].T + p[n + 1]
    return x


def _convnet(jax: Any, p: Any, x: Any) -> Any:
    """Two convolutions, a pooling by 2, then the layers of an MLP."""
    for n in (0, 2):
        x = jax.lax.conv_general_dilated(x, p[n], (1, 1), "VALID") + p[n + 1][:, None, None]
        x = jax.nn.relu(x)
    x = jax.lax.reduce_window(x, -math.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return _mlp(jax, p[4:], x.reshape(len(x), -1))


def _norm(jax: Any, p: Any, x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p[0] + p[1]


def _transformer(jax: Any, p: Any, x: Any, heads: int = 4) -> Any:
    """Blocks of twelve parameters each."""
    n, length, width = x.shape
    seen = jax.numpy.tril(jax.numpy.ones((length, length), bool))
    for at in range(0, len(p), 12):
        norm1, norm2, qkv, out, up, down = (p[at + i : at + i + 2] for i in range(0, 12, 2))
        q, k, v = (
            part.reshape(n, length, heads, width // heads).swapaxes(1, 2)
            for part in jax.numpy.split(_norm(jax, norm1, x) @ qkv[0].T + qkv[1], 3, -1)
        )
        scores = jax.numpy.where(seen, q @ k.swapaxes(2, 3) / math.sqrt(width // heads), -math.inf)
        mixed = (jax.nn.softmax(scores) @ v).swapaxes(1, 2).reshape(n, length, width)
        x = x + mixed @ out[0].T + out[1]
        wide = jax.nn.gelu(_norm(jax, norm2, x) @ up[0].T + up[1], approximate=False)
        x = x + wide @ down[0].T + down[1]
    return x


def _cross_entropy(jax: Any, out: Any, y: Any) -> Any:
    return -jax.numpy.take_along_axis(jax.nn.log_softmax(out), y[:, None], 1).mean()


def _squares(jax: Any, out: Any, y: Any) -> Any:
    return ((out - y) ** 2).mean()


def _sgd(jax: Any, state: Any, gradients: Any) -> Any:
    return ([p - SGD_LR * g for p, g in zip(state[0], gradients, strict=True)],)


def _adam_state(jax: Any, p: Any) -> Any:
    """Parameters, both moments, and the steps made."""
    zeros = jax.numpy.zeros_like
    return p, [zeros(a) for a in p], [zeros(a) for a in p], jax.numpy.float32(0)


def _adam(jax: Any, state: Any, gradients: Any) -> Any:
    parameters, means, squares, steps = state
    steps = steps + 1
    means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients, strict=True)]
    squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, gradients, strict=True)]
    rate, root = ADAM_LR / (1 - 0.9**steps), jax.numpy.sqrt(1 - 0.999**steps)
    after = [
        p - rate * m / (jax.numpy.sqrt(s) / root + 1e-8)
        for p, m, s in zip(parameters, means, squares, strict=True)
    ]
    return after, means, squares, steps


FORWARD: dict[Callable[..., Any], Callable[..., Any]] = {
    mlp: _mlp,
    convnet: _convnet,
    transformer: _transformer,
}
LOSS: dict[Callable[..., Any], Callable[..., Any]] = {cross_entropy: _cross_entropy, squares: _squares}
#: the state that an optimizer begins with, parameters first, and the state after gradients
OPTIMIZER: dict[Callable[..., Any], tuple[Callable[..., Any], Callable[..., Any]]] = {
    sgd: (lambda jax, p: (p,), _sgd),
    adam: (_adam_state, _adam),
}
