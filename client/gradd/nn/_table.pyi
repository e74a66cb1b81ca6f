"""The layers that store their arguments and call a function, typed.

Written by `make face` from the declarations of ops.
"""

from typing import Any

from gradd._tensor.tensor import Tensor
from gradd.nn._bases import (
    AdaptiveAvgPool,
    AdaptiveMaxPool,
    AvgPoolOf1,
    AvgPoolOf2,
    Distance,
    Dropping,
    Loss,
    MaxPool,
    PowerPool,
    Shrink,
    Sizes,
    Triplet,
    Weighted,
)
from gradd.nn._layer import Stored

class ReLU(Stored):
    """max(x, 0)."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class LeakyReLU(Stored):
    """x where positive, else `negative_slope` * x."""

    negative_slope: float
    inplace: bool
    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class ELU(Stored):
    """x where positive, else `alpha` * (exp(x) - 1)."""

    alpha: float
    inplace: bool
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class CELU(Stored):
    """max(x, 0) + min(`alpha` * (exp(x / `alpha`) - 1), 0)."""

    alpha: float
    inplace: bool
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class SELU(Stored):
    """A scaled ELU whose outputs keep mean 0 and variance 1."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class GELU(Stored):
    """x * Φ(x), with Φ the normal distribution; `approximate` "tanh" for its approximation."""

    approximate: str
    def __init__(self, approximate: str = "none") -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class SiLU(Stored):
    """x * sigmoid(x)."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Mish(Stored):
    """x * tanh(softplus(x))."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Hardswish(Stored):
    """x * relu6(x + 3) / 6."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Hardsigmoid(Stored):
    """relu6(x + 3) / 6."""

    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Threshold(Stored):
    """x where it is over `threshold`, else `value`."""

    threshold: float
    value: float
    inplace: bool
    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Tanh(Stored):
    """tanh(x)."""

    def __init__(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Sigmoid(Stored):
    """1 / (1 + exp(-x))."""

    def __init__(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class LogSigmoid(Stored):
    """log(1 / (1 + exp(-x)))."""

    def __init__(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Softsign(Stored):
    """x / (1 + abs(x))."""

    def __init__(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Tanhshrink(Stored):
    """x - tanh(x)."""

    def __init__(self) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Softplus(Stored):
    """log(1 + exp(`beta` * x)) / `beta`, and x itself where `beta` * x is over `threshold`."""

    beta: float
    threshold: float
    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Softshrink(Shrink):
    """x brought nearer to 0 by `lambd`."""

    def __init__(self, lambd: float = 0.5) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Hardshrink(Shrink):
    """x where its absolute value is over `lambd`, else 0."""

    def __init__(self, lambd: float = 0.5) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Softmax(Stored):
    """exp(x) over its sum along `dim`."""

    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class LogSoftmax(Stored):
    """The logarithm of softmax along `dim`."""

    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Softmin(Stored):
    """Softmax of -x along `dim`."""

    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class GLU(Stored):
    """The first half along `dim`, times the sigmoid of the second."""

    dim: int
    def __init__(self, dim: int = -1) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """Half as many elements along `dim`."""

class L1Loss(Loss):
    """The absolute difference."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class MSELoss(Loss):
    """The squared difference."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class SmoothL1Loss(Loss):
    """Squared below `beta`, absolute above."""

    beta: float
    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class HuberLoss(Loss):
    """Squared below `delta`, absolute above, continuously joined."""

    delta: float
    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class KLDivLoss(Loss):
    """The divergence of `target` from the log-probabilities `input`."""

    log_target: bool
    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class BCELoss(Weighted):
    """Binary cross-entropy of probabilities."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Probabilities and targets of one shape to a scalar (their shape with reduction "none")."""

class BCEWithLogitsLoss(Weighted):
    """Binary cross-entropy of logits; `pos_weight` multiplies the positive part."""

    pos_weight: Tensor | None
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Logits and targets of one shape to a scalar (their shape with reduction "none")."""

class NLLLoss(Weighted):
    """The negative log-likelihood of classes, given log-probabilities; `weight` is one number a class."""

    ignore_index: int
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Log-probabilities (N, C, *) and classes (N, *) to a scalar ((N, *) with reduction "none")."""

class CrossEntropyLoss(Weighted):
    """The cross-entropy of logits and classes (or class probabilities); `weight` is one number a class."""

    ignore_index: int
    label_smoothing: float
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Logits (N, C, *) and classes (N, *) to a scalar ((N, *) with reduction "none")."""

class HingeEmbeddingLoss(Loss):
    """x where the target is 1, max(0, `margin` - x) where it is -1."""

    margin: float
    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class SoftMarginLoss(Loss):
    """log(1 + exp(-y x)), for targets y of 1 and -1."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class MarginRankingLoss(Loss):
    """max(0, -y (x1 - x2) + `margin`): x1 is to rank higher where y is 1, lower where it is -1."""

    margin: float
    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Three tensors of one shape to a scalar (their shape with reduction "none")."""

class CosineEmbeddingLoss(Loss):
    """1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - `margin`) where it is -1."""

    margin: float
    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """(N, D), (N, D) and (N) to a scalar ((N) with reduction "none")."""

class TripletMarginLoss(Triplet):
    """max(0, d(anchor, positive) - d(anchor, negative) + `margin`), with the p-norm for the distance."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-06,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Three (N, D) or (D) to a scalar ((N) with reduction "none")."""

class PoissonNLLLoss(Loss):
    """The negative log-likelihood of counts `target` under Poisson's distribution of (the log of) rates."""

    log_input: bool
    full: bool
    eps: float
    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-08,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None: ...
    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape to a scalar (their shape with reduction "none")."""

class MaxPool1d(MaxPool):
    """The largest element of each window of (N, C, L); `stride` None is the window's size."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) to (N, C, L_out), and where each came from with `return_indices`."""

class MaxPool2d(MaxPool):
    """The largest element of each window of (N, C, H, W); `stride` None is the window's size."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C, H_out, W_out), and where each came from with `return_indices`."""

class AvgPool1d(AvgPoolOf1):
    """The average of each window of (N, C, L); `stride` None is the window's size."""

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] | None = None,
        padding: int | tuple[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) to (N, C, L_out)."""

class AvgPool2d(AvgPoolOf2):
    """The average of each window of (N, C, H, W), or its sum over `divisor_override`."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C, H_out, W_out)."""

class AdaptiveAvgPool1d(AdaptiveAvgPool):
    """Averages over the last dimension, as many as `output_size`."""

    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) to (N, C, output_size)."""

class AdaptiveAvgPool2d(AdaptiveAvgPool):
    """Averages over the last two dimensions; a None in `output_size` keeps a size."""

    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C, *output_size)."""

class MaxPool3d(MaxPool):
    """The largest element of each window of (N, C, D, H, W); `stride` None is the window's size."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) to (N, C, D_out, H_out, W_out), and where each came from with `return_indices`."""

class AvgPool3d(AvgPoolOf2):
    """The average of each window of (N, C, D, H, W), or its sum over `divisor_override`."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) to (N, C, D_out, H_out, W_out)."""

class AdaptiveAvgPool3d(AdaptiveAvgPool):
    """Averages over the last three dimensions; a None in `output_size` keeps a size."""

    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) to (N, C, *output_size)."""

class AdaptiveMaxPool1d(AdaptiveMaxPool):
    """Maxima over the last dimension, as many as `output_size`."""

    output_size: Any
    return_indices: bool
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) to (N, C, output_size), and where each came from with `return_indices`."""

class AdaptiveMaxPool2d(AdaptiveMaxPool):
    """Maxima over the last two dimensions; a None in `output_size` keeps a size."""

    output_size: Any
    return_indices: bool
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C, *output_size), and where each came from with `return_indices`."""

class AdaptiveMaxPool3d(AdaptiveMaxPool):
    """Maxima over the last three dimensions; a None in `output_size` keeps a size."""

    output_size: Any
    return_indices: bool
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) to (N, C, *output_size), and where each came from with `return_indices`."""

class LPPool1d(PowerPool):
    """The p-norm of each window of (N, C, L), p being `norm_type`."""

    norm_type: float
    kernel_size: Any
    stride: Any
    ceil_mode: bool
    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) to (N, C, L_out)."""

class LPPool2d(PowerPool):
    """The p-norm of each window of (N, C, H, W), p being `norm_type`."""

    norm_type: float
    kernel_size: Any
    stride: Any
    ceil_mode: bool
    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C, H_out, W_out)."""

class LPPool3d(PowerPool):
    """The p-norm of each window of (N, C, D, H, W), p being `norm_type`."""

    norm_type: float
    kernel_size: Any
    stride: Any
    ceil_mode: bool
    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) to (N, C, D_out, H_out, W_out)."""

class Dropout(Dropping):
    """While training: each element is zeroed with probability `p`, the others are scaled by 1 / (1 - p)."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Dropout1d(Dropping):
    """While training: each channel of (N, C, L) is zeroed with probability `p`, as a whole."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Dropout2d(Dropping):
    """While training: each channel of (N, C, H, W) is zeroed with probability `p`, as a whole."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class Dropout3d(Dropping):
    """While training: each channel of (N, C, D, H, W) is zeroed with probability `p`, as a whole."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class AlphaDropout(Dropping):
    """While training: each element saturates with probability `p`, as by SELU; mean and variance stay."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class FeatureAlphaDropout(Dropping):
    """While training: each channel of (N, C, *) saturates with probability `p`, as a whole."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""

class CosineSimilarity(Stored):
    """The cosine of the angle of two vectors along `dim`."""

    dim: int
    eps: float
    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None: ...
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Two tensors to their shape without `dim`."""

class PairwiseDistance(Distance):
    """The p-norm of the difference along the last dimension, `eps` added to it."""

    def __init__(self, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> None: ...
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """(N, D) or (D) to (N) or ()."""

class Unfold(Stored):
    """The blocks of (N, C, H, W) as columns, (N, C * cells of a block, blocks)."""

    kernel_size: Any
    dilation: Any
    padding: Any
    stride: Any
    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W) to columns."""

class Fold(Unfold):
    """Columns of blocks added into images (N, C, *output_size)."""

    output_size: Any
    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(N, C * cells of a block, blocks), or without N, to images."""

class PixelShuffle(Stored):
    """Channels become the elements of cells, `upscale_factor` in both directions."""

    upscale_factor: int
    def __init__(self, upscale_factor: int) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(*, C * r * r, H, W) to (*, C, H * r, W * r)."""

class PixelUnshuffle(Stored):
    """The elements of cells, `downscale_factor` in both directions, become channels."""

    downscale_factor: int
    def __init__(self, downscale_factor: int) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """(*, C, H * r, W * r) to (*, C * r * r, H, W)."""

class ChannelShuffle(Stored):
    """The channels of `groups` taken in turn."""

    groups: int
    def __init__(self, groups: int) -> None: ...
    def forward(self, input: Tensor) -> Tensor:
        """The same shape."""
