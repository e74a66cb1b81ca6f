"""Gradients of scaled losses, and the scale: what torch.amp.GradScaler does in an iteration, as two ops.

Source: https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import kernel
from .gradient_steps import wide
from .skipping import check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tensor import Tensor


def _unscale_infer(grads: Sequence[Tensor], scale: Tensor) -> Meta:
    if not all(g.dtype.differentiable for g in grads):
        raise RuntimeError("unscale_gradients(): only floating point and complex gradients are scaled")
    check_number("unscale_gradients", "scale", scale)
    return Meta((), dtypes.float32)


def _unscale(xp: Any, grads: Sequence[Any], scale: Any) -> Any:
    inverse = (1 / scale.astype(xp.float64)).astype(xp.float32)
    found = xp.zeros((), xp.bool_)
    for g in grads:
        number = wide(xp, g)
        found = found | ~xp.isfinite(number).all()
        g[...] = number * inverse.astype(number.real.dtype)
    return found.astype(xp.float32)


unscale_gradients = kernel(
    "unscale_gradients(Tensor(a!)[] grads, Tensor scale) -> Tensor",
    infer=_unscale_infer,
    impl=_unscale,
    namespace="-",
    outside=True,
    raises=False,
    doc="Divide gradients by `scale`, 0-dim float32, in place; 1.0 where one was not finite, else 0.0.",
)


def _adjust_infer(scale: Tensor, streak: Tensor, found_inf: Tensor, **_: Any) -> list[Any]:
    check_number("adjust_scale", "scale", scale)
    check_number("adjust_scale", "found_inf", found_inf)
    if tuple(streak.shape) or streak.dtype is not dtypes.int32:
        raise RuntimeError("adjust_scale(): streak must be a 0-dim int32 tensor")
    return []


def _adjust(
    xp: Any, scale: Any, streak: Any, found_inf: Any, growth: float, backoff: float, interval: int
) -> list[Any]:
    skipped, longer, before = found_inf != 0, streak + 1, scale.astype(xp.float64)
    due, grown = longer == interval, (before * growth).astype(xp.float32)
    kept = xp.where(due & xp.isfinite(grown), grown, scale)
    scale[...] = xp.where(skipped, (before * backoff).astype(xp.float32), kept)
    streak[...] = xp.where(skipped | due, 0, longer)
    return []


adjust_scale = kernel(
    "adjust_scale(Tensor(a!) scale, Tensor(b!) streak, Tensor found_inf, *, value float growth, "
    "value float backoff, value int interval) -> ()",
    infer=_adjust_infer,
    impl=_adjust,
    namespace="-",
    outside=True,
    raises=False,
    doc="""Change `scale` after an iteration, and `streak`, how many in a row had no step skipped.

    Where `found_inf` is not 0, `scale` is multiplied by `backoff`; after `interval` iterations in a row by
    `growth`, if that is finite; both begin `streak` anew.
    """,
)
