"""A deep network whose blocks are computed again in the backward pass, so that it keeps one block at a time.

Run it as

    python examples/checkpointed.py [url]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

BLOCKS, WIDTH, SAMPLES = 24, 16, 8


def run(torch: Any) -> dict[str, float]:
    """The loss and the length of the gradient with checkpoints, and how far they are from those without."""
    from importlib import import_module

    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    chance = np.random.default_rng(6)

    def tensor(*shape: int, scale: float = 1.0) -> Any:
        return torch.tensor(chance.normal(0, scale, shape), dtype=torch.float64)

    weights = [tensor(WIDTH, WIDTH, scale=WIDTH**-0.5).requires_grad_() for _ in range(BLOCKS)]
    x, calls = tensor(SAMPLES, WIDTH), 0

    def block(x: Any, w: Any) -> Any:
        nonlocal calls
        calls += 1
        return x + torch.tanh(x @ w)

    def gradient(checkpointed: bool) -> tuple[Any, Any]:
        h = x
        for w in weights:
            h = checkpoint(block, h, w, use_reentrant=False) if checkpointed else block(h, w)
        loss = (h**2).mean()
        return loss.detach(), torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, weights)])

    loss, with_them = gradient(True)
    again, without = gradient(False)
    return {
        "loss": loss.item(),
        "length of the gradient": with_them.norm().item(),
        "largest difference without checkpoints": max(
            (with_them - without).abs().max().item(), abs(loss.item() - again.item())
        ),
        "calls of a block": float(calls),
    }


if __name__ == "__main__":
    import gradd

    with gradd.connect(*sys.argv[1:2]):
        for name, figure in run(gradd).items():
            print(f"{name}: {figure:.6f}")
