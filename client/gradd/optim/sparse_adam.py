"""SparseAdam (torch.optim): Adam of the rows that a sparse gradient specifies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradd_engine.ops.shared.constants import zeros_like
from gradd_engine.schema import named

from .optimizer import GroupedOptimizer, betas_within

if TYPE_CHECKING:
    from collections.abc import Iterable


class SparseAdam(GroupedOptimizer):
    """Adam that leaves parameters and moments as they are where a sparse gradient specifies nothing.

    ``state[p]``: step (int), exp_avg, exp_avg_sq.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html. ValueError for bad options
    and for sparse or complex parameters, RuntimeError for dense gradients.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        betas_within(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        held = [
            ([i, j], p) for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"])
        ]
        for kind, found, why in (
            ("Sparse", [at for at, p in held if p.is_sparse], "requires dense parameter tensors"),
            ("Complex", [at for at, p in held if p.is_complex()], "does not support complex parameters"),
        ):
            if found:
                raise ValueError(f"{kind} params at indices {found}: SparseAdam {why}")

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        for p in params:
            if not p._gradient.is_sparse:
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
            state = self.state[p]
            if not state:
                state["step"], state["exp_avg"], state["exp_avg_sq"] = 0, zeros_like(p), zeros_like(p)
            state["step"] += 1
            _step(group, p, state)


def _step(group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
    """Without a gradient's places being read: what is not specified is masked out."""
    beta1, beta2 = (float(beta) for beta in group["betas"])
    mean, square, step = state["exp_avg"], state["exp_avg_sq"], state["step"]
    sparse = p.grad
    there = sparse._mask().ne(0)
    g = named.neg(sparse) if group["maximize"] else sparse
    mean.add_(named.where(there, named.sub(g, mean) * (1 - beta1), 0))
    square.add_(named.where(there, named.sub(named.mul(g, g), square) * (1 - beta2), 0))
    rate = float(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    p.add_(named.where(there, mean / (square.sqrt() + group["eps"]) * -rate, 0))
