"""Margins between classes, and Gaussian likelihoods: losses composed of other ops.

Source: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, holds, numel, preserved_strides
from ...declare import composite, kernel, public
from ...schema import named
from ..elementwise import add, div, mul, neg, rsub, sub, where
from ..index import gather_op
from ..shape import to_dtype
from ..shared import zeros
from .losses import reduced, reduction_of
from .softhard import logsigmoid

if TYPE_CHECKING:
    from ...schema import Op


def _scores(input: Any) -> None:
    """Raise PyTorch's errors unless the input is scores of classes."""
    if input.ndim > 2 or 0 in input.shape[-1:]:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(input.shape)}"
        )


def _dtypes(input: Any, target: Any, kernel: str) -> None:
    """Raise PyTorch's errors unless scores are floating-point, and the target of whole numbers."""
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.title}")


# -- one class a sample ----------------------------------------------------------------------------


def _multi_margin(input: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> Any:
    _scores(input)
    count = input.shape[0] if input.ndim > 1 else 1
    if tuple(target.shape) != (count,) and (input.ndim == 2 or target.ndim):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples "
            f"(batch size). Expected target size [{count}], but got {list(target.shape)}. Input has shape "
            f"{list(input.shape)}."
        )
    classes = numel(input.shape[-1:])
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    _dtypes(input, target, "multi_margin_loss_cpu_kernel")
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.title} but found {weight.dtype.title}")
    scores, wanted = input.reshape([count, classes]), target.reshape([count, 1])
    z = add(sub(scores, gather_op(scores, 1, wanted)), margin).clamp_min(0.0)
    z = z if p == 1 else mul(z, z)
    if weight is not None:
        z = mul(z, named.index_select(weight, 0, wanted.reshape([count])).reshape([count, 1]))
    others = named.arange(0, classes, 1).ne(wanted)
    loss = div(where(others, z, 0.0).sum(1), classes)
    return reduced(loss.reshape(list(input.shape[:-1])), reduction)


multi_margin: Op = composite(
    "multi_margin_loss(Tensor input, Tensor target, Tensor? weight, *, int p, float margin, str reduction)"
    " -> Tensor",
    body=_multi_margin,
    namespace="-",
    outside=True,
    doc="max(0, margin + score - the target's score)^p, averaged over classes "
    "(torch.nn.functional.multi_margin_loss).",
    autocast="float32",
)


@public("nn.functional")
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.multi_margin_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    return multi_margin(input, target, weight, p=p, margin=margin, reduction=reduction)


# -- several classes a sample ----------------------------------------------------------------------


def _multilabel_margin(input: Any, target: Any, reduction: str) -> Any:
    if input.ndim <= 2 and numel(input.shape[-1:]) and tuple(target.shape) != tuple(input.shape):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    _scores(input)
    _dtypes(input, target, "multilabel_margin_loss_forward_out_frame")
    count, classes = input.shape[0] if input.ndim > 1 else 1, numel(input.shape[-1:])
    scores, classes_of = input.reshape([count, classes]), target.reshape([count, classes])
    # classes count up to the first that is negative
    named_there = named.cumprod(to_dtype(classes_of.ge(0), dtypes.int64), 1).gt(0)
    chosen = where(named_there, classes_of, 0)
    empty = zeros([count, classes], dtype=dtypes.int64)
    wanted = named.scatter_add(empty, 1, chosen, to_dtype(named_there, dtypes.int64)).gt(0)
    z = add(sub(scores.unsqueeze(1), gather_op(scores, 1, chosen).unsqueeze(2)), 1.0).clamp_min(0.0)
    kept = named_there.unsqueeze(2).logical_and(wanted.logical_not().unsqueeze(1))
    loss = div(where(kept, z, 0.0).sum([1, 2]), classes)
    return reduced(loss.reshape(list(input.shape[:-1])), reduction)


multilabel_margin: Op = composite(
    "multilabel_margin_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor",
    body=_multilabel_margin,
    namespace="-",
    outside=True,
    doc="max(0, 1 - a wanted class's score + another's), over all pairs "
    "(torch.nn.functional.multilabel_margin_loss).",
    autocast="float32",
)


@public("nn.functional")
def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.multilabel_margin_loss."""
    return multilabel_margin(input, target, reduction=reduction_of(reduction, size_average, reduce))


def _multilabel_soft(input: Any, target: Any, weight: Any, reduction: str) -> Any:
    loss = neg(add(mul(target, logsigmoid(input)), mul(rsub(target, 1.0), logsigmoid(neg(input)))))
    if weight is not None:
        loss = mul(loss, weight)
    return reduced(div(loss.sum(input.ndim - 1), input.shape[-1]), reduction)


multilabel_soft: Op = composite(
    "multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight, *, str reduction) -> Tensor",
    body=_multilabel_soft,
    namespace="-",
    outside=True,
    doc="Binary cross-entropies of logits, averaged over classes "
    "(torch.nn.functional.multilabel_soft_margin_loss).",
)


@public("nn.functional")
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.multilabel_soft_margin_loss."""
    if size_average is None and reduce is None and reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    reduction = reduction_of(reduction, size_average, reduce)
    return multilabel_soft(input, target, weight, reduction=reduction)


# -- Gaussian likelihoods --------------------------------------------------------------------------


def _bounded(xp: Any, var: Any, eps: float) -> Any:
    holds(var < 0, ValueError, "var has negative entry/entries", "gaussian_nll_loss")
    return xp.maximum(var, eps).astype(var.dtype)


bounded: Op = kernel(
    "bounded_variance(Tensor var, *, float eps) -> Tensor",
    infer=lambda var, eps: Meta(tuple(var.shape), var.dtype, preserved_strides(var)),
    impl=_bounded,
    vjp=lambda g: g,
    jvp=lambda var_t: var_t,
    namespace="-",
    outside=True,
    doc="Variances, at least `eps`, with the gradient of what they were; ValueError for negative ones.",
)


def _gaussian(input: Any, target: Any, var: Any, full: bool, eps: float, reduction: str) -> Any:
    error = sub(input, target)
    var = bounded(var, eps=eps)
    loss = mul(add(var.log(), div(mul(error, error), var)), 0.5)
    if full:
        loss = add(loss, 0.5 * math.log(2 * math.pi))
    return reduced(loss, reduction)


gaussian: Op = composite(
    "gaussian_nll_loss(Tensor input, Tensor target, Tensor var, *, bool full, float eps, str reduction)"
    " -> Tensor",
    body=_gaussian,
    namespace="-",
    outside=True,
    doc="The negative log likelihood of targets under Gaussians (torch.nn.functional.gaussian_nll_loss).",
)


@public(
    "nn.functional",
    forms="(input, target, var: Tensor | float, full=False, eps=1e-6, reduction='mean') -> Tensor",
)
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """See torch.nn.functional.gaussian_nll_loss."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = mul(named.ones_like(input), var)
    shape, given = tuple(input.shape), tuple(var.shape)
    if given != shape:
        others = [n for m, n in zip(shape, given, strict=False) if m != n]
        if given == shape[:-1]:
            var = var.unsqueeze(-1)
        elif len(given) != len(shape) or sum(others) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    return gaussian(input, target, var, full=full, eps=eps, reduction=reduction)
