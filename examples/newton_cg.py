"""Newton's method without a Hessian: conjugate gradients on Hessian-vector products.

A product is a gradient of a gradient, so the matrix is never made. Run it as

    python examples/newton_cg.py [url]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

POINTS, FEATURES, NEWTON, INNER = 100, 12, 5, 12


def conjugate_gradients(product: Callable[[Any], Any], b: Any, steps: int) -> Any:
    """An approximate solution of ``A x = b``, where ``product(v)`` is ``A v``; no value is read for it."""
    x, r, p = b * 0, b, b
    length = r @ r
    for _ in range(steps):
        ap = product(p)
        alpha = length / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        length, before = r @ r, length
        p = r + (length / before) * p
    return x


def hessian_product(torch: Any, gradient: Any, w: Any, v: Any) -> Any:
    """The Hessian with respect to `w` times `v`, from a gradient that was recorded."""
    (product,) = torch.autograd.grad(gradient, w, v, retain_graph=True)
    return product


def run(torch: Any) -> dict[str, float]:
    """Fit a logistic regression; its loss and the length of its gradient, before and after."""
    chance = np.random.default_rng(3)
    data = chance.normal(size=(POINTS, FEATURES))
    labels = (data @ chance.normal(size=FEATURES) + chance.normal(size=POINTS) > 0).astype(float)
    x, y = torch.tensor(data, dtype=torch.float64), torch.tensor(labels, dtype=torch.float64)
    w = torch.zeros(FEATURES, dtype=torch.float64, requires_grad=True)
    history = []
    for _ in range(NEWTON + 1):
        z = x @ w
        loss = (torch.nn.functional.softplus(z) - y * z).mean() + 0.005 * (w @ w)
        (gradient,) = torch.autograd.grad(loss, w, create_graph=True)
        history.append((loss.detach(), gradient.detach().norm()))

        product = partial(hessian_product, torch, gradient, w)
        step = conjugate_gradients(product, gradient.detach(), INNER)
        with torch.no_grad():
            w -= step
    (first, _), (last, length) = history[0], history[-1]
    return {"loss at zero": first.item(), "at the end": last.item(), "length of the gradient": length.item()}


if __name__ == "__main__":
    import gradd

    with gradd.connect(*sys.argv[1:2]):
        for name, figure in run(gradd).items():
            print(f"{name}: {figure:.6f}")
