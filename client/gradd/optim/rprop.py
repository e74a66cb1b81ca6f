"""Rprop (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.graph import no_grad
from gradd_engine.ops.optim.rate_steps import rprop_step
from gradd_engine.ops.shared.constants import full_like, zeros_like

from .optimizer import GroupedOptimizer, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class Rprop(GroupedOptimizer):
    """Steps by the signs of gradients; each weight's step size grows while its sign stays, else shrinks.

    ``state[p]``: step (0-dim float32), prev, step_size.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.Rprop.html. ValueError for bad options.
    """

    _no_sparse = "Rprop does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        nonnegative("learning rate", lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = options(
            lr=lr,
            etas=etas,
            step_sizes=step_sizes,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, defaults)

    def _state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            rate = float(group["lr"])
            state["step"] = counter(p)
            state["prev"] = zeros_like(p)
            with no_grad():
                state["step_size"] = full_like(p, complex(rate, rate) if p.is_complex() else rate)
        return state

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        states = [self._state_of(p, group) for p in params]
        etaminus, etaplus = group["etas"]
        least, most = group["step_sizes"]
        rprop_step(
            params,
            [p._gradient for p in params],
            [s["prev"] for s in states],
            [s["step_size"] for s in states],
            [s["step"] for s in states],
            self.found_inf,
            step_size_min=float(least),
            step_size_max=float(most),
            etaminus=float(etaminus),
            etaplus=float(etaplus),
            maximize=group["maximize"],
        )
