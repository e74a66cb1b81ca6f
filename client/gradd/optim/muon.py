"""Muon (torch.optim): momentum whose matrices are made orthogonal by Newton and Schulz's iteration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes
from gradd_engine.ops.shared.constants import zeros_like

from .._surface import namespace
from .._tensor import Tensor
from .optimizer import GroupedOptimizer

if TYPE_CHECKING:
    from collections.abc import Iterable

_addmm = namespace("")["addmm"]
_ADJUSTMENTS = ("original", "match_rms_adamw")


class Muon(GroupedOptimizer):
    """Momentum, made orthogonal, for the matrices of hidden layers; other parameters need another optimizer.

    ``state[p]``: momentum_buffer. `adjust_lr_fn`: how the rate depends on a matrix's sizes, "original" (the
    default) or "match_rms_adamw".
    Source: https://pytorch.org/docs/stable/generated/torch.optim.Muon.html. ValueError for bad options, and
    parameters that are no matrices.
    """

    _no_sparse = "Muon does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for what, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{what} should be >= 0 but is: {value}")
        if adjust_lr_fn is not None and adjust_lr_fn not in _ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _settled(self, group: dict[str, Any], params: list[Any]) -> bool:
        return False  # a step is many ops

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, momentum = float(group["lr"]), group["momentum"]
        for p in params:
            if p.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            state, g = self.state[p], p._gradient
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(g)
            held = state["momentum_buffer"].lerp_(g, 1 - momentum)
            update = g.lerp(held, momentum) if group["nesterov"] else held
            update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
            p.mul_(1 - lr * group["weight_decay"])
            p.add_(update, alpha=-lr * _ratio(group["adjust_lr_fn"], *p.shape))


def _ratio(adjustment: str | None, rows: int, columns: int) -> float:
    """What the rate is multiplied by."""
    if adjustment == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def _orthogonal(g: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """The orthogonal matrix nearest to `g`, roughly, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = g.shape[0] > g.shape[1]
    x = g.to(dtypes.bfloat16)
    x = x.t() if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.t()
        x = _addmm(x, _addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.t() if tall else x
