"""Losses as modules; `reduction` is "mean", "sum" or "none".

Source: https://pytorch.org/docs/stable/nn.html#loss-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_engine.ops.nn.losses import reduction_of

from . import functional as F
from .module import Module

if TYPE_CHECKING:
    from .._tensor import Tensor


class _Loss(Module):
    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        legacy = size_average is not None or reduce is not None
        self.reduction = reduction_of(reduction, size_average, reduce) if legacy else reduction


class L1Loss(_Loss):
    """The absolute difference."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.l1_loss(input, target, reduction=self.reduction)
        return out


class MSELoss(_Loss):
    """The squared difference."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.mse_loss(input, target, reduction=self.reduction)
        return out


class SmoothL1Loss(_Loss):
    """Squared below `beta`, absolute above."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)
        return out


class HuberLoss(_Loss):
    """Squared below `delta`, absolute above, continuously joined."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)
        return out


class KLDivLoss(_Loss):
    """The divergence of `target` from the log-probabilities `input`."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
        return out


class _Weighted(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class BCELoss(_Weighted):
    """Binary cross-entropy of probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Probabilities and targets of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)
        return out


class BCEWithLogitsLoss(_Weighted):
    """Binary cross-entropy of logits; `pos_weight` multiplies the positive part."""

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Logits and targets of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.binary_cross_entropy_with_logits(
            input, target, weight=self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )
        return out


class NLLLoss(_Weighted):
    """The negative log-likelihood of classes, given log-probabilities; `weight` is one number a class."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Log-probabilities (N, C, *) and classes (N, *) to a scalar ((N, *) with reduction "none")."""
        out: Tensor = F.nll_loss(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )
        return out


class CrossEntropyLoss(_Weighted):
    """The cross-entropy of logits and classes (or class probabilities); `weight` is one number a class."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Logits (N, C, *) and classes (N, *) to a scalar ((N, *) with reduction "none")."""
        out: Tensor = F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
        return out


class HingeEmbeddingLoss(_Loss):
    """x where the target is 1, max(0, `margin` - x) where it is -1."""

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)
        return out


class SoftMarginLoss(_Loss):
    """log(1 + exp(-y x)), for targets y of 1 and -1."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.soft_margin_loss(input, target, reduction=self.reduction)
        return out


class _Margin(_Loss):
    """A loss whose `margin` is 0 unless it is given."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_Margin):
    """max(0, -y (x1 - x2) + `margin`): x1 is to rank higher where y is 1, lower where it is -1."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Three tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )
        return out


class CosineEmbeddingLoss(_Margin):
    """1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - `margin`) where it is -1."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """(N, D), (N, D) and (N) to a scalar ((N) with reduction "none")."""
        out: Tensor = F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )
        return out


class TripletMarginLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + `margin`), with the p-norm for the distance."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Three (N, D) or (D) to a scalar ((N) with reduction "none")."""
        out: Tensor = F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )
        return out


class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of counts `target` under Poisson's distribution of (the log of) rates."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""
        out: Tensor = F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )
        return out
