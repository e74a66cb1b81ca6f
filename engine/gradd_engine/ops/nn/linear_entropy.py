"""The cross-entropy of what a linear map gives.

Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.linear_cross_entropy.html
"""

from __future__ import annotations

import math
from typing import Any

from ...data import dtypes, warn
from ...declare import public
from ...schema import named
from .nll import cross_entropy


def _check(input: Any, weight: Any, bias: Any) -> None:
    """Raise PyTorch's RuntimeError unless the map fits its input."""
    if not 1 <= input.ndim <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.ndim}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    rows = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != rows:
        raise RuntimeError(f"expected linear_bias shape {rows}, got {tuple(bias.shape)}")
    if weight.ndim > 2 and input.ndim < 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched "
            f"input, (N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )


@public("nn.functional")
def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """The cross-entropy of ``linear(input, linear_weight, linear_bias)`` and a target.

    `options`, which divide the work to save memory in PyTorch, change nothing: the daemon does it as one.
    """
    _check(input, linear_weight, linear_bias)
    classes, *more = linear_weight.shape[:-1]
    shape = [*input.shape[:-1], classes, *more]
    if list(target.shape) == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    divisible = reduction in ("mean", "sum", "none") and not label_smoothing and not more
    if options is not None and not (divisible and target.dtype is dtypes.int64):
        bias = None if linear_bias is None else tuple(linear_bias.shape)
        warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in "
            "{'mean','sum','none'}, "
            f"label_smoothing == 0, target.dtype == int64, out_features == (). Got reduction={reduction!r}, "
            f"label_smoothing={label_smoothing}, target.dtype={target.dtype}, out_features={tuple(more)}, "
            f"tracing=False, linear_bias.shape={bias}."
        )
    if more:
        rows = math.prod(more, start=classes)
        linear_weight = linear_weight.reshape([rows, input.shape[-1]])
        linear_bias = None if linear_bias is None else linear_bias.reshape([rows])
    return cross_entropy(
        named.linear(input, linear_weight, linear_bias).reshape(shape),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
