"""What the models share: weights that NumPy draws, and the choice of what computes.

    python examples/models/char_gpt.py                    # gradd, in this process or at GRADD_URL
    python examples/models/char_gpt.py --backend torch    # the same curve

In float32 both round in other places, which a long training may enlarge; with `--float64` they agree.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np


def started(torch: Any, model: Any, seed: int = 0) -> Any:
    """The model with weights from NumPy, the same under torch and gradd; biases are 0, scales of norms 1."""
    chance = np.random.default_rng(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() > 1:
                spread = (p.numel() // p.shape[0]) ** -0.5
                p.copy_(tensor(torch, chance.normal(0, spread, tuple(p.shape))))
            elif "bias" in name:
                p.zero_()
    return model


def tensor(torch: Any, array: Any) -> Any:
    """An array as a tensor: real numbers in the default dtype, integers in int64."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        return torch.from_numpy(array).to(torch.get_default_dtype())
    return torch.from_numpy(array.astype("int64"))


def main(run: Callable[..., list[float]], steps: int) -> None:
    """Run an example from the command line and print its curve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", choices=("gradd", "torch"), default="gradd")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--float64", action="store_true")
    args = parser.parse_args()
    torch = importlib.import_module(args.backend)
    if args.float64:
        torch.set_default_dtype(torch.float64)
    with torch.connect() if args.backend == "gradd" else contextlib.nullcontext():
        curve = run(torch, args.steps)
    for step in range(0, len(curve), max(1, len(curve) // 10)):
        print(f"{step:5} {curve[step]:.4f}")
    print(f"  end {curve[-1]:.4f}")
