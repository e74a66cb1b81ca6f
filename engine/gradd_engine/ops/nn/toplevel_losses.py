"""Losses at the top level: those of nn.functional, with reductions by number (0 none, 1 mean, 2 sum)."""

from __future__ import annotations

from typing import Any

from ...declare import public
from ...tensor import Tensor
from .toplevel import layer


def _reduction(number: int) -> str:
    if number not in (0, 1, 2):
        raise RuntimeError(f"{number} is no reduction: 0 is none, 1 is mean, 2 is sum")
    return ("none", "mean", "sum")[number]


@public()
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Any:
    """See torch.nn.functional.binary_cross_entropy_with_logits."""
    loss = layer("binary_cross_entropy_with_logits")
    return loss(input, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight)


@public()
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Any:
    """See torch.nn.functional.cosine_embedding_loss."""
    loss = layer("cosine_embedding_loss")
    return loss(input1, input2, target, margin, reduction=_reduction(reduction))


@public()
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Any:
    """See torch.nn.functional.ctc_loss."""
    given = (log_probs, targets, input_lengths, target_lengths, blank)
    return layer("ctc_loss")(*given, reduction=_reduction(reduction), zero_infinity=zero_infinity)


@public()
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Any:
    """See torch.nn.functional.hinge_embedding_loss."""
    return layer("hinge_embedding_loss")(input, target, margin, reduction=_reduction(reduction))


@public()
def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Any:
    """See torch.nn.functional.kl_div."""
    how = _reduction(reduction)
    found = layer("kl_div")(input, target, reduction="none" if how == "mean" else how, log_target=log_target)
    return found.mean() if how == "mean" else found


@public()
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Any:
    """See torch.nn.functional.margin_ranking_loss."""
    return layer("margin_ranking_loss")(input1, input2, target, margin, reduction=_reduction(reduction))


@public()
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    """See torch.nn.functional.poisson_nll_loss."""
    loss = layer("poisson_nll_loss")
    return loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


@public()
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 1,
) -> Any:
    """See torch.nn.functional.triplet_margin_loss."""
    loss = layer("triplet_margin_loss")
    return loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))
