"""NAdam, RAdam and Adamax steps: the relatives of Adam.

Arithmetic and its order follow torch.optim with ``foreach=False``; 16-bit parameters are computed in float32
and rounded once. No value is read on the host. Source: https://pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .adaptive_steps import check_steps, pieces, write_back
from .gradient_steps import check_alike, wide
from .skipping import optimizer_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...tensor import Tensor


def check_numbers(name: str, params: Sequence[Tensor], **others: Sequence[Tensor]) -> None:
    """Raise RuntimeError unless each list has one 0-dim floating-point tensor per parameter."""
    for what, tensors in others.items():
        if len(tensors) != len(params) or any(
            tuple(t.shape) or not t.dtype.is_floating_point for t in tensors
        ):
            raise RuntimeError(f"{name}(): {what} must be one 0-dim floating-point tensor for each of params")


def _decayed(
    value: Any, slope: Any, lr: float, weight_decay: float, maximize: bool, decoupled: bool = False
) -> Any:
    """The slope with the decay in it; a decoupled decay shrinks the value, in place."""
    if maximize:
        slope = -slope
    if weight_decay == 0:
        return slope
    if not decoupled:
        return slope + value * weight_decay
    value *= 1 - lr * weight_decay
    return slope


def _average(xp: Any, mean: Any, slope: Any, beta: float) -> None:
    """Move the mean towards the slope, in place: torch.lerp's two forms, each exact at its own end."""
    if 1 - beta < 0.5:
        mean += (slope - mean) * (1 - beta)
    else:
        xp.subtract(slope, (slope - mean) * beta, out=mean)


def _nadam_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    mu_products: Sequence[Tensor],
    steps: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("nadam_step", params, grads=grads, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs)
    check_numbers("nadam_step", params, mu_products=mu_products)
    check_steps("nadam_step", params, steps)
    return []


def _nadam(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    exp_avgs: Sequence[Any],
    exp_avg_sqs: Sequence[Any],
    mu_products: Sequence[Any],
    steps: Sequence[Any],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    momentum_decay: float,
    maximize: bool,
    decoupled: bool,
) -> list[Any]:
    for p, g, m, v, product, step in zip(
        params, grads, exp_avgs, exp_avg_sqs, mu_products, steps, strict=True
    ):
        step += 1
        count = step.astype(xp.float64)
        bias2 = 1 - beta2**count
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (n * momentum_decay)) for n in (count, count + 1))
        product[...] = product * mu.astype(product.dtype)
        so_far = product.astype(xp.float64)
        of_slope = -lr * (1 - mu) / (1 - so_far)
        of_mean = -lr * following / (1 - so_far * following)
        for piece in pieces(xp, [p, g, m, v]):
            value, slope, mean, square = (wide(xp, a) for a in piece)
            slope = _decayed(value, slope, lr, weight_decay, maximize, decoupled)
            _average(xp, mean, slope, beta1)
            square *= beta2
            square += slope * (1 - beta2) * slope
            root = xp.sqrt(square / bias2.astype(square.dtype)) + eps
            value += slope * of_slope.astype(value.dtype) / root
            value += mean * of_mean.astype(value.dtype) / root
            write_back((piece[0], *piece[2:]), (value, mean, square))
    return []


nadam_step = optimizer_step(
    "nadam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
    "Tensor(d!)[] mu_products, Tensor(e!)[] steps, *, value float lr, value float beta1=0.9, "
    "value float beta2=0.999, value float eps=1e-8, value float weight_decay=0.0, "
    "value float momentum_decay=4e-3, bool maximize=False, bool decoupled=False) -> ()",
    infer=_nadam_infer,
    impl=_nadam,
    doc="""One step of torch.optim.NAdam over `params`, in place.

    `exp_avgs` and `exp_avg_sqs` start as zeros, shaped like the parameters; `mu_products` are 0-dim and start
    as 1; `steps` are 0-dim float32, one per parameter, incremented by this op.
    """,
)


def _radam_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    steps: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("radam_step", params, grads=grads, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs)
    check_steps("radam_step", params, steps)
    return []


def _radam(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    exp_avgs: Sequence[Any],
    exp_avg_sqs: Sequence[Any],
    steps: Sequence[Any],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    decoupled: bool,
) -> list[Any]:
    longest = 2 / (1 - beta2) - 1
    for p, g, m, v, step in zip(params, grads, exp_avgs, exp_avg_sqs, steps, strict=True):
        step += 1
        count = step.astype(xp.float64)
        bias1, bias2 = (1 - beta**count for beta in (beta1, beta2))
        length = longest - 2 * count * beta2**count / bias2
        rectified = length > 5.0
        # Only lengths above 5, which need a longest one above 5, have a rectification.
        known = xp.where(rectified, length, 5.0)
        most = max(longest, 5.0)
        scale = xp.sqrt((known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known))
        for piece in pieces(xp, [p, g, m, v]):
            value, slope, mean, square = (wide(xp, a) for a in piece)
            slope = _decayed(value, slope, lr, weight_decay, maximize, decoupled)
            _average(xp, mean, slope, beta1)
            square *= beta2
            square += slope * (1 - beta2) * slope
            kind = value.dtype
            plain = mean / bias1.astype(kind) * lr
            adapted = xp.sqrt(bias2).astype(kind) / (xp.sqrt(square) + eps)
            value -= xp.where(rectified, plain * adapted * scale.astype(kind), plain)
            write_back((piece[0], *piece[2:]), (value, mean, square))
    return []


radam_step = optimizer_step(
    "radam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
    "Tensor(d!)[] steps, *, value float lr, value float beta1=0.9, value float beta2=0.999, "
    "value float eps=1e-8, value float weight_decay=0.0, bool maximize=False, bool decoupled=False) -> ()",
    infer=_radam_infer,
    impl=_radam,
    doc="""One step of torch.optim.RAdam over `params`, in place.

    `exp_avgs` and `exp_avg_sqs` start as zeros, shaped like the parameters; `steps` are 0-dim float32, one
    per parameter, incremented by this op.
    """,
)


def _adamax_infer(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_infs: Sequence[Tensor],
    steps: Sequence[Tensor],
    **_: Any,
) -> list[Any]:
    check_alike("adamax_step", params, grads=grads, exp_avgs=exp_avgs, exp_infs=exp_infs)
    check_steps("adamax_step", params, steps)
    return []


def _adamax(
    xp: Any,
    params: Sequence[Any],
    grads: Sequence[Any],
    exp_avgs: Sequence[Any],
    exp_infs: Sequence[Any],
    steps: Sequence[Any],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[Any]:
    for p, g, m, u, step in zip(params, grads, exp_avgs, exp_infs, steps, strict=True):
        step += 1
        scale = -lr / (1 - beta1 ** step.astype(xp.float64))
        for piece in pieces(xp, [p, g, m, u]):
            value, slope, mean, largest = (wide(xp, a) for a in piece)
            slope = _decayed(value, slope, lr, weight_decay, maximize)
            _average(xp, mean, slope, beta1)
            xp.maximum(largest * beta2, xp.abs(slope) + eps, out=largest)
            value += mean * scale.astype(value.dtype) / largest
            write_back((piece[0], *piece[2:]), (value, mean, largest))
    return []


adamax_step = optimizer_step(
    "adamax_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_infs, "
    "Tensor(d!)[] steps, *, value float lr, value float beta1=0.9, value float beta2=0.999, "
    "value float eps=1e-8, value float weight_decay=0.0, bool maximize=False) -> ()",
    infer=_adamax_infer,
    impl=_adamax,
    doc="""One step of torch.optim.Adamax over `params`, in place.

    `exp_avgs` and `exp_infs` start as zeros, shaped like the parameters; `steps` are 0-dim float32, one per
    parameter, incremented by this op.
    """,
)
