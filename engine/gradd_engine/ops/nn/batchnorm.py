"""Batch norm: statistics over all dimensions except the channels, dimension 1.

Source: https://pytorch.org/docs/stable/nn.functional.html#normalization-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta
from ...declare import Joint, composite, kernel
from ..elementwise import add, mul, sub
from ..shared import image_strides
from .channel_backward import along, gradients, of_channels, over
from .layernorm import affine, check_mixed, standard_tangent, statistic_dtype, statistics

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


def image(input: Tensor) -> Meta:
    """The geometry of a result like the input: row-major, or channels-last if the input is."""
    return Meta(tuple(input.shape), input.dtype, image_strides(tuple(input.shape), input))


# -- batch norm ------------------------------------------------------------------------------------


def _check_batch(input: Tensor, **vectors: Tensor | None) -> None:
    channels = input.shape[1] if input.ndim > 1 else 0
    for name, t in vectors.items():
        if t is not None and t.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {t.numel()}")
    check_mixed(input, "batch_norm", *vectors.values())


def _train_infer(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
) -> list[Meta]:
    _check_batch(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    kept = Meta((1, input.shape[1]) + (1,) * (input.ndim - 2), statistic_dtype(input.dtype))
    return [image(input), kept, kept]


def _train(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    mean, variance, rstd = statistics(xp, input, over(input.ndim), eps)
    count = input.size // max(mean.size, 1)
    unbiased = variance * (count / max(count - 1, 1))
    for kept, new in ((running_mean, mean), (running_var, unbiased)):
        if kept is not None:
            kept[...] = kept * (1 - momentum) + new.reshape(-1) * momentum
    weight, bias = along(weight, input.ndim), along(bias, input.ndim)
    return affine((input - mean) * rstd, weight, bias), mean, rstd


batch_norm_train: Op = kernel(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!)? running_mean, "
    "Tensor(b!)? running_var, *, value float momentum, float eps)"
    " -> (Tensor output, const Tensor save_mean, const Tensor save_invstd)",
    infer=_train_infer,
    impl=_train,
    vjp=Joint(
        "input weight bias",
        lambda g, input, weight, out1, out2, needs, eps: gradients(
            g, input, weight, out1, out2, needs, 0, eps
        ),
    ),
    jvp=lambda input, input_t, weight, weight_t, bias_t, eps: [
        standard_tangent(
            input, input_t, along(weight, input.ndim), along(weight_t, input.ndim),
            along(bias_t, input.ndim), over(input.ndim), eps,
        ),
        None,
        None,
    ],
    unversioned=True,
    namespace="-", outside=True,
    doc="Batch norm by the batch's statistics, which update the running ones; also returns them.",
    raises=False,
)  # fmt: skip


def _eval_infer(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    eps: float,
) -> Meta:
    _check_batch(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    return image(input)


def _eval(
    xp: Any, input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float
) -> Any:
    n = input.ndim
    x = (input - along(running_mean, n)) / xp.sqrt(along(running_var, n) + eps)
    return affine(x, along(weight, n), along(bias, n))


def _scale(running_var: Any, weight: Any, ndim: int, eps: float) -> Any:
    found = add(running_var, eps).rsqrt()
    return along(found if weight is None else mul(found, weight), ndim)


def _unit(input: Any, running_mean: Any, running_var: Any, eps: float) -> Any:
    n = input.ndim
    return mul(sub(input, along(running_mean, n)), _scale(running_var, None, n, eps))


def _eval_tangent(
    input: Any,
    input_t: Any,
    weight: Any,
    weight_t: Any,
    bias_t: Any,
    running_mean: Any,
    running_var: Any,
    eps: float,
) -> Any:
    n = input.ndim
    total = None if input_t is None else mul(input_t, _scale(running_var, weight, n, eps))
    if weight_t is not None:
        part = mul(_unit(input, running_mean, running_var, eps), along(weight_t, n))
        total = part if total is None else add(total, part)
    if bias_t is not None:
        part = along(bias_t, n)
        total = part.expand(*input.shape) if total is None else add(total, part)
    return total


batch_norm_eval: Op = kernel(
    "batch_norm_eval(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, *, "
    "float eps) -> Tensor",
    infer=_eval_infer,
    impl=_eval,
    vjp={
        "input": lambda g, input, weight, running_mean, running_var, eps: mul(
            g, _scale(running_var, weight, g.ndim, eps)
        ),
        "weight": lambda g, input, weight, running_mean, running_var, eps: of_channels(
            mul(g, _unit(input, running_mean, running_var, eps))
        ),
        "bias": lambda g, input, weight, running_mean, running_var: of_channels(g),
    },
    jvp=_eval_tangent,
    node="NativeBatchNormBackward0",
    namespace="-",
    outside=True,
    doc="Batch norm by running statistics.",
    raises=False,
)


def check_paired(running_mean: Any, running_var: Any) -> None:
    """Raise ValueError if only one of the running statistics is given."""
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")


def _of_nothing(input: Any, weight: Any, bias: Any) -> Any:
    """No elements, of whatever shape: parameters get zeros, running statistics stay."""
    out = input.clone()
    out = out if weight is None else mul(out, weight[0])
    return out if bias is None else add(out, bias[0])


def _batch(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    if training:
        if input.ndim > 1 and input.numel() == input.shape[1] > 0:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got input size {input.shape}"
            )
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        check_paired(running_mean, running_var)
        if not input.numel():
            return _of_nothing(input, weight, bias)
        return batch_norm_train(input, weight, bias, running_mean, running_var, momentum=momentum, eps=eps)[0]
    if not input.numel():
        return _of_nothing(input, weight, bias)
    if eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    for name, t in (("running_mean", running_mean), ("running_var", running_var)):
        if t is None:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    return batch_norm_eval(input, weight, bias, running_mean, running_var, eps=eps)


composite(
    "batch_norm(Tensor input, Tensor(a!)? running_mean, Tensor(b!)? running_var, Tensor? weight=None, "
    "Tensor? bias=None, bool training=False, value float momentum=0.1, float eps=1e-5) -> Tensor",
    body=_batch,
    unversioned=True,
    namespace="nn.functional",
    doc="Normalises each channel, by the batch's statistics in training, otherwise by running ones "
    "(torch.nn.functional.batch_norm).",
)
