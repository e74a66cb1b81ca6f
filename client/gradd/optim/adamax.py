"""Adamax (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.optim.moment_steps import adamax_step
from gradd_engine.ops.shared.constants import zeros_like

from .optimizer import GroupedOptimizer, betas_within, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class Adamax(GroupedOptimizer):
    """Adam with the largest recent gradient in place of the root of the mean square.

    ``state[p]``: step (0-dim float32), exp_avg, exp_inf.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.Adamax.html. ValueError for bad options.
    """

    _no_sparse = "Adamax does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        nonnegative("learning rate", lr)
        nonnegative("epsilon value", eps)
        betas_within(betas)
        nonnegative("weight_decay value", weight_decay)
        defaults = options(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, defaults)

    def _state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter(p)
            state["exp_avg"] = zeros_like(p)
            state["exp_inf"] = zeros_like(p)
        return state

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        states = [self._state_of(p, group) for p in params]
        beta1, beta2 = group["betas"]
        adamax_step(
            params,
            [p._gradient for p in params],
            [s["exp_avg"] for s in states],
            [s["exp_inf"] for s in states],
            [s["step"] for s in states],
            self.found_inf,
            lr=float(group["lr"]),
            beta1=float(beta1),
            beta2=float(beta2),
            eps=float(group["eps"]),
            weight_decay=float(group["weight_decay"]),
            maximize=group["maximize"],
        )
