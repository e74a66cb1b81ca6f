"""Adam and AdamW (torch.optim): one op per group per step; the step counts are session tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.optim.gradient_steps import adam_step
from gradd_engine.ops.shared.constants import zeros_like

from .optimizer import GroupedOptimizer, betas_within, counter, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class Adam(GroupedOptimizer):
    """Adam. ``state[p]``: step (0-dim float32), exp_avg, exp_avg_sq and, with `amsgrad`, max_exp_avg_sq.

    Source: https://pytorch.org/docs/stable/generated/torch.optim.Adam.html. ValueError for bad options.
    """

    _no_sparse = "Adam does not support sparse gradients, please consider SparseAdam instead"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
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
            amsgrad=amsgrad,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )
        super().__init__(params, defaults)

    def _state_of(self, p: Any, amsgrad: bool) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter(p)
            state["exp_avg"] = zeros_like(p)
            state["exp_avg_sq"] = zeros_like(p)
        if amsgrad and "max_exp_avg_sq" not in state:
            state["max_exp_avg_sq"] = zeros_like(p)
        return state

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        amsgrad = group["amsgrad"]
        states = [self._state_of(p, amsgrad) for p in params]
        beta1, beta2 = group["betas"]
        adam_step(
            params,
            [p._grad for p in params],
            [s["exp_avg"] for s in states],
            [s["exp_avg_sq"] for s in states],
            [s["step"] for s in states],
            [s["max_exp_avg_sq"] for s in states] if amsgrad else [],
            self.found_inf,
            lr=float(group["lr"]),
            beta1=float(beta1),
            beta2=float(beta2),
            eps=float(group["eps"]),
            weight_decay=float(group["weight_decay"]),
            amsgrad=amsgrad,
            maximize=group["maximize"],
            decoupled=group["decoupled_weight_decay"],
        )


class AdamW(Adam):
    """Adam with decoupled weight decay.

    Source: https://pytorch.org/docs/stable/generated/torch.optim.AdamW.html
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
