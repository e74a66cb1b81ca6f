"""RMSprop and Adagrad steps.

Arithmetic and its order follow torch.optim with ``foreach=False``; 16-bit parameters are computed in float32
and rounded once. Source: https://pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import dtypes
from ...kernels import tiles
from .gradient_steps import check_alike, wide
from .skipping import optimizer_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...tensor import Tensor


def check_steps(name: str, params: Sequence[Tensor], steps: Sequence[Tensor]) -> None:
    """Raise RuntimeError unless there is one step count, 0-dim float32, per parameter."""
    if len(steps) != len(params) or any(tuple(s.shape) or s.dtype is not dtypes.float32 for s in steps):
        raise RuntimeError(f"{name}(): steps must be one 0-dim float32 tensor for each of params")


def pieces(xp: Any, arrays: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Arrays of one size, in tiles; complex arrays as their real parts, then their imaginary parts."""
    parts = ([a.real for a in arrays], [a.imag for a in arrays]) if arrays[0].dtype.kind == "c" else (arrays,)
    for part in parts:
        yield from tiles(xp, part)


def write_back(arrays: Sequence[Any], numbers: Sequence[Any]) -> None:
    """Write `numbers` into `arrays`, where they are not the same memory."""
    for a, n in zip(arrays, numbers, strict=True):
        if n is not a:
            a[...] = n


def _rmsprop_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    square_avgs: Sequence[Tensor],
    steps: Sequence[Tensor],
    momentum_buffers: Sequence[Tensor],
    grad_avgs: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("rmsprop_step", params, grads=grads, square_avgs=square_avgs)
    if momentum_buffers:
        check_alike("rmsprop_step", params, momentum_buffers=momentum_buffers)
    if grad_avgs:
        check_alike("rmsprop_step", params, grad_avgs=grad_avgs)
    check_steps("rmsprop_step", params, steps)
    return []


def _rmsprop(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    square_avgs: Sequence[Any],
    steps: Sequence[Any],
    momentum_buffers: Sequence[Any],
    grad_avgs: Sequence[Any],
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    maximize: bool,
) -> list[Any]:
    for i, (p, g, step) in enumerate(zip(params, grads, steps, strict=True)):
        step += 1
        state = [square_avgs[i], *(held[i] for held in (momentum_buffers, grad_avgs) if held)]
        for piece in pieces(xp, [p, g, *state]):
            value, slope, square, *others = (wide(xp, a) for a in piece)
            if maximize:
                slope = -slope
            if weight_decay != 0:
                slope = slope + value * weight_decay
            square *= alpha
            square += slope * slope * (1 - alpha)
            root = square
            if grad_avgs:
                mean = others[-1]
                # torch.lerp has two forms, each exact at its own end.
                if 1 - alpha < 0.5:
                    mean += (slope - mean) * (1 - alpha)
                else:
                    xp.subtract(slope, (slope - mean) * alpha, out=mean)
                root = square - mean * mean
            root = xp.sqrt(root) + eps
            if momentum_buffers:
                others[0] *= momentum
                others[0] += slope / root
                value -= others[0] * lr
            else:
                value += slope * -lr / root
            write_back((piece[0], *piece[2:]), (value, square, *others))
    return []


rmsprop_step = optimizer_step(
    "rmsprop_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] square_avgs, Tensor(c!)[] steps, "
    "Tensor(d!)[] momentum_buffers=[], Tensor(e!)[] grad_avgs=[], *, value float lr, value float alpha=0.99, "
    "value float eps=1e-8, value float weight_decay=0.0, value float momentum=0.0, bool maximize=False)"
    " -> ()",
    infer=_rmsprop_infer,
    impl=_rmsprop,
    doc="""One step of torch.optim.RMSprop over `params`, in place.

    State starts as zeros, shaped like the parameters: `momentum_buffers` with momentum, `grad_avgs` for the
    centered form. `steps` are 0-dim float32, one per parameter, incremented by this op.
    """,
)


def _adagrad_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    state_sums: Sequence[Tensor],
    steps: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("adagrad_step", params, grads=grads, state_sums=state_sums)
    check_steps("adagrad_step", params, steps)
    return []


def _adagrad(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    state_sums: Sequence[Any],
    steps: Sequence[Any],
    lr: float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> list[Any]:
    for p, g, total, step in zip(params, grads, state_sums, steps, strict=True):
        step += 1
        rate = lr / (1 + (step.astype(xp.float64) - 1) * lr_decay)
        for piece in pieces(xp, [p, g, total]):
            value, slope, sums = (wide(xp, a) for a in piece)
            if maximize:
                slope = -slope
            if weight_decay != 0:
                slope = slope + value * weight_decay
            sums += slope * slope
            value += slope * (-rate).astype(value.dtype) / (xp.sqrt(sums) + eps)
            write_back((piece[0], piece[2]), (value, sums))
    return []


adagrad_step = optimizer_step(
    "adagrad_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] state_sums, Tensor(c!)[] steps, *, "
    "value float lr, value float lr_decay=0.0, value float weight_decay=0.0, value float eps=1e-10, "
    "bool maximize=False) -> ()",
    infer=_adagrad_infer,
    impl=_adagrad,
    doc="""One step of torch.optim.Adagrad over `params`, in place.

    `state_sums` accumulate squared gradients from the initial value; `steps` are 0-dim float32, one per
    parameter, incremented by this op.
    """,
)
