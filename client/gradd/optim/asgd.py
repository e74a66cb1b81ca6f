"""ASGD (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.optim.rate_steps import asgd_step
from gradd_engine.ops.shared.constants import zeros_like

from .optimizer import GroupedOptimizer, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class ASGD(GroupedOptimizer):
    """Averaged stochastic gradient descent: the averages are in the state, the parameters are not averaged.

    ``state[p]``: step, eta and mu (0-dim float32), ax (the average).
    Source: https://pytorch.org/docs/stable/generated/torch.optim.ASGD.html. ValueError for bad options.
    """

    _no_sparse = "ASGD does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        nonnegative("learning rate", lr)
        nonnegative("weight_decay value", weight_decay)
        defaults = options(
            lr=lr,
            lambd=lambd,
            alpha=alpha,
            t0=t0,
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
            state["eta"] = counter(p, float(group["lr"]))
            state["mu"] = counter(p, 1.0)
            state["ax"] = zeros_like(p)
        return state

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        states = [self._state_of(p, group) for p in params]
        asgd_step(
            params,
            [p._gradient for p in params],
            [s["ax"] for s in states],
            [s["mu"] for s in states],
            [s["eta"] for s in states],
            [s["step"] for s in states],
            self.found_inf,
            lr=float(group["lr"]),
            lambd=float(group["lambd"]),
            alpha=float(group["alpha"]),
            t0=float(group["t0"]),
            weight_decay=float(group["weight_decay"]),
            maximize=group["maximize"],
        )
