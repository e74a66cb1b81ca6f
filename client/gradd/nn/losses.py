"""Losses that do more than store their arguments: margins of classes, Gaussian likelihoods, any distance,
sequences in every alignment.

Source: https://pytorch.org/docs/stable/nn.html#loss-functions
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from . import functional as F
from ._bases import Loss, Weighted
from ._table import NLLLoss, PairwiseDistance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._tensor import Tensor


class NLLLoss2d(NLLLoss):
    """NLLLoss under its old name for images."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class MultiMarginLoss(Weighted):
    """max(0, `margin` + score - the target's score)^p, averaged over the classes; `p` is 1 or 2."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead"
            )
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Scores (N, C) and classes (N) to a scalar ((N) with reduction "none")."""
        out: Tensor = F.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )
        return out


class MultiLabelMarginLoss(Loss):
    """max(0, 1 - a wanted class's score + another's), over all pairs; targets end at the first below 0."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Scores (N, C) and classes (N, C) to a scalar ((N) with reduction "none")."""
        out: Tensor = F.multilabel_margin_loss(input, target, reduction=self.reduction)
        return out


class MultiLabelSoftMarginLoss(Weighted):
    """Binary cross-entropies of logits, averaged over the classes; `weight` is one number a class."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Logits (N, C) and targets of 0 and 1 to a scalar ((N) with reduction "none")."""
        out: Tensor = F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )
        return out


class GaussianNLLLoss(Loss):
    """The negative log-likelihood of targets under Gaussians; variances are `eps` at least."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """Means, targets and variances to a scalar (the targets' shape with reduction "none")."""
        out: Tensor = F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )
        return out


class TripletMarginWithDistanceLoss(Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + `margin`), by any function for the distance."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(None, None, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Three (N, D) to a scalar ((N) with reduction "none")."""
        out: Tensor = F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
        return out


class CTCLoss(Loss):
    """The negative log-likelihood of targets shorter than their inputs, over all alignments.

    `blank` is the class that stands for none; with `zero_infinity` losses of inputs that are too short for
    their targets are 0, and so are their gradients.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(None, None, reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """Log-probabilities (T, N, C) and targets (N, S), or one after the other, to a scalar or (N)."""
        out: Tensor = F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
        return out
