"""Layers and losses as functions (torch.nn.functional), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from gradd_engine.data.dtypes import DType as dtype

from gradd._tensor.tensor import Tensor

_Number: TypeAlias = int | float | complex

def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Average pooling over the last dimension to `output_size`.

    Shapes: (2, 3) -> (2, 1). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: adaptive_avg_pool1d() argument 'output_size' should contain one int (got
      ...)
    Raises RuntimeError: Expected 2 to 3 dimensions, but got ...-dimensional tensor for argument #1
      'self' (while ...
    Raises ValueError: Input dimension should be at least ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool1d.html
    """

def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Averages over [H, W] to `output_size`; None keeps a size.

    Shapes: (2, 3, 4) -> (2, 1, 1). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises ValueError: Input dimension should be at least ...
    Raises RuntimeError: ...(): Expected ...D or ...D tensor, but got... ...
    Raises RuntimeError: adaptive_avg_pool2d: output_size must be 2

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool2d.html
    """

def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Averages over [D, H, W] to `output_size`; None keeps a size.

    Shapes: (2, 3, 8, 8) -> (2, 1, 1, 1). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises ValueError: Input dimension should be at least ...
    Raises RuntimeError: adaptive_avg_pool3d: output_size must be 3

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool3d.html
    """

@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Maxima of `output_size` windows.

    Shapes: (2, 3) -> (2, 1). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html
    """

@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> Any: ...
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """, with return_indices=True.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d_with_indices.html
    """

@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Maxima of `output_size` windows.

    Shapes: (2, 3, 4) -> (2, 1, 1). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d.html
    """

@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> Any: ...
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """, with return_indices=True.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d_with_indices.html
    """

@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """Maxima of `output_size` windows.

    Shapes: (2, 3, 8, 8) -> (2, 1, 1, 1). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d.html
    """

@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> Any: ...
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """, with return_indices=True.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d_with_indices.html
    """

def affine_grid(theta: Any, size: int | Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid of places that affine maps give, for `grid_sample`.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html
    """

def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Elements set to SELU's saturation value with probability `p`, preserving mean and variance.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Feature dropout requires at least 2 dimensions in the input

    https://pytorch.org/docs/stable/generated/torch.nn.functional.alpha_dropout.html
    """

def avg_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Averages over windows of [N, C, L] or [C, L].

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises RuntimeError: Expected 2 to 3 dimensions, but got ...-dimensional tensor for argument #1
      'self' (while ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool1d.html
    """

def avg_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Averages over windows of [N, C, H, W] or [C, H, W].

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises RuntimeError: ...: ... must either be a single int, or a tuple of two ints
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool2d.html
    """

def avg_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Averages over windows of [N, C, D, H, W] or [C, D, H, W].

    Shapes: (2, 3, 8, 8) -> (2, 3, 8, 8). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises RuntimeError: ...: ... a single int, or a tuple of three ints

    https://pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool3d.html
    """

def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Normalises each channel, by the batch's statistics in training, otherwise by running ones.

    Shapes: (2, 3), (3,), (3,) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises ValueError: batch_norm eps must be non-negative, but got ...
    Raises ValueError: Expected more than 1 value per channel when training, got input size ...
    Raises ValueError: batch_norm eps must be positive during training, but got ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.batch_norm.html
    """

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 W x2 + b for each matrix W of `weight` [out, in1, in2].

    Raises RuntimeError: bilinear(): input dimensions do not match: got ... and ...
    Raises RuntimeError: bilinear(): bias size does not match weight size: got ... but expected ...
    Raises RuntimeError: bilinear(): input batch dimensions do not match at dim ...: got ... and ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.bilinear.html
    """

def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities; logarithms end at -100.

    Raises NotImplementedError: "binary_cross_entropy" not implemented for '...'
    Raises RuntimeError: Found dtype ... but expected ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy.html
    """

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Cross entropy of sigmoid(input).

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises ValueError: Target size (...) must be the same as input size (...)
    Raises RuntimeError: result type Float can't be cast to the desired output type ...
    Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at non-
      singleton dimension ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy_with_logits.html
    """

def celu(input: Tensor, alpha: _Number = 1.0, inplace: bool = False, *, out: Tensor | None = None) -> Tensor:
    """elu with exp(input / alpha), smooth for every alpha.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.celu.html
    """

def celu_(input: Tensor, alpha: _Number = 1.0) -> Tensor:
    """In-place form of `celu`."""

def channel_shuffle(input: Tensor, groups: int, *, out: Tensor | None = None) -> Tensor:
    """[N, C, *] with the channels of `groups` taken in turn.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises RuntimeError: channel_shuffle expects input with > 2 dims, but got input with sizes ...
    Raises RuntimeError: Number of groups to divide channels in must be positive. Value of
      groups:...
    Raises RuntimeError: Number of channels must be divisible by groups. Got ... channels and ...
      groups.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.channel_shuffle.html
    """

def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """1-dimensional convolution; `padding` is a number, one per dimension, 'valid' or 'same'.

    Shapes: (2, 3, 8), (4, 3, 2) -> (2, 4, 7). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: weight should have at least three dimensions
    Raises RuntimeError: Expected ...-dimensional input for ...-dimensional weight..., but got
      ...-dimensional input of ...
    Raises RuntimeError: Expected ...D (unbatched) or ...D (batched) input to conv...d, but got
      input of size: ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html
    """

def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """2-dimensional convolution; `padding` is a number, one per dimension, 'valid' or 'same'.

    Shapes: (2, 3, 8, 8), (4, 3, 2, 2) -> (2, 4, 7, 7). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: weight should have at least three dimensions
    Raises RuntimeError: Expected ...-dimensional input for ...-dimensional weight..., but got
      ...-dimensional input of ...
    Raises RuntimeError: Expected ...D (unbatched) or ...D (batched) input to conv...d, but got
      input of size: ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html
    """

def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """3-dimensional convolution; `padding` is a number, one per dimension, 'valid' or 'same'.

    Shapes: (2, 3, 8, 8, 8), (4, 3, 2, 2, 2) -> (2, 4, 7, 7, 7). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: weight should have at least three dimensions
    Raises RuntimeError: Expected ...-dimensional input for ...-dimensional weight..., but got
      ...-dimensional input of ...
    Raises RuntimeError: Expected ...D (unbatched) or ...D (batched) input to conv...d, but got
      input of size: ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html
    """

def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """A convolution over time of [time, batch, channels] with a weight of [width, channels, channels
    out]. RuntimeError for other dimensions.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.conv_tbc.html
    """

def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The transpose of a convolution.

    Raises RuntimeError: Expected ...D (unbatched) or ...D (batched) input to conv_transpose...d,
      but got input of size: ...
    Raises RuntimeError: output padding must be smaller than either stride or dilation, but got
      output_padding: ... ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose1d.html
    """

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The transpose of a convolution.

    Raises RuntimeError: Expected ...D (unbatched) or ...D (batched) input to conv_transpose...d,
      but got input of size: ...
    Raises RuntimeError: output padding must be smaller than either stride or dilation, but got
      output_padding: ... ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose2d.html
    """

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The transpose of a convolution.

    Raises RuntimeError: Expected ...D (unbatched) or ...D (batched) input to conv_transpose...d,
      but got input of size: ...
    Raises RuntimeError: output padding must be smaller than either stride or dilation, but got
      output_padding: ... ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose3d.html
    """

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.

    Raises ValueError: ... is not a valid value for reduction
    Raises RuntimeError: 0D or 1D target tensor expected, multi-target not supported
    Raises RuntimeError: ...D target tensor expects ...D input tensors, but found inputs with sizes
      ... and ....

    https://pytorch.org/docs/stable/generated/torch.nn.functional.cosine_embedding_loss.html
    """

def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """Cosine of the angle between vectors along `dim`; norms are `eps` or more.

    Shapes: (2, 3), (2, 3) -> (2,). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: Promotion for uint16, uint32, uint64 types is not supported, attempted to
      promote ... and ...
    Raises RuntimeError: expected common dtype to be floating point, yet common dtype is ...
    Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at non-
      singleton dimension ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html
    """

def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy between logits and class indices, or class probabilities of the input's shape.

    Raises ValueError: ... is not a valid value for reduction
    Raises RuntimeError: label_smoothing must be between 0.0 and 1.0. Got: ...
    Raises ValueError: Expected 1 or more dimensions (got ...)

    https://pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """

def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification, lengths as tensors or sizes. Lengths are tensors or
    sequences of ints.

    Raises RuntimeError: ... must be integral

    https://pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html
    """

def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements zeroed with probability `p`, the rest scaled by 1 / (1 - p). Returns the input itself
    if nothing is dropped.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Feature dropout requires at least 2 dimensions in the input

    https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
    """

def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout1d.html
    """

def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout2d.html
    """

def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    https://pytorch.org/docs/stable/generated/torch.nn.functional.dropout3d.html
    """

def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The input where positive, otherwise alpha * (exp(input) - 1).

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.elu.html
    """

def elu_(input: Tensor, alpha: _Number = 1.0) -> Tensor:
    """In-place form of `elu`.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.elu_.html
    """

def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table by index; row `padding_idx` gets no gradient. With `sparse` a client's gradient
    says which rows were looked up.

    Raises RuntimeError: 'weight' must be 2-D
    Raises RuntimeError: Expected tensor for argument #1 'indices' to have one of the following
      scalar types: Long, Int; ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html
    """

def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Bags of rows, summed, averaged or reduced to maxima. `sparse` as of `embedding`.

    Raises RuntimeError: Expected tensor for argument #1 '...' to have one of the following scalar
      types: Long, Int; but ...
    Raises RuntimeError: Expected tensor for argument #1 'weight' to have one of the following
      scalar types: Half, ...
    Raises RuntimeError: Expected tensor for argument #1 'weight' to have the same type as tensor
      for argument #1 ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
    """

def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Whole channels set to SELU's saturation value with probability `p`, preserving mean and
    variance.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Feature dropout requires at least 2 dimensions in the input

    https://pytorch.org/docs/stable/generated/torch.nn.functional.feature_alpha_dropout.html
    """

def fold(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Blocks given as columns, summed into an image of `output_size`.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.fold.html
    """

def fractional_max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The greatest in windows at places that are drawn, or that `_random_samples` in [0, 1) say; with
    `return_indices` a pair.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool2d.html
    """

def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> tuple[Tensor, Tensor]:
    """The greatest in windows at places that are drawn, or that `_random_samples` in [0, 1) say, and
    where they are.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool2d_with_indices.html
    """

def fractional_max_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """The greatest in windows at places that are drawn, or that `_random_samples` in [0, 1) say; with
    `return_indices` a pair.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool3d.html
    """

def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> tuple[Tensor, Tensor]:
    """The greatest in windows at places that are drawn, or that `_random_samples` in [0, 1) say, and
    where they are.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool3d_with_indices.html
    """

def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of targets under Gaussians.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.gaussian_nll_loss.html
    """

def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """The input times the normal distribution function, exact or by tanh.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: approximate argument must be either none or tanh.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.gelu.html
    """

def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half times the sigmoid of the second half, along `dim`.

    Shapes: (2, 3, 4) -> (2, 3, 2). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: glu does not support scalars because halving size must be even
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: Halving dimension must be even, but dimension ... is size ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.glu.html
    """

def grid_sample(
    input: Tensor,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Images or volumes read at the places of a grid, whose numbers go from -1 to 1.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
    """

def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Normalises groups of channels.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises ValueError: Expected more than 1 value per channel when training, got input size ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.group_norm.html
    """

def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Softmax of logits with Gumbel noise, over `tau`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.gumbel_softmax.html
    """

def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """0 within [-lambd, lambd].

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: lambda must be in range [0, ...] for input dtype ..., but found ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.hardshrink.html
    """

def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """(input + 3) / 6, clamped to [0, 1].

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.hardsigmoid.html
    """

def hardsigmoid_(input: Tensor) -> Tensor:
    """In-place form of `hardsigmoid`."""

def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input).

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.hardswish.html
    """

def hardswish_(input: Tensor) -> Tensor:
    """In-place form of `hardswish`."""

def hardtanh(input: Tensor, min_val: _Number = -1.0, max_val: _Number = 1.0, inplace: bool = False) -> Tensor:
    """Values clamped to [min_val, max_val]; the gradient at a bound is 0.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises ValueError: min_val cannot be greater than max_val
    Raises NotImplementedError: clamp is not supported for complex types

    https://pytorch.org/docs/stable/generated/torch.nn.functional.hardtanh.html
    """

def hardtanh_(input: Tensor, min_val: _Number = -1.0, max_val: _Number = 1.0) -> Tensor:
    """In-place form of `hardtanh`.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.hardtanh_.html
    """

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1.

    Shapes: (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for bools.
    Raises NotImplementedError for complex numbers.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.nn.functional.hinge_embedding_loss.html
    """

def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the squared error below `delta`, linear above.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.huber_loss.html
    """

def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Normalises each channel of each sample separately, or by running statistics.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises ValueError: Expected more than 1 spatial element when training, got input size ...
    Raises RuntimeError: Expected running_mean and running_var to be defined when use_input_stats is
      false
    Raises ValueError: running_mean and running_var must either both be None or neither be None

    https://pytorch.org/docs/stable/generated/torch.nn.functional.instance_norm.html
    """

def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Signals, images or volumes in another size, by one of seven modes.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
    """

def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence from log probabilities.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's; float32 of integers and bools.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.nn.functional.kl_div.html
    """

def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference.

    Shapes: (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.nn.functional.l1_loss.html
    """

def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Normalises over the last dimensions.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.layer_norm.html
    """

def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The input, times a slope where not positive.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.leaky_relu.html
    """

def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """In-place form of `leaky_relu`.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.leaky_relu_.html
    """

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias.

    Shapes: (2, 3), (2, 3) -> (2, 2). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: both arguments to linear need to be at least 1D, but they are ...D and ...D

    https://pytorch.org/docs/stable/generated/torch.nn.functional.linear.html
    """

def linear_cross_entropy(
    input: Tensor,
    linear_weight: Any,
    target: Tensor,
    *,
    linear_bias: Any = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """The cross-entropy of ``linear(input, linear_weight, linear_bias)`` and a target. `options`,
    which divide the work to save memory in PyTorch, change nothing: the daemon does it as one.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.linear_cross_entropy.html
    """

def local_response_norm(
    input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Elements over a power of the mean square of `size` neighbouring channels.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: float32.
    Raises NotImplementedError for bools and complex numbers.
    Raises ValueError: Expected 3D or higher dimensionality ...input (got ... dimensions)

    https://pytorch.org/docs/stable/generated/torch.nn.functional.local_response_norm.html
    """

def log_softmax(input: Tensor, dim: int | None = None, dtype: dtype | None = None) -> Tensor:
    """The logarithm of softmax along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html
    """

def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(input)).

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.logsigmoid.html
    """

def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Norms of order `norm_type` of windows.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool1d.html
    """

def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Norms of order `norm_type` of windows.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool2d.html
    """

def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Norms of order `norm_type` of windows.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool3d.html
    """

def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin - target (input1 - input2)).

    Shapes: (2, 3), (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for bools.
    Raises NotImplementedError for complex numbers.
    Raises ValueError: ... is not a valid value for reduction
    Raises RuntimeError: margin_ranking_loss : All input tensors should have same dimension but got
      sizes: input1: ..., ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.margin_ranking_loss.html
    """

@overload
def max_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Maxima over windows.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d.html
    """

@overload
def max_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """, with return_indices=True.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d_with_indices.html
    """

@overload
def max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Maxima over windows.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html
    """

@overload
def max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima over windows and their flat indices into each plane; the first of ties. , with
    return_indices=True.

    Raises RuntimeError: non-empty 3D or 4D (batch mode) tensor expected for input
    Raises RuntimeError: Expected ...D or ...D (batch mode) tensor with optional 0 dim batch size
      for input, but got:...
    Raises NotImplementedError: "max_pool2d" not implemented for '...'

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d_with_indices.html
    """

@overload
def max_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Maxima over windows of volumes.

    Shapes: (2, 3, 8, 8) -> (2, 3, 8, 8). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool3d.html
    """

@overload
def max_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any: ...
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima over windows of volumes and their flat indices into each; the first of ties. , with
    return_indices=True.

    Raises RuntimeError: non-empty 4D or 5D (batch mode) tensor expected for input
    Raises RuntimeError: ...(): Expected input's non-batch dimensions to have positive length, but
      input has a shape of ...
    Raises NotImplementedError: "max_pool3d" not implemented for '...'

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool3d_with_indices.html
    """

def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | str = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """Maxima put back where they were, among zeros.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool1d.html
    """

def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | str = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """Maxima put back where they were, among zeros.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool2d.html
    """

def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | str = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """Maxima put back where they were, among zeros.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool3d.html
    """

def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input)).

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.mish.html
    """

def mish_(input: Tensor) -> Tensor:
    """In-place form of `mish`."""

def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html
    """

def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of (L, N, E) to (S, N, Ek) and (S, N, Ev) in `num_heads` parts of the features,
    projected before and after. Returns (L, N, E) and the weights (N, L, S), or None; N may be
    omitted. Raises AssertionError and RuntimeError for shapes that do not fit.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.multi_head_attention_forward.html
    """

def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + score - the target's score)^p, averaged over classes.

    Raises RuntimeError: Expected non-empty vector or matrix with optional 0-dim batch size, but
      got: ...
    Raises RuntimeError: multi_margin_loss: target tensor should be 1-D with size equal to the
      number of input samples ...
    Raises RuntimeError: inconsistent weight size, expected ... but got ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.multi_margin_loss.html
    """

def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, 1 - a wanted class's score + another's), over all pairs.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: inconsistent target size: ... for input of size: ...
    Raises RuntimeError: Expected non-empty vector or matrix with optional 0-dim batch size, but
      got: ...
    Raises RuntimeError: expected scalar type Long but found ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.multilabel_margin_loss.html
    """

def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross-entropies of logits, averaged over classes.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.multilabel_soft_margin_loss.html
    """

def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of class indices, given log probabilities.

    Raises ValueError: Expected 1 or more dimensions (got ...)
    Raises ValueError: Expected input batch_size (...) to match target batch_size (...).
    Raises RuntimeError: Expected target size ..., got ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.nll_loss.html
    """

def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, *, out: Tensor | None = None
) -> Tensor:
    """Vectors along `dim` divided by their p-norm, or by `eps` if larger.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html
    """

def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Classes as one-hot vectors; without `num_classes` the largest class is read.

    Raises RuntimeError: Can not infer total number of classes from empty tensor.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html
    """

def pad(
    input: Tensor, pad: int | Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """The last dimensions padded with a value, or with elements of the input.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html
    """

def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dimension.

    Shapes: (2, 3), (2, 3) -> (2,). dtype: float32.
    Raises RuntimeError for bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.pairwise_distance.html
    """

def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows of a matrix.

    Shapes: (2, 3) -> (1,). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: preserve memory format is unsupported by the contiguous operator

    https://pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html
    """

def pixel_shuffle(input: Tensor, upscale_factor: int, *, out: Tensor | None = None) -> Tensor:
    """[*, C r², H, W] to [*, C, H r, W r]: channels become the elements of cells.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises RuntimeError: ... expects input to have at least 3 dimensions, but got input with ...
      dimension(s)
    Raises RuntimeError: ... expects a positive ..., but got ...
    Raises RuntimeError: pixel_shuffle expects its input's 'channel' dimension to be divisible by
      the square of ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.pixel_shuffle.html
    """

def pixel_unshuffle(input: Tensor, downscale_factor: int, *, out: Tensor | None = None) -> Tensor:
    """[*, C, H r, W r] to [*, C r², H, W]: the elements of cells become channels.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises RuntimeError: ... expects input to have at least 3 dimensions, but got input with ...
      dimension(s)
    Raises RuntimeError: ... expects a positive ..., but got ...
    Raises RuntimeError: pixel_unshuffle expects ... to be divisible by downscale_factor, but
      input.size(...)=... is not ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html
    """

def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-08,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts under a Poisson rate.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's; float32 of integers and bools.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.nn.functional.poisson_nll_loss.html
    """

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """leaky_relu with one learned slope, or one per channel.

    Shapes: (2, 3), (3,) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: prelu: Type promoting not supported. Got ... and ...
    Raises RuntimeError: prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ...
    Raises RuntimeError: Not allow zero-dim input tensor.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.prelu.html
    """

def relu(input: Tensor, inplace: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The input where positive, otherwise 0; the gradient at 0 is 0.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Boolean inputs not supported for relu
    Raises NotImplementedError: clamp is not supported for complex types

    https://pytorch.org/docs/stable/generated/torch.nn.functional.relu.html
    """

def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The input clamped to [0, 6].

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.relu6.html
    """

def relu6_(input: Tensor) -> Tensor:
    """The in-place form of `relu6`."""

def relu_(input: Tensor) -> Tensor:
    """In-place form of `relu`.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.relu_.html
    """

def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divides by the root mean square over the last dimensions.

    Raises ValueError: Input tensor must have at least ... dimensions, but got ...
    Raises RuntimeError: Expected normalized_shape to be at least 1-dimensional, i.e., containing at
      least one element, ...
    Raises RuntimeError: Given normalized_shape=..., expected input with shape [*......], but got
      input of size...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html
    """

def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x where positive, else x times a slope between `lower` and `upper`, drawn for each element in
    training.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.rrelu.html
    """

def rrelu_(
    input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False
) -> Tensor:
    """`rrelu` written to its input.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.rrelu_.html
    """

def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query key^T scale + mask) value, over the last two dimensions.

    Shapes: (2, 3), (2, 3), (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: _scaled_dot_product_attention: Explicit attn_mask should not be set when
      is_causal=True
    Raises RuntimeError: Expected query, key, and value to all be at least 2 dimensional, but got
      query.dim: ... key.dim: ...
    Raises RuntimeError: Expected query, key, and value to have the same dtype, but got query.dtype:
      ... key.dtype: ... ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """

def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with constants that preserve mean and variance.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.selu.html
    """

def selu_(input: Tensor) -> Tensor:
    """The in-place form of `selu`."""

def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise sigmoid; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.sigmoid.html
    """

def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input).

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.silu.html
    """

def silu_(input: Tensor) -> Tensor:
    """In-place form of `silu`."""

def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squared below `beta`, absolute above; `beta` is positive.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.smooth_l1_loss.html
    """

def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-target input)).

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's; float32 of integers and bools.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.nn.functional.soft_margin_loss.html
    """

def softmax(input: Tensor, dim: int | None = None, dtype: dtype | None = None) -> Tensor:
    """exp(input), normalised to sum to 1 along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html
    """

def softmin(input: Tensor, dim: int | None = None, dtype: dtype | None = None) -> Tensor:
    """softmax of the negated input.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers and complex numbers.
    Raises RuntimeError for bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.softmin.html
    """

def softplus(input: Tensor, beta: _Number = 1, threshold: _Number = 20) -> Tensor:
    """log(1 + exp(beta * input)) / beta, or the input itself above the threshold.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.softplus.html
    """

def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 within [-lambd, lambd].

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: lambda must be in range [0, ...] for input dtype ..., but found ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.softshrink.html
    """

def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|).

    Shape: the input's. dtype: the input's; float32 of integers.
    Raises NotImplementedError for bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.softsign.html
    """

def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise tanh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.tanh.html
    """

def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input).

    Shape: the input's. dtype: the input's; float32 of integers.
    Raises RuntimeError for bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.tanhshrink.html
    """

def threshold(
    input: Tensor, threshold: _Number, value: _Number, inplace: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The input where it is above `threshold`, otherwise `value`.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises RuntimeError: value cannot be converted to type ... without overflow

    https://pytorch.org/docs/stable/generated/torch.nn.functional.threshold.html
    """

def threshold_(input: Tensor, threshold: _Number, value: _Number) -> Tensor:
    """In-place form of `threshold`.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.threshold_.html
    """

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, margin + distance to the positive - distance to the negative).

    Shapes: (2, 3), (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for bools.
    Raises ValueError: margin must be greater than 0, got ...
    Raises RuntimeError: The anchor, positive, and negative tensors are expected to have the same
      number of dimensions, ...
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.nn.functional.triplet_margin_loss.html
    """

def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """As triplet_margin_loss, with a distance of your own.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.triplet_margin_with_distance_loss.html
    """

def unfold(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Windows of `size` elements of `dimension`, `step` apart, as a last dimension.

    Shapes: (2, 3) -> (2, 3, 1). dtype: the input's.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: size is ... but must be >= 0
    Raises RuntimeError: maximum size for tensor at dimension ... is ... but size is ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.unfold.html
    """

def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """, which interpolate replaced.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.upsample.html
    """

def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """, which interpolate replaced.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.upsample_bilinear.html
    """

def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """[N, C, ...] resized to `size`: result i is read at floor(i * step), or floor((i + 0.5) * step).
    , which interpolate replaced.

    Shapes: (2, 3, 4) -> (2, 3, 1). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: ...: ... and ... are no sizes and steps of ...D input
    Raises RuntimeError: Input and output sizes should be greater than 0, but got input (...) output
      (...)
    Raises RuntimeError: ...: ... are no steps

    https://pytorch.org/docs/stable/generated/torch.nn.functional.upsample_nearest.html
    """
