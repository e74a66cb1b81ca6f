"""RMSprop (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.optim.adaptive_steps import rmsprop_step
from gradd_engine.ops.shared.constants import zeros_like

from .optimizer import GroupedOptimizer, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class RMSprop(GroupedOptimizer):
    """Gradients divided by the root of their mean square.

    ``state[p]``: step (0-dim float32), square_avg; momentum_buffer with `momentum`, grad_avg if `centered`.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.RMSprop.html. ValueError for bad options.
    """

    _no_sparse = "RMSprop does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        nonnegative("learning rate", lr)
        nonnegative("epsilon value", eps)
        nonnegative("momentum value", momentum)
        nonnegative("weight_decay value", weight_decay)
        nonnegative("alpha value", alpha)
        defaults = options(
            lr=lr,
            momentum=momentum,
            alpha=alpha,
            eps=eps,
            centered=centered,
            weight_decay=weight_decay,
            capturable=capturable,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
        )
        super().__init__(params, defaults)

    def _state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter(p)
            state["square_avg"] = zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = zeros_like(p)
        return state

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        states = [self._state_of(p, group) for p in params]
        rmsprop_step(
            params,
            [p._gradient for p in params],
            [s["square_avg"] for s in states],
            [s["step"] for s in states],
            [s["momentum_buffer"] for s in states] if group["momentum"] > 0 else [],
            [s["grad_avg"] for s in states] if group["centered"] else [],
            self.found_inf,
            lr=float(group["lr"]),
            alpha=float(group["alpha"]),
            eps=float(group["eps"]),
            weight_decay=float(group["weight_decay"]),
            momentum=float(group["momentum"]),
            maximize=group["maximize"],
        )
