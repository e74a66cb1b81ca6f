"""Margin, distance and Poisson losses, composed of element-wise ops as in PyTorch.

Source: https://pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import broadcast_shapes, promote
from ...declare import composite, public
from ..elementwise import add, div, mul, neg, rsub, sub, where
from ..reduce import vector_norm
from ..shared import zeros_like
from .losses import reduced, reduction_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...schema import Op


def _hinge_embedding(input: Any, target: Any, margin: float, reduction: str) -> Any:
    reduction = reduction_of(reduction)
    none = zeros_like(input)
    apart = where(target.ne(1), rsub(input, margin).clamp_min(0.0), none)
    return reduced(add(apart, where(target.ne(-1), input, none)), reduction)


_hinge: Op = composite(
    "hinge_embedding_loss(Tensor input, Tensor target, *, float margin=1.0, str reduction='mean') -> Tensor",
    body=_hinge_embedding,
    namespace="-",
    outside=True,
    doc="The input where the target is 1, max(0, margin - input) where it is -1 "
    "(torch.nn.functional.hinge_embedding_loss).",
    autocast="float32",
)


@public("nn.functional")
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.hinge_embedding_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _hinge(input, target, margin=margin, reduction=reduction)


def _margin_ranking(input1: Any, input2: Any, target: Any, margin: float, reduction: str) -> Any:
    reduction = reduction_of(reduction)
    if len({input1.ndim, input2.ndim, target.ndim}) > 1:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return reduced(add(mul(neg(target), sub(input1, input2)), margin).clamp_min(0.0), reduction)


_ranking: Op = composite(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, *, float margin=0.0, "
    "str reduction='mean') -> Tensor",
    body=_margin_ranking,
    namespace="-",
    outside=True,
    doc="max(0, margin - target (input1 - input2)) (torch.nn.functional.margin_ranking_loss).",
    autocast="float32",
)


@public("nn.functional")
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.margin_ranking_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _ranking(input1, input2, target, margin=margin, reduction=reduction)


def _cosine(x1: Any, x2: Any, dim: int, eps: float) -> Any:
    common = promote(x1.dtype, x2.dtype)
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common.title}")
    shape = broadcast_shapes(tuple(x1.shape), tuple(x2.shape))
    units = []
    for x in (x1, x2):
        x = x if tuple(x.shape) == shape else x.expand(*shape)
        units.append(div(x, vector_norm(x, 2, dim, True).clamp_min(eps)))
    return mul(*units).sum(dim)


cosine_similarity = composite(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-8) -> Tensor",
    body=_cosine,
    namespace="|nn.functional",
    doc="Cosine of the angle between vectors along `dim`; norms are `eps` or more (torch.cosine_similarity).",
    autocast={"cuda": "float32"},
)


def _cosine_embedding(input1: Any, input2: Any, target: Any, margin: float, reduction: str) -> Any:
    reduction = reduction_of(reduction)
    dims = target.ndim
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.ndim != dims + 1 or input2.ndim != dims + 1:
        raise RuntimeError(
            f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    # PyTorch adds this to each squared norm here, though not in cosine_similarity.
    eps = 1e-12
    product = mul(input1, input2).sum(dims)
    squares = (add(mul(x, x).sum(dims), eps) for x in (input1, input2))
    cosine = div(product, mul(*squares).sqrt())
    none = zeros_like(cosine)
    alike = where(target.eq(1), rsub(cosine, 1.0), none)
    apart = where(target.eq(-1), sub(cosine, margin).clamp_min(0.0), none)
    return reduced(add(alike, apart), reduction)


_alike: Op = composite(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, *, float margin=0.0, "
    "str reduction='mean') -> Tensor",
    body=_cosine_embedding,
    namespace="-",
    outside=True,
    doc="1 - cosine where the target is 1, max(0, cosine - margin) where it is -1 "
    "(torch.nn.functional.cosine_embedding_loss).",
    autocast="float32",
)


@public("nn.functional")
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.cosine_embedding_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _alike(input1, input2, target, margin=margin, reduction=reduction)


def _distance(x1: Any, x2: Any, p: float, eps: float, keepdim: bool) -> Any:
    return vector_norm(add(sub(x1, x2), eps), p, -1, keepdim)


pairwise_distance = composite(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-6, bool keepdim=False) -> Tensor",
    body=_distance,
    namespace="|nn.functional",
    doc="The p-norm of x1 - x2 + eps over the last dimension (torch.nn.functional.pairwise_distance).",
)


def _apart(
    anchor: Any,
    positive: Any,
    negative: Any,
    distance: Callable[[Any, Any], Any],
    margin: float,
    swap: bool,
    reduction: str,
) -> Any:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced(sub(add(near, margin), far).clamp_min(0.0), reduction)


def _triplet(
    anchor: Any, positive: Any, negative: Any, margin: float, p: float, eps: float, swap: bool, reduction: str
) -> Any:
    def distance(a: Any, b: Any) -> Any:
        return _distance(a, b, p, eps, False)

    return _apart(anchor, positive, negative, distance, margin, swap, reduction_of(reduction))


_triplets: Op = composite(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, *, float margin=1.0, float p=2.0, "
    "float eps=1e-6, bool swap=False, str reduction='mean') -> Tensor",
    body=_triplet,
    namespace="-",
    outside=True,
    doc="max(0, margin + distance to the positive - distance to the negative) "
    "(torch.nn.functional.triplet_margin_loss).",
    autocast="float32",
)


@public("nn.functional")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.triplet_margin_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _triplets(anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)


@public("nn.functional")
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """As triplet_margin_loss, with a distance of your own."""
    reduction = reduction_of(reduction)
    distance = distance_function or pairwise_distance
    return _apart(anchor, positive, negative, distance, margin, swap, reduction)


def _soft_margin(input: Any, target: Any, reduction: str) -> Any:
    reduction = reduction_of(reduction)
    return reduced(mul(neg(target), input).exp().log1p(), reduction)


_soft: Op = composite(
    "soft_margin_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor",
    body=_soft_margin,
    namespace="-",
    outside=True,
    doc="log(1 + exp(-target input)) (torch.nn.functional.soft_margin_loss).",
    autocast="float32",
)


@public("nn.functional")
def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.soft_margin_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _soft(input, target, reduction=reduction)


def _poisson(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: str) -> Any:
    reduction = reduction_of(reduction)
    if log_input:
        loss = sub(input.exp(), mul(target, input))
    else:
        loss = sub(input, mul(target, add(input, eps).log()))
    if full:
        # Stirling's approximation of log(target!), for targets above 1.
        more = add(sub(mul(target, target.log()), target), mul(mul(target, 2 * math.pi).log(), 0.5))
        loss = add(loss, where(target.le(1), zeros_like(more), more))
    return reduced(loss, reduction)


_counts: Op = composite(
    "poisson_nll_loss(Tensor input, Tensor target, *, bool log_input=True, bool full=False, float eps=1e-8, "
    "str reduction='mean') -> Tensor",
    body=_poisson,
    namespace="-",
    outside=True,
    doc="The negative log likelihood of counts under a Poisson rate (torch.nn.functional.poisson_nll_loss).",
    autocast="float32",
)


@public("nn.functional")
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """See torch.nn.functional.poisson_nll_loss."""
    reduction = reduction_of(reduction, size_average, reduce)
    return _counts(input, target, log_input=log_input, full=full, eps=eps, reduction=reduction)
