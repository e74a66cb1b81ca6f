"""SGD with momentum (torch.optim.SGD): one op per group per step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.optim.gradient_steps import sgd_step
from gradd_engine.ops.shared.constants import zeros_like

from .optimizer import GroupedOptimizer, nonnegative, options

if TYPE_CHECKING:
    from collections.abc import Iterable


class SGD(GroupedOptimizer):
    """Stochastic gradient descent. ``state[p]["momentum_buffer"]`` exists once momentum was used.

    Source: https://pytorch.org/docs/stable/generated/torch.optim.SGD.html. ValueError for bad options.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        nonnegative("learning rate", lr)
        nonnegative("momentum value", momentum)
        nonnegative("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = options(
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
            foreach=foreach,
            differentiable=differentiable,
            fused=fused,
        )
        super().__init__(params, defaults)

    def _settled(self, group: dict[str, Any], params: list[Any]) -> bool:
        return not group["momentum"] or super()._settled(group, params)

    def _meet_sparse(self, group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        if not group["momentum"]:
            self._sgd(group, params, [], False)
            return
        old = [p for p in params if self.state[p].get("momentum_buffer") is not None]
        new = [p for p in params if self.state[p].get("momentum_buffer") is None]
        for p in new:
            self.state[p]["momentum_buffer"] = zeros_like(p)
        for some, first in ((old, False), (new, True)):
            self._sgd(group, some, [self.state[p]["momentum_buffer"] for p in some], first)

    def _sgd(self, group: dict[str, Any], params: list[Any], buffers: list[Any], first: bool) -> None:
        if not params:
            return
        sgd_step(
            params,
            [p._gradient for p in params],
            buffers,
            self.found_inf,
            lr=float(group["lr"]),
            momentum=float(group["momentum"]),
            dampening=float(group["dampening"]),
            weight_decay=float(group["weight_decay"]),
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            first=first,
        )
