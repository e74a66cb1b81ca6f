"""Instance norm: batch norm of each sample separately.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.instance_norm.html
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...declare import composite, public
from ...graph import no_grad
from ...schema import named
from ...tensor import Tensor
from .batchnorm import batch_norm_eval, batch_norm_train, check_paired


def _instance(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Any:
    if use_input_stats and prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    running = (running_mean, running_var)
    if not use_input_stats and None in running:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    check_paired(*running)
    n, c = input.size(0), input.size(1)

    def for_each(t: Any) -> Any:
        """A vector over the channels, repeated for every sample."""
        return None if t is None else named.repeat(t, [n])

    means, variances = (for_each(t) for t in running)
    flat = input.contiguous().reshape(1, n * c, *input.shape[2:])
    affine = for_each(weight), for_each(bias)
    if use_input_stats:
        out = batch_norm_train(flat, *affine, means, variances, momentum=momentum, eps=eps)[0]
        with no_grad():
            for t, moved in zip(running, (means, variances), strict=True):
                if t is not None:
                    named.copy_(t, moved.reshape(n, c).mean(0))
    else:
        out = batch_norm_eval(flat, *affine, means, variances, eps=eps)
    return out.reshape(*input.shape)


_instance_op = composite(
    "instance_norm(Tensor input, Tensor(a!)? running_mean=None, Tensor(b!)? running_var=None, "
    "Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, value float momentum=0.1, "
    "float eps=1e-5) -> Tensor",
    body=_instance,
    namespace="-",
    outside=True,
    doc="Normalises each channel of each sample separately, or by running statistics "
    "(torch.nn.functional.instance_norm).",
)


def _normalized(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    # By its parts where it writes to nothing: the whole declares that it does.
    run = _instance_op if use_input_stats else _instance
    return run(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


_normalized.__doc__ = _instance_op.surface.doc
public("nn.functional", name="instance_norm")(_normalized)


@public("")
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """See torch.instance_norm; `cudnn_enabled` is ignored."""
    return _normalized(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
