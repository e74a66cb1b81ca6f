"""NAdam (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.optim.moment_steps import nadam_step
from gradd_engine.ops.shared.constants import zeros_like

from .optimizer import GroupedOptimizer, betas_within, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class NAdam(GroupedOptimizer):
    """Adam with Nesterov momentum.

    ``state[p]``: step and mu_product (0-dim float32), exp_avg, exp_avg_sq.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.NAdam.html. ValueError for bad options.
    """

    _no_sparse = "NAdam does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        nonnegative("learning rate", lr)
        nonnegative("epsilon value", eps)
        betas_within(betas)
        nonnegative("weight_decay value", weight_decay)
        nonnegative("momentum_decay value", momentum_decay)
        defaults = options(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
        )
        super().__init__(params, defaults)

    def _state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter(p)
            state["mu_product"] = counter(p, 1.0)
            state["exp_avg"] = zeros_like(p)
            state["exp_avg_sq"] = zeros_like(p)
        return state

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        states = [self._state_of(p, group) for p in params]
        beta1, beta2 = group["betas"]
        nadam_step(
            params,
            [p._gradient for p in params],
            [s["exp_avg"] for s in states],
            [s["exp_avg_sq"] for s in states],
            [s["mu_product"] for s in states],
            [s["step"] for s in states],
            self.found_inf,
            lr=float(group["lr"]),
            beta1=float(beta1),
            beta2=float(beta2),
            eps=float(group["eps"]),
            weight_decay=float(group["weight_decay"]),
            momentum_decay=float(group["momentum_decay"]),
            maximize=group["maximize"],
            decoupled=group["decoupled_weight_decay"],
        )
