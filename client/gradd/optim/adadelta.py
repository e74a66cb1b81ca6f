"""Adadelta (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.optim.rate_steps import adadelta_step
from gradd_engine.ops.shared.constants import zeros_like

from .optimizer import GroupedOptimizer, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class Adadelta(GroupedOptimizer):
    """Gradients scaled by the root mean square of past updates over that of past gradients.

    ``state[p]``: step (0-dim float32), square_avg, acc_delta.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.Adadelta.html. ValueError for bad options.
    """

    _no_sparse = "Adadelta does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        nonnegative("learning rate", lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        nonnegative("epsilon value", eps)
        nonnegative("weight_decay value", weight_decay)
        defaults = options(
            lr=lr,
            rho=rho,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            capturable=capturable,
            foreach=foreach,
            differentiable=differentiable,
        )
        super().__init__(params, defaults)

    def _state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter(p)
            state["square_avg"] = zeros_like(p)
            state["acc_delta"] = zeros_like(p)
        return state

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        states = [self._state_of(p, group) for p in params]
        adadelta_step(
            params,
            [p._gradient for p in params],
            [s["square_avg"] for s in states],
            [s["acc_delta"] for s in states],
            [s["step"] for s in states],
            self.found_inf,
            lr=float(group["lr"]),
            rho=float(group["rho"]),
            eps=float(group["eps"]),
            weight_decay=float(group["weight_decay"]),
            maximize=group["maximize"],
        )
