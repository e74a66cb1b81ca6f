"""Adadelta, Rprop and ASGD steps: they set rates of their own, by weight or by time.

Arithmetic and its order follow torch.optim with ``foreach=False``; 16-bit parameters are computed in float32
and rounded once. No value is read on the host. Source: https://pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .adaptive_steps import check_steps, pieces, write_back
from .gradient_steps import check_alike, wide
from .moment_steps import check_numbers
from .skipping import optimizer_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tensor import Tensor


def _adadelta_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    square_avgs: Sequence[Tensor],
    acc_deltas: Sequence[Tensor],
    steps: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("adadelta_step", params, grads=grads, square_avgs=square_avgs, acc_deltas=acc_deltas)
    check_steps("adadelta_step", params, steps)
    return []


def _adadelta(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    square_avgs: Sequence[Any],
    acc_deltas: Sequence[Any],
    steps: Sequence[Any],
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[Any]:
    for p, g, v, d, step in zip(params, grads, square_avgs, acc_deltas, steps, strict=True):
        step += 1
        for piece in pieces(xp, [p, g, v, d]):
            value, slope, square, moved = (wide(xp, a) for a in piece)
            if maximize:
                slope = -slope
            if weight_decay != 0:
                slope = slope + value * weight_decay
            square *= rho
            square += slope * (1 - rho) * slope
            delta = xp.sqrt(moved + eps) / xp.sqrt(square + eps) * slope
            moved *= rho
            moved += delta * (1 - rho) * delta
            value += delta * -lr
            write_back((piece[0], *piece[2:]), (value, square, moved))
    return []


adadelta_step = optimizer_step(
    "adadelta_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] square_avgs, Tensor(c!)[] acc_deltas, "
    "Tensor(d!)[] steps, *, value float lr, value float rho=0.9, value float eps=1e-6, "
    "value float weight_decay=0.0, bool maximize=False) -> ()",
    infer=_adadelta_infer,
    impl=_adadelta,
    doc="""One step of torch.optim.Adadelta over `params`, in place.

    `square_avgs` and `acc_deltas` start as zeros, shaped like the parameters; `steps` are 0-dim float32, one
    per parameter, incremented by this op.
    """,
)


def _rprop_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    prevs: Sequence[Tensor],
    step_sizes: Sequence[Tensor],
    steps: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("rprop_step", params, grads=grads, prevs=prevs, step_sizes=step_sizes)
    check_steps("rprop_step", params, steps)
    return []


def _rprop(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    prevs: Sequence[Any],
    step_sizes: Sequence[Any],
    steps: Sequence[Any],
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
    maximize: bool,
) -> list[Any]:
    for p, g, before, s, step in zip(params, grads, prevs, step_sizes, steps, strict=True):
        step += 1
        for piece in pieces(xp, [p, g, before, s]):
            value, slope, prev, size = (wide(xp, a) for a in piece)
            if maximize:
                slope = -slope
            turn = slope * prev
            # Anything but a number stays what it is, in the step size as well.
            number = value.dtype.type
            factor = xp.where(turn == 0, number(1), turn)
            factor = xp.where(turn > 0, number(etaplus), xp.where(turn < 0, number(etaminus), factor))
            size = xp.minimum(xp.maximum(size * factor, step_size_min), step_size_max)
            slope = xp.where(turn < 0, number(0), slope)
            value -= xp.sign(slope) * size
            write_back((piece[0], *piece[2:]), (value, slope, size))
    return []


rprop_step = optimizer_step(
    "rprop_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] prevs, Tensor(c!)[] step_sizes, "
    "Tensor(d!)[] steps, *, value float step_size_min=1e-6, value float step_size_max=50.0, "
    "value float etaminus=0.5, value float etaplus=1.2, bool maximize=False) -> ()",
    infer=_rprop_infer,
    impl=_rprop,
    doc="""One step of torch.optim.Rprop over `params`, in place.

    `prevs`, the previous gradients, start as zeros and `step_sizes` as the rate, shaped like the parameters;
    `steps` are 0-dim float32, one per parameter, incremented by this op.
    """,
)


def _asgd_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    axs: Sequence[Tensor],
    mus: Sequence[Tensor],
    etas: Sequence[Tensor],
    steps: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("asgd_step", params, grads=grads, axs=axs)
    check_numbers("asgd_step", params, mus=mus, etas=etas)
    check_steps("asgd_step", params, steps)
    return []


def _asgd(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    axs: Sequence[Any],
    mus: Sequence[Any],
    etas: Sequence[Any],
    steps: Sequence[Any],
    lr: float,
    lambd: float,
    alpha: float,
    t0: float,
    weight_decay: float,
    maximize: bool,
) -> list[Any]:
    for p, g, ax, mu, eta, step in zip(params, grads, axs, mus, etas, steps, strict=True):
        step += 1
        rate, share = eta.astype(xp.float64), mu.astype(xp.float64)
        shrink = 1 - lambd * rate
        for piece in pieces(xp, [p, g, ax]):
            value, slope, mean = (wide(xp, a) for a in piece)
            if maximize:
                slope = -slope
            if weight_decay != 0:
                slope = slope + value * weight_decay
            kind = value.dtype
            value *= shrink.astype(kind)
            value += slope * (-rate).astype(kind)
            mean = xp.where(share == 1, value, mean + (value - mean) * share.astype(kind))
            write_back((piece[0], piece[2]), (value, mean))
        count = step.astype(xp.float64)
        eta[...] = lr / (1 + lambd * lr * count) ** alpha
        mu[...] = 1 / xp.maximum(1, count - t0)
    return []


asgd_step = optimizer_step(
    "asgd_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] axs, Tensor(c!)[] mus, Tensor(d!)[] etas, "
    "Tensor(e!)[] steps, *, value float lr, value float lambd=1e-4, value float alpha=0.75, "
    "value float t0=1e6, value float weight_decay=0.0, bool maximize=False) -> ()",
    infer=_asgd_infer,
    impl=_asgd,
    doc="""One step of torch.optim.ASGD over `params`, in place.

    `axs`, the averages, start as zeros, shaped like the parameters; `mus` start as 1 and `etas` as the rate,
    0-dim; `steps` are 0-dim float32, one per parameter. All are updated by this op.
    """,
)
