"""The layers that store their arguments and call a function: a row each for `_layer`.

Source: https://pytorch.org/docs/stable/nn.html
"""

from __future__ import annotations

from ._bases import (
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
    Triplet,
    Weighted,
)
from ._layer import layer

_INPLACE = "inplace: bool = False"
_DIM = "dim: int | None = None"
_REDUCED = "size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean'"
_CLASSES = (
    "weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, "
    "reduce: bool | None = None, reduction: str = 'mean'"
)
_BLOCKS = "kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1"
_ADAPTIVE = "output_size: Any, return_indices: bool = False"
_POWER = "norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False"
_PAIR = 'Two tensors of one shape to a scalar (their shape with reduction "none").'
_TRIPLE = 'Three tensors of one shape to a scalar (their shape with reduction "none").'

# -- activations --------------------------------------------------------------------------------------

ReLU = layer("ReLU", "relu(input)", "max(x, 0).", _INPLACE)
LeakyReLU = layer(
    "LeakyReLU",
    "leaky_relu(input)",
    "x where positive, else `negative_slope` * x.",
    f"negative_slope: float = 0.01, {_INPLACE}",
)
ELU = layer(
    "ELU",
    "elu(input)",
    "x where positive, else `alpha` * (exp(x) - 1).",
    f"alpha: float = 1.0, {_INPLACE}",
)
CELU = layer(
    "CELU",
    "celu(input)",
    "max(x, 0) + min(`alpha` * (exp(x / `alpha`) - 1), 0).",
    f"alpha: float = 1.0, {_INPLACE}",
)
SELU = layer("SELU", "selu(input)", "A scaled ELU whose outputs keep mean 0 and variance 1.", _INPLACE)
GELU = layer(
    "GELU",
    "gelu(input)",
    'x * Φ(x), with Φ the normal distribution; `approximate` "tanh" for its approximation.',
    "approximate: str = 'none'",
)
SiLU = layer("SiLU", "silu(input)", "x * sigmoid(x).", _INPLACE)
Mish = layer("Mish", "mish(input)", "x * tanh(softplus(x)).", _INPLACE)
Hardswish = layer("Hardswish", "hardswish(input)", "x * relu6(x + 3) / 6.", _INPLACE, shows="")
Hardsigmoid = layer("Hardsigmoid", "hardsigmoid(input)", "relu6(x + 3) / 6.", _INPLACE, shows="")
Threshold = layer(
    "Threshold",
    "threshold(input)",
    "x where it is over `threshold`, else `value`.",
    f"threshold: float, value: float, {_INPLACE}",
)
Tanh = layer("Tanh", "tanh(input)", "tanh(x).")
Sigmoid = layer("Sigmoid", "sigmoid(input)", "1 / (1 + exp(-x)).")
LogSigmoid = layer("LogSigmoid", "logsigmoid(input)", "log(1 / (1 + exp(-x))).")
Softsign = layer("Softsign", "softsign(input)", "x / (1 + abs(x)).")
Tanhshrink = layer("Tanhshrink", "tanhshrink(input)", "x - tanh(x).")
Softplus = layer(
    "Softplus",
    "softplus(input)",
    "log(1 + exp(`beta` * x)) / `beta`, and x itself where `beta` * x is over `threshold`.",
    "beta: float = 1.0, threshold: float = 20.0",
)
Softshrink = layer("Softshrink", "softshrink(input)", "x brought nearer to 0 by `lambd`.", base=Shrink)
Hardshrink = layer(
    "Hardshrink", "hardshrink(input)", "x where its absolute value is over `lambd`, else 0.", base=Shrink
)
Softmax = layer("Softmax", "softmax(input)", "exp(x) over its sum along `dim`.", _DIM)
LogSoftmax = layer("LogSoftmax", "log_softmax(input)", "The logarithm of softmax along `dim`.", _DIM)
Softmin = layer("Softmin", "softmin(input)", "Softmax of -x along `dim`.", _DIM)
GLU = layer(
    "GLU",
    "glu(input)",
    "The first half along `dim`, times the sigmoid of the second.",
    "dim: int = -1",
    gives="Half as many elements along `dim`.",
)

# -- losses -------------------------------------------------------------------------------------------

L1Loss = layer(
    "L1Loss",
    "l1_loss(input, target)",
    "The absolute difference.",
    base=Loss,
    gives=_PAIR,
)
MSELoss = layer(
    "MSELoss",
    "mse_loss(input, target)",
    "The squared difference.",
    base=Loss,
    gives=_PAIR,
)
SmoothL1Loss = layer(
    "SmoothL1Loss",
    "smooth_l1_loss(input, target)",
    "Squared below `beta`, absolute above.",
    f"{_REDUCED}, beta: float = 1.0",
    base=Loss,
    gives=_PAIR,
)
HuberLoss = layer(
    "HuberLoss",
    "huber_loss(input, target)",
    "Squared below `delta`, absolute above, continuously joined.",
    "reduction: str = 'mean', delta: float = 1.0",
    base=Loss,
    gives=_PAIR,
)
KLDivLoss = layer(
    "KLDivLoss",
    "kl_div(input, target)",
    "The divergence of `target` from the log-probabilities `input`.",
    f"{_REDUCED}, log_target: bool = False",
    base=Loss,
    gives=_PAIR,
)
BCELoss = layer(
    "BCELoss",
    "binary_cross_entropy(input, target)",
    "Binary cross-entropy of probabilities.",
    base=Weighted,
    gives='Probabilities and targets of one shape to a scalar (their shape with reduction "none").',
)
BCEWithLogitsLoss = layer(
    "BCEWithLogitsLoss",
    "binary_cross_entropy_with_logits(input, target)",
    "Binary cross-entropy of logits; `pos_weight` multiplies the positive part.",
    f"weight: Tensor | None = None, {_REDUCED}, pos_weight: Tensor | None = None",
    base=Weighted,
    gives='Logits and targets of one shape to a scalar (their shape with reduction "none").',
)
NLLLoss = layer(
    "NLLLoss",
    "nll_loss(input, target)",
    "The negative log-likelihood of classes, given log-probabilities; `weight` is one number a class.",
    _CLASSES,
    base=Weighted,
    gives='Log-probabilities (N, C, *) and classes (N, *) to a scalar ((N, *) with reduction "none").',
)
CrossEntropyLoss = layer(
    "CrossEntropyLoss",
    "cross_entropy(input, target)",
    "The cross-entropy of logits and classes (or class probabilities); `weight` is one number a class.",
    f"{_CLASSES}, label_smoothing: float = 0.0",
    base=Weighted,
    gives='Logits (N, C, *) and classes (N, *) to a scalar ((N, *) with reduction "none").',
)
HingeEmbeddingLoss = layer(
    "HingeEmbeddingLoss",
    "hinge_embedding_loss(input, target)",
    "x where the target is 1, max(0, `margin` - x) where it is -1.",
    f"margin: float = 1.0, {_REDUCED}",
    base=Loss,
    gives=_PAIR,
)
SoftMarginLoss = layer(
    "SoftMarginLoss",
    "soft_margin_loss(input, target)",
    "log(1 + exp(-y x)), for targets y of 1 and -1.",
    base=Loss,
    gives=_PAIR,
)
MarginRankingLoss = layer(
    "MarginRankingLoss",
    "margin_ranking_loss(input1, input2, target)",
    "max(0, -y (x1 - x2) + `margin`): x1 is to rank higher where y is 1, lower where it is -1.",
    f"margin: float = 0.0, {_REDUCED}",
    base=Loss,
    gives=_TRIPLE,
)
CosineEmbeddingLoss = layer(
    "CosineEmbeddingLoss",
    "cosine_embedding_loss(input1, input2, target)",
    "1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - `margin`) where it is -1.",
    f"margin: float = 0.0, {_REDUCED}",
    base=Loss,
    gives='(N, D), (N, D) and (N) to a scalar ((N) with reduction "none").',
)
TripletMarginLoss = layer(
    "TripletMarginLoss",
    "triplet_margin_loss(anchor, positive, negative)",
    "max(0, d(anchor, positive) - d(anchor, negative) + `margin`), with the p-norm for the distance.",
    base=Triplet,
    gives='Three (N, D) or (D) to a scalar ((N) with reduction "none").',
)
PoissonNLLLoss = layer(
    "PoissonNLLLoss",
    "poisson_nll_loss(log_input, target)",
    "The negative log-likelihood of counts `target` under Poisson's distribution of (the log of) rates.",
    "log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8, "
    "reduce: bool | None = None, reduction: str = 'mean'",
    base=Loss,
    gives=_PAIR,
)

# -- pooling ------------------------------------------------------------------------------------------

MaxPool1d = layer(
    "MaxPool1d",
    "max_pool1d(input)",
    "The largest element of each window of (N, C, L); `stride` None is the window's size.",
    base=MaxPool,
    returns="Any",
    gives="(N, C, L) to (N, C, L_out), and where each came from with `return_indices`.",
)
MaxPool2d = layer(
    "MaxPool2d",
    "max_pool2d(input)",
    "The largest element of each window of (N, C, H, W); `stride` None is the window's size.",
    base=MaxPool,
    returns="Any",
    gives="(N, C, H, W) to (N, C, H_out, W_out), and where each came from with `return_indices`.",
)
AvgPool1d = layer(
    "AvgPool1d",
    "avg_pool1d(input)",
    "The average of each window of (N, C, L); `stride` None is the window's size.",
    base=AvgPoolOf1,
    gives="(N, C, L) to (N, C, L_out).",
)
AvgPool2d = layer(
    "AvgPool2d",
    "avg_pool2d(input)",
    "The average of each window of (N, C, H, W), or its sum over `divisor_override`.",
    base=AvgPoolOf2,
    gives="(N, C, H, W) to (N, C, H_out, W_out).",
)
AdaptiveAvgPool1d = layer(
    "AdaptiveAvgPool1d",
    "adaptive_avg_pool1d(input)",
    "Averages over the last dimension, as many as `output_size`.",
    "output_size: Any",
    gives="(N, C, L) to (N, C, output_size).",
    base=AdaptiveAvgPool,
)
AdaptiveAvgPool2d = layer(
    "AdaptiveAvgPool2d",
    "adaptive_avg_pool2d(input)",
    "Averages over the last two dimensions; a None in `output_size` keeps a size.",
    "output_size: Any",
    gives="(N, C, H, W) to (N, C, *output_size).",
    base=AdaptiveAvgPool,
)

MaxPool3d = layer(
    "MaxPool3d",
    "max_pool3d(input)",
    "The largest element of each window of (N, C, D, H, W); `stride` None is the window's size.",
    base=MaxPool,
    returns="Any",
    gives="(N, C, D, H, W) to (N, C, D_out, H_out, W_out), and where each came from with `return_indices`.",
)
AvgPool3d = layer(
    "AvgPool3d",
    "avg_pool3d(input)",
    "The average of each window of (N, C, D, H, W), or its sum over `divisor_override`.",
    base=AvgPoolOf2,
    gives="(N, C, D, H, W) to (N, C, D_out, H_out, W_out).",
)
AdaptiveAvgPool3d = layer(
    "AdaptiveAvgPool3d",
    "adaptive_avg_pool3d(input)",
    "Averages over the last three dimensions; a None in `output_size` keeps a size.",
    "output_size: Any",
    gives="(N, C, D, H, W) to (N, C, *output_size).",
    base=AdaptiveAvgPool,
)
AdaptiveMaxPool1d = layer(
    "AdaptiveMaxPool1d",
    "adaptive_max_pool1d(input)",
    "Maxima over the last dimension, as many as `output_size`.",
    _ADAPTIVE,
    returns="Any",
    gives="(N, C, L) to (N, C, output_size), and where each came from with `return_indices`.",
    shows="output_size",
    base=AdaptiveMaxPool,
)
AdaptiveMaxPool2d = layer(
    "AdaptiveMaxPool2d",
    "adaptive_max_pool2d(input)",
    "Maxima over the last two dimensions; a None in `output_size` keeps a size.",
    _ADAPTIVE,
    returns="Any",
    gives="(N, C, H, W) to (N, C, *output_size), and where each came from with `return_indices`.",
    shows="output_size",
    base=AdaptiveMaxPool,
)
AdaptiveMaxPool3d = layer(
    "AdaptiveMaxPool3d",
    "adaptive_max_pool3d(input)",
    "Maxima over the last three dimensions; a None in `output_size` keeps a size.",
    _ADAPTIVE,
    returns="Any",
    gives="(N, C, D, H, W) to (N, C, *output_size), and where each came from with `return_indices`.",
    shows="output_size",
    base=AdaptiveMaxPool,
)
LPPool1d = layer(
    "LPPool1d",
    "lp_pool1d(input)",
    "The p-norm of each window of (N, C, L), p being `norm_type`.",
    _POWER,
    gives="(N, C, L) to (N, C, L_out).",
    base=PowerPool,
)
LPPool2d = layer(
    "LPPool2d",
    "lp_pool2d(input)",
    "The p-norm of each window of (N, C, H, W), p being `norm_type`.",
    _POWER,
    gives="(N, C, H, W) to (N, C, H_out, W_out).",
    base=PowerPool,
)
LPPool3d = layer(
    "LPPool3d",
    "lp_pool3d(input)",
    "The p-norm of each window of (N, C, D, H, W), p being `norm_type`.",
    _POWER,
    gives="(N, C, D, H, W) to (N, C, D_out, H_out, W_out).",
    base=PowerPool,
)

# -- dropout ------------------------------------------------------------------------------------------

Dropout = layer(
    "Dropout",
    "dropout(input)",
    "While training: each element is zeroed with probability `p`, the others are scaled by 1 / (1 - p).",
    base=Dropping,
    passes="p training inplace",
)
Dropout1d = layer(
    "Dropout1d",
    "dropout1d(input)",
    "While training: each channel of (N, C, L) is zeroed with probability `p`, as a whole.",
    base=Dropping,
    passes="p training inplace",
)
Dropout2d = layer(
    "Dropout2d",
    "dropout2d(input)",
    "While training: each channel of (N, C, H, W) is zeroed with probability `p`, as a whole.",
    base=Dropping,
    passes="p training inplace",
)
Dropout3d = layer(
    "Dropout3d",
    "dropout3d(input)",
    "While training: each channel of (N, C, D, H, W) is zeroed with probability `p`, as a whole.",
    base=Dropping,
    passes="p training inplace",
)
AlphaDropout = layer(
    "AlphaDropout",
    "alpha_dropout(input)",
    "While training: each element saturates with probability `p`, as by SELU; mean and variance stay.",
    base=Dropping,
    passes="p training",
)
FeatureAlphaDropout = layer(
    "FeatureAlphaDropout",
    "feature_alpha_dropout(input)",
    "While training: each channel of (N, C, *) saturates with probability `p`, as a whole.",
    base=Dropping,
    passes="p training",
)

# -- distances ----------------------------------------------------------------------------------------

CosineSimilarity = layer(
    "CosineSimilarity",
    "cosine_similarity(x1, x2)",
    "The cosine of the angle of two vectors along `dim`.",
    "dim: int = 1, eps: float = 1e-8",
    gives="Two tensors to their shape without `dim`.",
    shows="",
)
PairwiseDistance = layer(
    "PairwiseDistance",
    "pairwise_distance(x1, x2)",
    "The p-norm of the difference along the last dimension, `eps` added to it.",
    base=Distance,
    passes="p=norm eps keepdim",
    gives="(N, D) or (D) to (N) or ().",
)

# -- sliding blocks of images -------------------------------------------------------------------------

Unfold = layer(
    "Unfold",
    "unfold(input)",
    "The blocks of (N, C, H, W) as columns, (N, C * cells of a block, blocks).",
    _BLOCKS,
    gives="(N, C, H, W) or (C, H, W) to columns.",
)
Fold = layer(
    "Fold",
    "fold(input)",
    "Columns of blocks added into images (N, C, *output_size).",
    f"output_size: Any, {_BLOCKS}",
    base=Unfold,
    gives="(N, C * cells of a block, blocks), or without N, to images.",
)

# -- channels and space -------------------------------------------------------------------------------

PixelShuffle = layer(
    "PixelShuffle",
    "pixel_shuffle(input)",
    "Channels become the elements of cells, `upscale_factor` in both directions.",
    "upscale_factor: int",
    gives="(*, C * r * r, H, W) to (*, C, H * r, W * r).",
)
PixelUnshuffle = layer(
    "PixelUnshuffle",
    "pixel_unshuffle(input)",
    "The elements of cells, `downscale_factor` in both directions, become channels.",
    "downscale_factor: int",
    gives="(*, C, H * r, W * r) to (*, C * r * r, H, W).",
)
ChannelShuffle = layer(
    "ChannelShuffle",
    "channel_shuffle(input)",
    "The channels of `groups` taken in turn.",
    "groups: int",
)
