"""Gradients of each sample by vmap over grad, clipped to a length and averaged, as private training does.

Run it as

    python examples/per_sample.py [url]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

SAMPLES, FEATURES, HIDDEN, LIMIT = 16, 6, 8, 1.0


def run(torch: Any) -> dict[str, float]:
    """The lengths of the samples' gradients, of their clipped mean; and how far a loop is from the batch."""
    chance = np.random.default_rng(5)

    def tensor(*shape: int) -> Any:
        return torch.tensor(chance.normal(size=shape), dtype=torch.float64)

    weights = {"w": tensor(FEATURES, HIDDEN), "v": tensor(HIDDEN)}
    x, y = tensor(SAMPLES, FEATURES), tensor(SAMPLES)

    def loss(weights: dict[str, Any], x: Any, y: Any) -> Any:
        return (torch.tanh(x @ weights["w"]) @ weights["v"] - y) ** 2

    each = torch.func.grad(loss)
    gradients = torch.func.vmap(each, in_dims=(None, 0, 0))(weights, x, y)
    flat = torch.cat([g.reshape(SAMPLES, -1) for g in gradients.values()], 1)
    lengths = flat.norm(dim=1)
    clipped = flat * (LIMIT / lengths).clamp(max=1.0)[:, None]
    one_by_one = torch.stack([each(weights, x[i], y[i])["w"] for i in range(SAMPLES)])
    return {
        "shortest gradient": lengths.min().item(),
        "longest gradient": lengths.max().item(),
        "length of the clipped mean": clipped.mean(0).norm().item(),
        "largest difference from a loop": (gradients["w"] - one_by_one).abs().max().item(),
    }


if __name__ == "__main__":
    import gradd

    with gradd.connect(*sys.argv[1:2]):
        for name, figure in run(gradd).items():
            print(f"{name}: {figure:.6f}")
