"""Binary cross entropies and the Kullback-Leibler divergence.

Source: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, broadcast_shapes, dtypes, holds, preserved_strides, warn
from ...declare import composite, kernel, public
from ..elementwise import add, div, mul, rsub, sub
from .losses import reduced, reduction_of

if TYPE_CHECKING:
    from ...schema import Op
    from ...tensor import Tensor


def _meta(input: Tensor, reduction: str, dtype: dtypes.DType) -> Meta:
    if reduction == "none":
        return Meta(tuple(input.shape), dtype, preserved_strides(input), compute=dtype)
    return Meta((), dtype, compute=dtype)


def _weigh(loss: Any, weight: Any, reduction: str) -> Any:
    if weight is not None:
        loss = loss * weight
    if reduction == "none":
        return loss
    return loss.sum() / loss.size if reduction == "mean" else loss.sum()


def _scale(found: Any, g: Any, weight: Any, reduction: str) -> Any:
    """The gradient of each element, from that of the loss."""
    if weight is not None:
        g = mul(g, weight)
    return mul(found, div(g, max(found.numel(), 1)) if reduction == "mean" else g)


def _move(found: Any, tangent: Any, weight: Any, reduction: str) -> Any:
    if weight is not None:
        found = mul(found, weight)
    return reduced(mul(found, tangent), reduction)


def _sum(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else add(*parts)


def _bce_infer(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str) -> Meta:
    for other in (target, weight):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(f"Found dtype {other.dtype.title} but expected {input.dtype.title}")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"binary_cross_entropy\" not implemented for '{input.dtype.title}'")
    return _meta(input, reduction, input.dtype)


def _bce(xp: Any, input: Any, target: Any, weight: Any, reduction: str) -> Any:
    for what, x in (("input", input), ("target", target)):
        text = f"all elements of {what} should be between 0 and 1"
        holds((x < 0) | (x > 1), RuntimeError, text, "binary_cross_entropy")
    low = xp.maximum(xp.log1p(-input), -100)
    return _weigh((target - 1) * low - target * xp.maximum(xp.log(input), -100), weight, reduction)


#: PyTorch's 1e-12, as float32
_LEAST = 9.999999960041972e-13


def _bce_slope(input: Any, target: Any) -> Any:
    return div(sub(input, target), mul(rsub(input, 1.0), input).clamp_min(_LEAST))


def _bce_target_slope(input: Any) -> Any:
    return sub(rsub(input, 1.0).log().clamp_min(-100.0), input.log().clamp_min(-100.0))


def _bce_tangent(input_t: Any, target_t: Any, input: Any, target: Any, weight: Any, reduction: str) -> Any:
    parts = []
    if input_t is not None:
        parts.append(_move(_bce_slope(input, target), input_t, weight, reduction))
    if target_t is not None:
        parts.append(_move(_bce_target_slope(input), target_t, weight, reduction))
    return _sum(parts) if parts else None


bce: Op = kernel(
    "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, *, str reduction='mean')"
    " -> Tensor",
    infer=_bce_infer,
    impl=_bce,
    vjp={
        "input": lambda g, input, target, weight, reduction: _scale(
            _bce_slope(input, target), g, weight, reduction
        ),
        "target": lambda g, input, weight, reduction: _scale(_bce_target_slope(input), g, weight, reduction),
    },
    jvp=_bce_tangent,
    namespace="-",
    outside=True,
    doc="Cross entropy of probabilities; logarithms end at -100 (torch.nn.functional.binary_cross_entropy).",
    autocast={"cpu": "float32", "cuda": "refused"},
)


@public("nn.functional")
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.binary_cross_entropy."""
    reduction = reduction_of(reduction, size_average, reduce)
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(*broadcast_shapes(tuple(target.shape), tuple(weight.shape)))
    return bce(input, target, weight, reduction=reduction)


def _logits_infer(
    input: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: str
) -> Meta:
    if tuple(target.shape) != tuple(input.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    dtype = dtypes.result_type([x for x in (input, target, weight, pos_weight) if x is not None])
    for other in (weight, pos_weight):
        if other is None:
            continue
        shape = broadcast_shapes(tuple(input.shape), tuple(other.shape))
        if shape != tuple(input.shape):
            raise RuntimeError(
                f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(shape)}"
            )
    if not dtype.is_floating_point or not input.dtype.is_floating_point:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.title}")
    return _meta(input, reduction, dtype)


def _logits(xp: Any, input: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    # log(1 + exp(-x)), with the larger term taken out to avoid overflow.
    tail = xp.log1p(xp.exp(-xp.abs(input))) + xp.maximum(-input, 0)
    if pos_weight is not None:
        tail = tail * ((pos_weight - 1) * target + 1)
    return _weigh((1 - target) * input + tail, weight, reduction)


def _logits_slope(input: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return sub(input.sigmoid(), target)
    t = mul(pos_weight, target)
    return sub(mul(sub(add(t, 1.0), target), input.sigmoid()), t)


def _logits_target_slope(input: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return input.neg()
    # pos_weight * softplus(-x) - softplus(x), with softplus(x) = x + softplus(-x)
    tail = add(input.abs().neg().exp().log1p(), input.neg().clamp_min(0.0))
    return sub(mul(sub(pos_weight, 1.0), tail), input)


def _logits_tangent(
    input_t: Any, target_t: Any, input: Any, target: Any, weight: Any, pos_weight: Any, reduction: str
) -> Any:
    parts = []
    if input_t is not None:
        parts.append(_move(_logits_slope(input, target, pos_weight), input_t, weight, reduction))
    if target_t is not None:
        parts.append(_move(_logits_target_slope(input, pos_weight), target_t, weight, reduction))
    return _sum(parts) if parts else None


bce_with_logits: Op = kernel(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, *, str reduction='mean') -> Tensor",
    infer=_logits_infer,
    impl=_logits,
    vjp={
        "input": lambda g, input, target, weight, pos_weight, reduction: _scale(
            _logits_slope(input, target, pos_weight), g, weight, reduction
        ),
        "target": lambda g, input, weight, pos_weight, reduction: _scale(
            _logits_target_slope(input, pos_weight), g, weight, reduction
        ),
    },
    jvp=_logits_tangent,
    node="BinaryCrossEntropyWithLogitsBackward0",
    namespace="-",
    outside=True,
    doc="Cross entropy of sigmoid(input) (torch.nn.functional.binary_cross_entropy_with_logits).",
    raises=False,
    autocast="float32",
)


@public("nn.functional")
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """See torch.nn.functional.binary_cross_entropy_with_logits."""
    reduction = reduction_of(reduction, size_average, reduce)
    return bce_with_logits(input, target, weight, pos_weight, reduction=reduction)


def _kl(input: Any, target: Any, reduction: str, log_target: bool) -> Any:
    if log_target:
        loss = mul(target.exp(), sub(target, input))
    else:
        loss = sub(target.xlogy(target), mul(target, input))
    if reduction != "batchmean":
        return reduced(loss, reduction_of(reduction))
    return div(loss.sum(), input.shape[0]) if input.ndim else loss.sum()


kl: Op = composite(
    "kl_div(Tensor input, Tensor target, *, str reduction='mean', bool log_target=False) -> Tensor",
    body=_kl,
    namespace="-",
    outside=True,
    doc="The Kullback-Leibler divergence from log probabilities (torch.nn.functional.kl_div).",
    autocast="float32",
)


@public("nn.functional")
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """See torch.nn.functional.kl_div."""
    if size_average is not None or reduce is not None:
        reduction = reduction_of("mean", size_average, reduce)
    elif reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release."
        )
    elif reduction != "batchmean":
        reduction = reduction_of(reduction)
    return kl(input, target, reduction=reduction, log_target=log_target)
