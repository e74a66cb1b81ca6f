"""Adafactor (torch.optim): squared gradients of matrices by their rows and columns alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.ops.shared.constants import zeros_like

from .._surface import finfo
from .._tensor import Tensor
from .optimizer import GroupedOptimizer, counter

if TYPE_CHECKING:
    from collections.abc import Iterable


class Adafactor(GroupedOptimizer):
    """Gradients over the root of their mean squares, which take little memory; steps relative to the values.

    ``state[p]``: step (0-dim float32), and row_var and col_var, or variance for a vector.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.Adafactor.html. ValueError for bad options.
    """

    _no_sparse = "Adafactor does not support sparse gradients"

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for what, value, least in (
            ("Learning rate", lr, 0),
            ("epsilon1", 0.0 if eps[0] is None else eps[0], 0),
            ("epsilon2", eps[1], 0),
            ("Clipping threshold d", d, 1),
            ("weight_decay", weight_decay, 0),
        ):
            if not value >= least:
                raise ValueError(f"{what} should be >= {least} but is: {value}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _state_of(self, p: Any) -> dict[str, Any]:
        state = self.state[p]
        if not state:
            state["step"] = counter(p)
            if p.dim() > 1:
                state["row_var"] = p.new_zeros((*p.shape[:-1], 1))
                state["col_var"] = p.new_zeros((*p.shape[:-2], 1, p.shape[-1]))
            else:
                state["variance"] = zeros_like(p)
        return state

    def _settled(self, group: dict[str, Any], params: list[Any]) -> bool:
        return False  # a step is many ops

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, (eps1, eps2) = float(group["lr"]), group["eps"]
        for p in params:
            if p.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            state = self._state_of(p)
            g = -p._gradient if group["maximize"] else p._gradient
            step = state["step"].add_(1.0)
            least = finfo(p.dtype).eps if eps1 is None else eps1
            root = p.numel() ** 0.5
            size = (p.norm() / root).clamp(min=eps2) * step.rsqrt().clamp(max=lr)
            if group["weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            update = _variance(state, g, step.pow(group["beta2_decay"]), least)
            update = update.clamp(min=least * least).rsqrt() * g
            p.sub_(update * (size / (update.norm() / (root * group["d"])).clamp(min=1.0)))


def _variance(state: dict[str, Any], g: Any, new: Any, least: float) -> Any:
    """The mean squares of all elements, after taking in those of `g` with the weight `new`."""
    if g.dim() == 1 or g.dim() == 0:
        return state["variance"].lerp_(g * g, new.to(g.dtype))
    rows, columns = state["row_var"], state["col_var"]
    rows.lerp_((g * g).mean(-1, keepdim=True), new.to(g.dtype))
    columns.lerp_((g * g).mean(-2, keepdim=True), new.to(g.dtype))
    return rows @ columns / rows.mean(-2, keepdim=True).clamp(min=least)
