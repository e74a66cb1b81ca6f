"""SGD and Adam steps: one op updates a group's parameters and state in place, in the session.

Learning rates, momenta, decays and epsilons are run-time values, so schedules do not change the program.
Arithmetic and its order follow torch.optim with ``foreach=False``; 16-bit parameters are computed in float32
and rounded once.
Source: https://pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import dtypes
from ...kernels import tiles
from .skipping import optimizer_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tensor import Tensor


def check_alike(name: str, params: Sequence[Tensor], **others: Sequence[Tensor]) -> None:
    """Raise RuntimeError unless each list has one tensor per parameter, of its shape and dtype."""
    for dtype in {p._dtype for p in params}:
        if not dtype.differentiable:
            raise RuntimeError(f"{name}(): only Tensors of floating point and complex dtype can be optimized")
    for what, tensors in others.items():
        if len(tensors) != len(params):
            raise RuntimeError(f"{name}(): {what} has {len(tensors)} tensors for {len(params)} params")
        i = -1
        for t, p in zip(tensors, params, strict=True):
            i += 1
            if t._dtype is not p._dtype or t._shape != p._shape:
                raise RuntimeError(
                    f"{name}(): {what}[{i}] has shape {list(t.shape)} and dtype {t.dtype}, "
                    f"its parameter shape {list(p.shape)} and dtype {p.dtype}"
                )


def _sgd_infer(
    params: Sequence[Tensor], grads: Sequence[Tensor], momentum_buffers: Sequence[Tensor], **_: Any
) -> list[Any]:
    check_alike("sgd_step", params, grads=grads)
    if momentum_buffers:
        check_alike("sgd_step", params, momentum_buffers=momentum_buffers)
    return []


def wide(xp: Any, a: Any) -> Any:
    """16-bit numbers as float32, others unchanged."""
    return a.astype(xp.float32) if a.dtype.itemsize == 2 else a


def _sgd(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    momentum_buffers: Sequence[Any],
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
    first: bool,
) -> list[Any]:
    for i, (whole, gradient) in enumerate(zip(params, grads, strict=True)):
        buffers = [momentum_buffers[i]] if momentum_buffers else []
        for p, g, *held in tiles(xp, [whole, gradient, *buffers]):
            value = wide(xp, p)
            if maximize:
                g = -g
            if weight_decay != 0:
                g = g + value * weight_decay
            if held:
                buffer = g if first else wide(xp, held[0]) * momentum + g * (1 - dampening)
                held[0][...] = buffer
                g = g + buffer * momentum if nesterov else buffer
            value += g * -lr
            if value is not p:
                p[...] = value
    return []


sgd_step = optimizer_step(
    "sgd_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] momentum_buffers=[], *, value float lr, "
    "value float momentum=0.0, value float dampening=0.0, value float weight_decay=0.0, bool nesterov=False, "
    "bool maximize=False, bool first=False) -> ()",
    infer=_sgd_infer,
    impl=_sgd,
    doc="""One step of torch.optim.SGD over `params`, in place.

    `momentum_buffers` is empty without momentum; otherwise it has one per parameter, of its shape and dtype.
    `first` says that they are still unset: the gradient itself becomes the buffer, undamped.
    """,
)


def _adam_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    steps: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor],
    amsgrad: bool,
    **_: Any,
) -> list[Any]:
    check_alike("adam_step", params, grads=grads, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs)
    if amsgrad:
        check_alike("adam_step", params, max_exp_avg_sqs=max_exp_avg_sqs)
    elif max_exp_avg_sqs:
        raise RuntimeError("adam_step(): max_exp_avg_sqs is for amsgrad alone")
    if len(steps) != len(params) or any(tuple(s.shape) or s.dtype is not dtypes.float32 for s in steps):
        raise RuntimeError("adam_step(): steps must be one 0-dim float32 tensor for each of params")
    return []


def _adam(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    exp_avgs: Sequence[Any],
    exp_avg_sqs: Sequence[Any],
    steps: Sequence[Any],
    max_exp_avg_sqs: Sequence[Any],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    amsgrad: bool,
    maximize: bool,
    decoupled: bool,
) -> list[Any]:
    for i, (p, g, step) in enumerate(zip(params, grads, steps, strict=True)):
        step += 1
        bias1, bias2 = (1 - beta ** step.astype(xp.float64) for beta in (beta1, beta2))
        scale, root = -lr / bias1, bias2**0.5
        arrays = [p, g, exp_avgs[i], exp_avg_sqs[i]]
        if amsgrad:
            arrays.append(max_exp_avg_sqs[i])
        # A complex parameter is optimized like two real ones.
        parts = ([a.real for a in arrays], [a.imag for a in arrays]) if p.dtype.kind == "c" else (arrays,)
        for tile in (t for part in parts for t in tiles(xp, part)):
            _adam_part(xp, tile, scale, root, lr, beta1, beta2, eps, weight_decay, maximize, decoupled)
    return []


def _adam_part(
    xp: Any,
    arrays: Sequence[Any],
    scale: Any,
    root: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    decoupled: bool,
) -> None:
    numbers = [wide(xp, a) for a in arrays]
    p, g, mean, square = numbers[:4]
    if maximize:
        g = -g
    if weight_decay != 0:
        if decoupled:
            p *= 1 - lr * weight_decay
        else:
            g = g + p * weight_decay
    weight = 1 - beta1
    # torch.lerp has two forms, each exact at its own end.
    away = g - mean
    if abs(weight) < 0.5:
        away *= weight
        mean += away
    else:
        away *= 1 - weight
        xp.subtract(g, away, out=mean)
    xp.multiply(g, 1 - beta2, out=away)
    away *= g
    square *= beta2
    square += away
    if len(numbers) > 4:
        square = xp.maximum(numbers[4], square, out=numbers[4])
    denominator = xp.sqrt(square)
    denominator /= root.astype(p.dtype)
    denominator += eps
    xp.multiply(mean, scale.astype(p.dtype), out=away)
    away /= denominator
    p += away
    for i in (0, *range(2, len(arrays))):
        if numbers[i] is not arrays[i]:
            arrays[i][...] = numbers[i]


adam_step = optimizer_step(
    "adam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
    "Tensor(d!)[] steps, Tensor(e!)[] max_exp_avg_sqs=[], *, value float lr, value float beta1=0.9, "
    "value float beta2=0.999, value float eps=1e-8, value float weight_decay=0.0, bool amsgrad=False, "
    "bool maximize=False, bool decoupled=False) -> ()",
    infer=_adam_infer,
    impl=_adam,
    doc="""One step of torch.optim.Adam over `params`, in place; of AdamW if `decoupled`.

    State starts as zeros: `exp_avgs`, `exp_avg_sqs` and, with `amsgrad`, `max_exp_avg_sqs` are shaped like
    the parameters; `steps` are 0-dim float32, one per parameter, incremented by this op.
    """,
)
