"""MAML: learn weights that one step of gradient descent adapts to a new sine wave.

The outer gradient goes through the inner step, so it is of second order. Run it as

    python examples/maml.py [url]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

TASKS, POINTS, HIDDEN, STEPS, INNER, OUTER = 8, 10, 24, 60, 0.1, 0.02


def predict(torch: Any, weights: list[Any], x: Any) -> Any:
    """A network of one hidden layer, its weights given."""
    w1, b1, w2, b2 = weights
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def adapt(torch: Any, weights: list[Any], x: Any, y: Any) -> list[Any]:
    """The weights after one step on a task, as functions of the weights before it."""
    loss = ((predict(torch, weights, x) - y) ** 2).mean()
    gradients = torch.autograd.grad(loss, weights, create_graph=True)
    return [w - INNER * g for w, g in zip(weights, gradients, strict=True)]


def run(torch: Any) -> dict[str, float]:
    """Train; the error on new points of each wave after one step, before training and after it."""
    chance = np.random.default_rng(1)

    def tensor(array: Any) -> Any:
        return torch.tensor(array, dtype=torch.float64)

    weights = [
        tensor(chance.normal(0, scale, shape)).requires_grad_()
        for scale, shape in ((1.0, (1, HIDDEN)), (1.0, HIDDEN), (0.2, (HIDDEN, 1)), (0.0, 1))
    ]
    optimizer = torch.optim.SGD(weights, lr=OUTER, momentum=0.9)
    x = chance.uniform(-3, 3, (TASKS, 2, POINTS, 1))
    phase, height = chance.uniform(0, 1.5, (TASKS, 1, 1, 1)), chance.uniform(0.5, 2.0, (TASKS, 1, 1, 1))
    known, new = tensor(x), tensor(height * np.sin(x + phase))
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = 0.0
        for (x_seen, x_new), (y_seen, y_new) in zip(known, new, strict=True):
            adapted = adapt(torch, weights, x_seen, y_seen)
            loss = loss + ((predict(torch, adapted, x_new) - y_new) ** 2).mean() / TASKS
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return {"error after one step, untrained": losses[0].item(), "trained": losses[-1].item()}


if __name__ == "__main__":
    import gradd

    with gradd.connect(*sys.argv[1:2]):
        for name, figure in run(gradd).items():
            print(f"{name}: {figure:.6f}")
