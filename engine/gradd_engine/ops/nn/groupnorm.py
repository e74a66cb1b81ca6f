"""Group norm: statistics over groups of channels of each sample.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.group_norm.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta
from ...declare import Joint, composite, kernel
from ..elementwise import add, mul
from ..shared import kept_format
from .batchnorm import image
from .channel_backward import along, gradients, grouped
from .layernorm import (  # fmt: skip
    affine,
    check_mixed,
    standard_tangent,
    standardized,
    statistic_dtype,
    statistics,
)

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


def _check_group(input: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    channels = input.shape[1]
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if channels % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={groups}"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and tuple(t.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {list(t.shape)} and input of shape {list(input.shape)}"
            )
    check_mixed(input, "GroupNormKernelImpl", weight, bias)


def _group_infer(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, num_groups: int, eps: float
) -> list[Meta]:
    _check_group(input, num_groups, weight, bias)
    kept = Meta((input.shape[0], num_groups, 1), statistic_dtype(input.dtype))
    return [image(input), kept, kept]


def _group(xp: Any, input: Any, weight: Any, bias: Any, num_groups: int, eps: float) -> tuple[Any, ...]:
    x = grouped(input, num_groups)
    mean, _, rstd = statistics(xp, x, (2,), eps)
    found = ((x - mean) * rstd).reshape(input.shape)
    return affine(found, along(weight, input.ndim), along(bias, input.ndim)), mean, rstd


def _group_tangent(
    input: Any, input_t: Any, weight: Any, weight_t: Any, bias_t: Any, num_groups: int, eps: float
) -> list[Any]:
    n, shape = input.ndim, tuple(input.shape)
    x = grouped(input, num_groups)
    total = None
    if input_t is not None:
        moved = standard_tangent(x, grouped(input_t, num_groups), None, None, None, (2,), eps)
        total = moved.reshape(shape)
        if weight is not None:
            total = mul(total, along(weight, n))
    if weight_t is not None:
        _, mean, rstd = group(input, None, None, num_groups=num_groups, eps=eps)
        unit = standardized(x, mean, rstd, dims=[2], eps=eps).reshape(shape)
        part = mul(unit, along(weight_t, n))
        total = part if total is None else add(total, part)
    if bias_t is not None:
        part = along(bias_t, n)
        total = part.expand(*shape) if total is None else add(total, part)
    return [total, None, None]


group: Op = kernel(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, *, int num_groups, float eps)"
    " -> (Tensor output, const Tensor mean, const Tensor rstd)",
    infer=_group_infer,
    impl=_group,
    vjp=Joint(
        "input weight bias",
        lambda g, input, weight, out1, out2, needs, num_groups, eps: gradients(
            g, input, weight, out1, out2, needs, num_groups, eps
        ),
    ),
    jvp=_group_tangent,
    namespace="-",
    outside=True,
    doc="Group norm, with the means and reciprocal standard deviations it used.",
    raises=False,
)


def _group_norm(input: Any, weight: Any, bias: Any, num_groups: int, eps: float) -> Any:
    if input.ndim >= 2 and num_groups > 0 and input.numel() == num_groups:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {list(input.shape)}"
        )
    weight, bias = (None if t is None else t.contiguous() for t in (weight, bias))
    return group(kept_format(input), weight, bias, num_groups=num_groups, eps=eps)[0]


composite(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-5)"
    " -> Tensor",
    body=_group_norm,
    namespace="nn.functional",
    doc="Normalises groups of channels (torch.nn.functional.group_norm).",
    autocast={"cuda": "float32"},
)
