"""Adagrad (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.graph import no_grad
from gradd_engine.ops.optim.adaptive_steps import adagrad_step
from gradd_engine.ops.shared.constants import full_like

from .optimizer import GroupedOptimizer, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class Adagrad(GroupedOptimizer):
    """Gradients divided by the root of the sum of their squares.

    ``state[p]``, present from the start: step (0-dim float32) and sum.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.Adagrad.html. ValueError for bad options.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        nonnegative("learning rate", lr)
        nonnegative("lr_decay value", lr_decay)
        nonnegative("weight_decay value", weight_decay)
        nonnegative("initial_accumulator_value value", initial_accumulator_value)
        nonnegative("epsilon value", eps)
        defaults = options(
            lr=lr,
            lr_decay=lr_decay,
            eps=eps,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            fused=fused,
        )
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self._state_of(p, group)

    def _state_of(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            start = group["initial_accumulator_value"]
            state["step"] = counter(p)
            with no_grad():
                state["sum"] = full_like(p, complex(start, start) if p.is_complex() else start)
        return state

    def _meet_sparse(self, group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        states = [self._state_of(p, group) for p in params]
        adagrad_step(
            params,
            [p._gradient for p in params],
            [s["sum"] for s in states],
            [s["step"] for s in states],
            self.found_inf,
            lr=float(group["lr"]),
            lr_decay=float(group["lr_decay"]),
            weight_decay=float(group["weight_decay"]),
            eps=float(group["eps"]),
            maximize=group["maximize"],
        )
