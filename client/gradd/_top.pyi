"""The functions of the top level, typed.

Written by `make face` from the declarations of ops.
"""

from builtins import complex as _complex
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

from gradd_engine.data.device import Device as device
from gradd_engine.data.dtypes import DType as dtype
from gradd_engine.data.layout import MemoryFormat as memory_format
from gradd_engine.data.layout import Size

from gradd import return_types
from gradd._surface.facts import layout
from gradd._surface.generator import Generator
from gradd._tensor.tensor import Tensor

_Number: TypeAlias = int | float | _complex

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "abs",
    "abs_",
    "absolute",
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addmv_",
    "addr",
    "adjoint",
    "affine_grid_generator",
    "alias_copy",
    "all",
    "allclose",
    "alpha_dropout",
    "alpha_dropout_",
    "amax",
    "amin",
    "aminmax",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan_",
    "arctanh",
    "arctanh_",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "avg_pool1d",
    "baddbmm",
    "bartlett_window",
    "batch_norm",
    "bernoulli",
    "bilinear",
    "binary_cross_entropy_with_logits",
    "bincount",
    "binomial",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman_window",
    "block_diag",
    "bmm",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "can_cast",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "ceil_",
    "celu",
    "celu_",
    "chain_matmul",
    "channel_shuffle",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clip",
    "clip_",
    "clone",
    "column_stack",
    "combinations",
    "complex",
    "concat",
    "concatenate",
    "conj",
    "conj_physical",
    "conj_physical_",
    "constant_pad_nd",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "copysign",
    "corrcoef",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "cosine_embedding_loss",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cross",
    "ctc_loss",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "deg2rad",
    "deg2rad_",
    "det",
    "detach",
    "detach_",
    "detach_copy",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dist",
    "div",
    "divide",
    "dot",
    "dropout",
    "dropout_",
    "dsplit",
    "dstack",
    "einsum",
    "embedding",
    "embedding_renorm_",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "eq",
    "equal",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expand_copy",
    "expm1",
    "expm1_",
    "eye",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "fill",
    "fill_",
    "fix",
    "fix_",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float_power",
    "floor",
    "floor_",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frac_",
    "frexp",
    "frobenius_norm",
    "full",
    "full_like",
    "gather",
    "gcd",
    "gcd_",
    "ge",
    "geqrf",
    "ger",
    "get_device",
    "gradient",
    "greater",
    "greater_equal",
    "grid_sampler",
    "group_norm",
    "gru",
    "gru_cell",
    "gt",
    "hamming_window",
    "hann_window",
    "hardshrink",
    "hash_tensor",
    "heaviside",
    "hinge_embedding_loss",
    "histc",
    "histogram",
    "histogramdd",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "i0_",
    "igamma",
    "igammac",
    "imag",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_select",
    "inner",
    "instance_norm",
    "inverse",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "istft",
    "kaiser_window",
    "kl_div",
    "kron",
    "kthvalue",
    "layer_norm",
    "lcm",
    "lcm_",
    "ldexp",
    "ldexp_",
    "le",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linspace",
    "lobpcg",
    "log",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log10",
    "log10_",
    "log_",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logit_",
    "logspace",
    "logsumexp",
    "lstm",
    "lstm_cell",
    "lt",
    "lu",
    "lu_solve",
    "lu_unpack",
    "margin_ranking_loss",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "max",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "mvlgamma",
    "nan_to_num",
    "nan_to_num_",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "ne",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "nextafter",
    "nonzero",
    "nonzero_static",
    "norm",
    "normal",
    "not_equal",
    "nuclear_norm",
    "numel",
    "ones",
    "ones_like",
    "orgqr",
    "ormqr",
    "outer",
    "pairwise_distance",
    "pca_lowrank",
    "pdist",
    "permute",
    "permute_copy",
    "pinverse",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson",
    "poisson_nll_loss",
    "polar",
    "polygamma",
    "positive",
    "pow",
    "prelu",
    "prod",
    "promote_types",
    "put",
    "qr",
    "quantile",
    "rad2deg",
    "rad2deg_",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "range",
    "ravel",
    "real",
    "reciprocal",
    "reciprocal_",
    "relu",
    "relu_",
    "remainder",
    "renorm",
    "repeat_interleave",
    "reshape",
    "resize_as_",
    "resolve_conj",
    "resolve_neg",
    "rms_norm",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
    "roll",
    "rot90",
    "round",
    "round_",
    "row_stack",
    "rrelu",
    "rrelu_",
    "rsqrt",
    "rsqrt_",
    "rsub",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "select",
    "select_copy",
    "select_scatter",
    "selu",
    "selu_",
    "sgn",
    "sigmoid",
    "sigmoid_",
    "sign",
    "signbit",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "slice_copy",
    "slice_scatter",
    "slogdet",
    "softmax",
    "sort",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "squeeze",
    "squeeze_copy",
    "stack",
    "std",
    "std_mean",
    "stft",
    "sub",
    "subtract",
    "sum",
    "sum_to_size",
    "svd",
    "svd_lowrank",
    "swapaxes",
    "swapdims",
    "t",
    "t_copy",
    "take",
    "take_along_dim",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
    "tensor_split",
    "tensordot",
    "threshold",
    "threshold_",
    "tile",
    "topk",
    "trace",
    "transpose",
    "transpose_copy",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril",
    "tril_indices",
    "triplet_margin_loss",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "trunc_",
    "typename",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold_copy",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "view_as_complex",
    "view_as_complex_copy",
    "view_as_real",
    "view_as_real_copy",
    "view_copy",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "xlogy_",
    "zero_",
    "zeros",
    "zeros_like",
]

class BFloat16Tensor(Tensor):
    """Makes tensors of torch.bfloat16 (torch.BFloat16Tensor)."""

    def __init__(self, *args: Any) -> None: ...

class BoolTensor(Tensor):
    """Makes tensors of torch.bool (torch.BoolTensor)."""

    def __init__(self, *args: Any) -> None: ...

class ByteTensor(Tensor):
    """Makes tensors of torch.uint8 (torch.ByteTensor)."""

    def __init__(self, *args: Any) -> None: ...

class CharTensor(Tensor):
    """Makes tensors of torch.int8 (torch.CharTensor)."""

    def __init__(self, *args: Any) -> None: ...

class DoubleTensor(Tensor):
    """Makes tensors of torch.float64 (torch.DoubleTensor)."""

    def __init__(self, *args: Any) -> None: ...

class FloatTensor(Tensor):
    """Makes tensors of torch.float32 (torch.FloatTensor)."""

    def __init__(self, *args: Any) -> None: ...

class HalfTensor(Tensor):
    """Makes tensors of torch.float16 (torch.HalfTensor)."""

    def __init__(self, *args: Any) -> None: ...

class IntTensor(Tensor):
    """Makes tensors of torch.int32 (torch.IntTensor)."""

    def __init__(self, *args: Any) -> None: ...

class LongTensor(Tensor):
    """Makes tensors of torch.int64 (torch.LongTensor)."""

    def __init__(self, *args: Any) -> None: ...

class ShortTensor(Tensor):
    """Makes tensors of torch.int16 (torch.ShortTensor)."""

    def __init__(self, *args: Any) -> None: ...

def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Absolute value; the gradient at 0 is 0.

    Shape: the input's. dtype: the input's; float32 of complex numbers.
    Raises NotImplementedError for bools.

    https://pytorch.org/docs/stable/generated/torch.abs.html
    """

def abs_(input: Tensor) -> Tensor:
    """In-place form of `abs`.

    https://pytorch.org/docs/stable/generated/torch.abs_.html
    """

def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Absolute value; the gradient at 0 is 0.

    Shape: the input's. dtype: the input's; float32 of complex numbers.
    Raises NotImplementedError for bools.

    https://pytorch.org/docs/stable/generated/torch.absolute.html
    """

def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise acos; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.acos.html
    """

def acos_(input: Tensor) -> Tensor:
    """In-place form of `acos`.

    https://pytorch.org/docs/stable/generated/torch.acos_.html
    """

def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise acosh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.acosh.html
    """

def acosh_(input: Tensor) -> Tensor:
    """In-place form of `acosh`.

    https://pytorch.org/docs/stable/generated/torch.acosh_.html
    """

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

def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> tuple[Tensor, Tensor]:
    """Maxima of `output_size` windows. Maxima, and where they are.

    Shapes: (2, 3) -> (2, 1). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.adaptive_max_pool1d.html
    """

def add(
    input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None
) -> Tensor:
    """input + alpha * other.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError: Boolean alpha only supported for Boolean results.
    Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
      number.
    Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex number.

    https://pytorch.org/docs/stable/generated/torch.add.html
    """

def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """beta * input + alpha * the sum of matrix products.

    Raises RuntimeError: expand(...{...}, size=...): the number of sizes provided (...) must be
      greater or equal to the ...
    Raises RuntimeError: The expanded size of the tensor (...) isn't allowed in a leading, non-
      existing dimension ...
    Raises RuntimeError: The expanded size of the tensor (...) must match the existing size (...) at
      non-singleton ...

    https://pytorch.org/docs/stable/generated/torch.addbmm.html
    """

def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None
) -> Tensor:
    """input + value * tensor1 / tensor2.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: Integer division with addcdiv is no longer supported, and in a future
      release addcdiv will ...
    Raises RuntimeError: value cannot be converted to type ... without overflow

    https://pytorch.org/docs/stable/generated/torch.addcdiv.html
    """

def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1, out: Tensor | None = None
) -> Tensor:
    """input + value * tensor1 * tensor2.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: value cannot be converted to type ... without overflow

    https://pytorch.org/docs/stable/generated/torch.addcmul.html
    """

def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """beta * input + alpha * mat1 @ mat2.

    Shapes: (3, 3), (3, 3), (3, 3) -> (3, 3). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: self and mat2 must have the same dtype, but got ... and ...
    Raises RuntimeError: mat1 and mat2 must have the same dtype, but got ... and ...
    Raises RuntimeError: mat1 must be a matrix, got ...-D tensor

    https://pytorch.org/docs/stable/generated/torch.addmm.html
    """

def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """beta * input + alpha * mat @ vec.

    Raises RuntimeError: vector + matrix @ vector expected, got ..., ..., ...
    Raises RuntimeError: size mismatch, got input (...), mat (...x...), vec (...)
    Raises RuntimeError: addmv input tensors must have the same dtype, but got ..., ..., and ...

    https://pytorch.org/docs/stable/generated/torch.addmv.html
    """

def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
    """In-place form of `addmv`.

    https://pytorch.org/docs/stable/generated/torch.addmv_.html
    """

def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """beta * input + alpha * vec1 outer vec2.

    Shapes: (3,), (3,), (3,) -> (3, 3). dtype: the input's.
    Raises RuntimeError: expand(...{...}, size=...): the number of sizes provided (...) must be
      greater or equal to the ...
    Raises RuntimeError: The expanded size of the tensor (...) isn't allowed in a leading, non-
      existing dimension ...
    Raises RuntimeError: The expanded size of the tensor (...) must match the existing size (...) at
      non-singleton ...

    https://pytorch.org/docs/stable/generated/torch.addr.html
    """

def adjoint(input: Tensor) -> Tensor:
    """A conjugated view with the last two dimensions swapped.

    https://pytorch.org/docs/stable/generated/torch.adjoint.html
    """

def affine_grid_generator(theta: Tensor, size: int | Sequence[int], align_corners: bool) -> Tensor:
    """The places that affine maps [N, 2, 3] or [N, 3, 4] give for outputs of `size` [N, C, (D,) H, W].

    https://pytorch.org/docs/stable/generated/torch.affine_grid_generator.html
    """

def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As `alias`, copied.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.alias_copy.html
    """

def all(
    input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Whether every element is true, over `dim` or over all.

    Shapes: (2, 3) -> (). dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.all.html
    """

def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """A Python bool.

    https://pytorch.org/docs/stable/generated/torch.allclose.html
    """

def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Elements set to SELU's saturation value with probability `p`, preserving mean and variance.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Feature dropout requires at least 2 dimensions in the input
    """

def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `alpha_dropout`.

    https://pytorch.org/docs/stable/generated/torch.alpha_dropout_.html
    """

def amax(
    input: Tensor, dim: int | Sequence[int] = (), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The maximum over dimensions; ties share the gradient evenly.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
      Specify the reduction dim ...
    Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

    https://pytorch.org/docs/stable/generated/torch.amax.html
    """

def amin(
    input: Tensor, dim: int | Sequence[int] = (), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The minimum over dimensions; ties share the gradient evenly.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
      Specify the reduction dim ...
    Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

    https://pytorch.org/docs/stable/generated/torch.amin.html
    """

def aminmax(
    input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.aminmax:
    """The smallest and the largest element.

    Shapes: (2, 3) -> (), (). dtype: the input's, the input's.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: aminmax(): cannot compute aminmax over an empty dimension as the operation
      has no identity.
    Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
      Specify the reduction dim ...
    Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

    https://pytorch.org/docs/stable/generated/torch.aminmax.html
    """

def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle in the complex plane; 0 or pi for real numbers.

    Shape: the input's. dtype: float32.

    https://pytorch.org/docs/stable/generated/torch.angle.html
    """

def any(
    input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Whether any element is true, over `dim` or over all.

    Shapes: (2, 3) -> (). dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.any.html
    """

@overload
def arange(
    end: _Number,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers from `start` (inclusive) to `end` (exclusive), `step` apart.

    https://pytorch.org/docs/stable/generated/torch.arange.html
    """

@overload
def arange(
    start: _Number,
    end: _Number,
    step: _Number = 1,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor: ...
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise acos; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.arccos.html
    """

def arccos_(input: Tensor) -> Tensor:
    """In-place form of `acos`.

    https://pytorch.org/docs/stable/generated/torch.arccos_.html
    """

def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise acosh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.arccosh.html
    """

def arccosh_(input: Tensor) -> Tensor:
    """In-place form of `acosh`.

    https://pytorch.org/docs/stable/generated/torch.arccosh_.html
    """

def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise asin; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.arcsin.html
    """

def arcsin_(input: Tensor) -> Tensor:
    """In-place form of `asin`.

    https://pytorch.org/docs/stable/generated/torch.arcsin_.html
    """

def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise asinh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.arcsinh.html
    """

def arcsinh_(input: Tensor) -> Tensor:
    """In-place form of `asinh`.

    https://pytorch.org/docs/stable/generated/torch.arcsinh_.html
    """

def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise atan; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.arctan.html
    """

def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input); its gradient at the origin is 0.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.arctan2.html
    """

def arctan_(input: Tensor) -> Tensor:
    """In-place form of `atan`.

    https://pytorch.org/docs/stable/generated/torch.arctan_.html
    """

def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise atanh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.arctanh.html
    """

def arctanh_(input: Tensor) -> Tensor:
    """In-place form of `atanh`.

    https://pytorch.org/docs/stable/generated/torch.arctanh_.html
    """

def argmax(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The index of the maximum, the first of ties.

    Shapes: (2, 3) -> (). dtype: int64.
    Raises RuntimeError for bools and complex numbers.
    Raises IndexError: ...(): Expected reduction dim to be specified for input.numel() == 0.
    Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
      Specify the reduction dim ...
    Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

    https://pytorch.org/docs/stable/generated/torch.argmax.html
    """

def argmin(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The index of the minimum, the first of ties.

    Shapes: (2, 3) -> (). dtype: int64.
    Raises RuntimeError for bools and complex numbers.
    Raises IndexError: ...(): Expected reduction dim to be specified for input.numel() == 0.
    Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
      Specify the reduction dim ...
    Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

    https://pytorch.org/docs/stable/generated/torch.argmin.html
    """

def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The indices that sort along `dim`.

    Shape: the input's. dtype: int64.
    Raises RuntimeError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.argsort.html
    """

def argwhere(input: Tensor) -> Tensor:
    """The indices of nonzero elements, one per row: int64 of shape (count, ndim).

    https://pytorch.org/docs/stable/generated/torch.argwhere.html
    """

def as_strided(
    input: Tensor, size: int | Sequence[int], stride: int | Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Any strides over the input's memory.

    Shapes: (2, 3) -> (1,). dtype: the input's.
    Raises RuntimeError: mismatch in length of strides and shape
    Raises RuntimeError: as_strided: Negative strides are not supported at the moment, got strides:
      ...
    Raises RuntimeError: setStorage: sizes ..., strides ..., storage offset ..., and itemsize ...
      requiring a storage ...

    https://pytorch.org/docs/stable/generated/torch.as_strided.html
    """

def as_strided_(
    input: Tensor, size: int | Sequence[int], stride: int | Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Other strides over the same memory, in place.

    Shapes: (2, 3) -> (1,). dtype: the input's.
    """

def as_strided_copy(
    input: Tensor,
    size: int | Sequence[int],
    stride: int | Sequence[int],
    storage_offset: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """As `as_strided`, copied.

    Shapes: (2, 3) -> (1,). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.as_strided_copy.html
    """

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: int | Sequence[int],
    stride: int | Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """A dense tensor (offset 0) with part of its memory replaced; strides and offset in elements.

    Shape: that of the inputs, which is one. dtype: the input's.
    Raises RuntimeError: mismatch in length of strides and shape
    Raises RuntimeError: as_strided: Negative strides are not supported at the moment, got strides:
      ...
    Raises RuntimeError: setStorage: sizes ..., strides ..., storage offset ..., and itemsize ...
      requiring a storage ...

    https://pytorch.org/docs/stable/generated/torch.as_strided_scatter.html
    """

def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise asin; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.asin.html
    """

def asin_(input: Tensor) -> Tensor:
    """In-place form of `asin`.

    https://pytorch.org/docs/stable/generated/torch.asin_.html
    """

def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise asinh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.asinh.html
    """

def asinh_(input: Tensor) -> Tensor:
    """In-place form of `asinh`.

    https://pytorch.org/docs/stable/generated/torch.asinh_.html
    """

def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise atan; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.atan.html
    """

def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input); its gradient at the origin is 0.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.atan2.html
    """

def atan_(input: Tensor) -> Tensor:
    """In-place form of `atan`.

    https://pytorch.org/docs/stable/generated/torch.atan_.html
    """

def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise atanh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.atanh.html
    """

def atanh_(input: Tensor) -> Tensor:
    """In-place form of `atanh`.

    https://pytorch.org/docs/stable/generated/torch.atanh_.html
    """

@overload
def atleast_1d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Each tensor with at least one dimension.

    https://pytorch.org/docs/stable/generated/torch.atleast_1d.html
    """

@overload
def atleast_1d(*tensors: Tensor) -> Any: ...
@overload
def atleast_2d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Each tensor with at least two dimensions, new ones in front.

    https://pytorch.org/docs/stable/generated/torch.atleast_2d.html
    """

@overload
def atleast_2d(*tensors: Tensor) -> Any: ...
@overload
def atleast_3d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Each tensor with at least three dimensions; a matrix gets a last one.

    https://pytorch.org/docs/stable/generated/torch.atleast_3d.html
    """

@overload
def atleast_3d(*tensors: Tensor) -> Any: ...
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

def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | None = None,
) -> Tensor:
    """beta * input + alpha * batch1 @ batch2.

    Raises RuntimeError: batch1 must be a 3D tensor
    Raises RuntimeError: batch2 must be a 3D tensor
    Raises RuntimeError: Expected size for first two dimensions of batch2 tensor to be: ... but got:
      ....

    https://pytorch.org/docs/stable/generated/torch.baddbmm.html
    """

def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Bartlett's window of that length: a period of it, or symmetric.

    https://pytorch.org/docs/stable/generated/torch.bartlett_window.html
    """

def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Normalises each channel, by the batch's statistics in training, otherwise by running ones. ,
    whose parameters are in another order.

    Shapes: (2, 3), (3,), (3,) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises ValueError: batch_norm eps must be non-negative, but got ...
    Raises ValueError: Expected more than 1 value per channel when training, got input size ...
    Raises ValueError: batch_norm eps must be positive during training, but got ...

    https://pytorch.org/docs/stable/generated/torch.batch_norm.html
    """

def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Ones with the probabilities in the input, otherwise zeros.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.bernoulli.html
    """

def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 W x2 + b for each matrix W of `weight` [out, in1, in2].

    Raises RuntimeError: bilinear(): input dimensions do not match: got ... and ...
    Raises RuntimeError: bilinear(): bias size does not match weight size: got ... but expected ...
    Raises RuntimeError: bilinear(): input batch dimensions do not match at dim ...: got ... and ...

    https://pytorch.org/docs/stable/generated/torch.bilinear.html
    """

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    """Cross entropy of sigmoid(input).

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises ValueError: Target size (...) must be the same as input size (...)
    Raises RuntimeError: result type Float can't be cast to the desired output type ...
    Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at non-
      singleton dimension ...

    https://pytorch.org/docs/stable/generated/torch.binary_cross_entropy_with_logits.html
    """

def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number occurs in a vector of non-negative integers.

    Raises RuntimeError: minlength should be >= 0
    Raises NotImplementedError: "bincount_cpu" not implemented for '...'
    Raises RuntimeError: weights should be 1-d and have the same length as input

    https://pytorch.org/docs/stable/generated/torch.bincount.html
    """

def binomial(
    count: Tensor, prob: Tensor, *, out: Tensor | None = None, generator: Generator | None = None
) -> Tensor:
    """Draws from binomial distributions: how many of `count` trials succeed.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises ValueError for integers, bools and complex numbers.
    Raises RuntimeError: Found dtype ... but expected ...
    Raises ValueError: binomial only supports floating-point dtypes for ..., got: ...
    Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at non-
      singleton dimension ...

    https://pytorch.org/docs/stable/generated/torch.binomial.html
    """

def bitwise_and(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Bitwise, on integers and bools.

    https://pytorch.org/docs/stable/generated/torch.bitwise_and.html
    """

def bitwise_left_shift(
    input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Bitwise, on integers and bools.

    https://pytorch.org/docs/stable/generated/torch.bitwise_left_shift.html
    """

def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bitwise not, logical not for bools.

    https://pytorch.org/docs/stable/generated/torch.bitwise_not.html
    """

def bitwise_or(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Bitwise, on integers and bools.

    https://pytorch.org/docs/stable/generated/torch.bitwise_or.html
    """

def bitwise_right_shift(
    input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Bitwise, on integers and bools.

    https://pytorch.org/docs/stable/generated/torch.bitwise_right_shift.html
    """

def bitwise_xor(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Bitwise, on integers and bools.

    https://pytorch.org/docs/stable/generated/torch.bitwise_xor.html
    """

def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Blackman's window of that length: a period of it, or symmetric.

    https://pytorch.org/docs/stable/generated/torch.blackman_window.html
    """

@overload
def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """A block-diagonal matrix.

    Shapes: [(2, 3), (2, 3)] -> (4, 6). dtype: the input's.
    Raises RuntimeError: torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ...
      has ... dimensions

    https://pytorch.org/docs/stable/generated/torch.block_diag.html
    """

@overload
def block_diag(*tensors: Tensor) -> Tensor: ...
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Batched matrix products.

    Shapes: (2, 3, 4), (2, 4, 5) -> (2, 3, 5). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: batch1 must be a 3D tensor
    Raises RuntimeError: batch2 must be a 3D tensor
    Raises RuntimeError: Expected size for first two dimensions of batch2 tensor to be: ... but got:
      ....

    https://pytorch.org/docs/stable/generated/torch.bmm.html
    """

def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """The shape that shapes broadcast to; RuntimeError if they do not.

    https://pytorch.org/docs/stable/generated/torch.broadcast_shapes.html
    """

@overload
def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of tensors, broadcast to one shape.

    https://pytorch.org/docs/stable/generated/torch.broadcast_tensors.html
    """

@overload
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]: ...
@overload
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """A view of the input, broadcast to `size`.

    https://pytorch.org/docs/stable/generated/torch.broadcast_to.html
    """

@overload
def broadcast_to(input: Tensor, *size: int) -> Tensor: ...
def bucketize(
    input: Tensor | _Number,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The index of each number's bucket between sorted boundaries, int64 or int32.

    https://pytorch.org/docs/stable/generated/torch.bucketize.html
    """

def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether promotion allows the conversion.

    https://pytorch.org/docs/stable/generated/torch.can_cast.html
    """

@overload
def cartesian_prod(tensors: Sequence[Tensor]) -> Tensor:
    """All combinations of the vectors' elements, one per row.

    https://pytorch.org/docs/stable/generated/torch.cartesian_prod.html
    """

@overload
def cartesian_prod(*tensors: Tensor) -> Tensor: ...
def cat(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors concatenated along `dim`.

    Shapes: [(2, 3), (2, 3)] -> (4, 3). dtype: the input's.
    Raises ValueError: torch.cat(): expected a non-empty list of Tensors
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: zero-dimensional tensor (at position ...) cannot be concatenated

    https://pytorch.org/docs/stable/generated/torch.cat.html
    """

def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The p-norm distances between the rows of two collections; many are computed by a matrix product.

    https://pytorch.org/docs/stable/generated/torch.cdist.html
    """

def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise ceil; the gradient is 0.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises NotImplementedError: ... is not supported for complex inputs

    https://pytorch.org/docs/stable/generated/torch.ceil.html
    """

def ceil_(input: Tensor) -> Tensor:
    """In-place form of `ceil`.

    https://pytorch.org/docs/stable/generated/torch.ceil_.html
    """

def celu(input: Tensor, alpha: _Number = 1.0, inplace: bool = False, *, out: Tensor | None = None) -> Tensor:
    """elu with exp(input / alpha), smooth for every alpha.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.celu.html
    """

def celu_(input: Tensor, alpha: _Number = 1.0) -> Tensor:
    """In-place form of `celu`."""

@overload
def chain_matmul(matrices: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of several matrices in the cheapest order.

    https://pytorch.org/docs/stable/generated/torch.chain_matmul.html
    """

@overload
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: int, *, out: Tensor | None = None) -> Tensor:
    """[N, C, *] with the channels of `groups` taken in turn.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises RuntimeError: channel_shuffle expects input with > 2 dims, but got input with sizes ...
    Raises RuntimeError: Number of groups to divide channels in must be positive. Value of
      groups:...
    Raises RuntimeError: Number of channels must be divisible by groups. Got ... channels and ...
      groups.

    https://pytorch.org/docs/stable/generated/torch.channel_shuffle.html
    """

def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """A triangular factor; LinAlgError unless `input` is positive-definite.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.cholesky.html
    """

def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is `input`.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError: ...A must be batches of square matrices, but they are ... by ... matrices

    https://pytorch.org/docs/stable/generated/torch.cholesky_inverse.html
    """

def cholesky_solve(
    input: Tensor, input2: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """X of A X = input, where input2 is a Cholesky factor of A.

    Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError: b should have at least 2 dimensions, but has ... dimensions instead
    Raises RuntimeError: u should have at least 2 dimensions, but has ... dimensions instead
    Raises RuntimeError: Expected b and A to have the same dtype, but found b of type ... and A of
      type ... instead.

    https://pytorch.org/docs/stable/generated/torch.cholesky_solve.html
    """

def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` parts of equal size along `dim`.

    dtype: the input's.
    Raises RuntimeError: chunk expects at least a 1-dimensional tensor
    Raises RuntimeError: chunk expects `chunks` to be greater than 0, got: ...

    https://pytorch.org/docs/stable/generated/torch.chunk.html
    """

def clamp(
    input: Tensor,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Values clamped to [min, max]; the gradient at a bound is 1.

    Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
    Raises NotImplementedError: ... is not supported for complex types

    https://pytorch.org/docs/stable/generated/torch.clamp.html
    """

def clamp_(input: Tensor, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
    """In-place form of `clamp`.

    https://pytorch.org/docs/stable/generated/torch.clamp_.html
    """

def clamp_max(input: Tensor, max: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Values clamped from above.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
    Raises NotImplementedError: ... is not supported for complex types
    """

def clamp_max_(input: Tensor, max: Tensor | _Number) -> Tensor:
    """In-place form of `clamp_max`.

    https://pytorch.org/docs/stable/generated/torch.clamp_max_.html
    """

def clamp_min(input: Tensor, min: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Values clamped from below.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
    Raises NotImplementedError: ... is not supported for complex types
    """

def clamp_min_(input: Tensor, min: Tensor | _Number) -> Tensor:
    """In-place form of `clamp_min`.

    https://pytorch.org/docs/stable/generated/torch.clamp_min_.html
    """

def clip(
    input: Tensor,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Values clamped to [min, max]; the gradient at a bound is 1.

    Raises RuntimeError: torch.clamp: At least one of 'min' or 'max' must not be None
    Raises NotImplementedError: ... is not supported for complex types

    https://pytorch.org/docs/stable/generated/torch.clip.html
    """

def clip_(input: Tensor, min: Tensor | _Number | None = None, max: Tensor | _Number | None = None) -> Tensor:
    """In-place form of `clamp`.

    https://pytorch.org/docs/stable/generated/torch.clip_.html
    """

def clone(input: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """A copy with history, laid out like the input unless a format is given.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.clone.html
    """

def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side as columns, each vector as one column.

    https://pytorch.org/docs/stable/generated/torch.column_stack.html
    """

def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of `r` elements of a vector, one per row.

    https://pytorch.org/docs/stable/generated/torch.combinations.html
    """

def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from its real and imaginary parts.

    Shape: the inputs', broadcast. dtype: complex64.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: Expected object of scalar type ... but got scalar type ... for second
      argument
    Raises RuntimeError: Expected both inputs to be Half, Float or Double tensors but got ... and
      ...

    https://pytorch.org/docs/stable/generated/torch.complex.html
    """

def concat(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """An alias of cat.

    https://pytorch.org/docs/stable/generated/torch.concat.html
    """

def concatenate(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """An alias of cat.

    https://pytorch.org/docs/stable/generated/torch.concatenate.html
    """

def conj(input: Tensor) -> Tensor:
    """The conjugate as a view, computed on use. A view; real tensors are returned unchanged.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.conj.html
    """

def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The element-wise conjugate, computed at once.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.conj_physical.html
    """

def conj_physical_(input: Tensor) -> Tensor:
    """In-place form of `conj_physical`.

    https://pytorch.org/docs/stable/generated/torch.conj_physical_.html
    """

def constant_pad_nd(input: Tensor, pad: int | Sequence[int], value: _Number = 0) -> Tensor:
    """Dimensions, starting with the last, padded with `value`; negative numbers crop. , of mode
    "constant".

    Raises RuntimeError: value cannot be converted to type ... without overflow
    Raises RuntimeError: Length of pad must be even but instead it equals ...
    Raises RuntimeError: Length of pad should be no more than twice the number of dimensions of the
      input. Pad length is ...

    https://pytorch.org/docs/stable/generated/torch.constant_pad_nd.html
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

    https://pytorch.org/docs/stable/generated/torch.conv_tbc.html
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

def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Tensor:
    """Cross-correlation of [N, C, ...] with a weight [O, C / groups, ...]. , 2d and 3d, by the
    dimensions of the weight; transposed ones too.

    Shapes: (2, 3, 8), (4, 3, 2), (4,) -> (2, 4, 9). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: Input type (...) and weight type (...) should be the same or input should
      be a MKLDNN tensor and ...
    Raises RuntimeError: Input type (...) and bias type (...) should be the same
    Raises NotImplementedError: "slow_conv2d_cpu" not implemented for 'Bool'

    https://pytorch.org/docs/stable/generated/torch.convolution.html
    """

def copysign(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of `input` with the sign of `other`.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.copysign.html
    """

def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of variables, one per row.

    https://pytorch.org/docs/stable/generated/torch.corrcoef.html
    """

def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise cos; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.cos.html
    """

def cos_(input: Tensor) -> Tensor:
    """In-place form of `cos`.

    https://pytorch.org/docs/stable/generated/torch.cos_.html
    """

def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise cosh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.cosh.html
    """

def cosh_(input: Tensor) -> Tensor:
    """In-place form of `cosh`.

    https://pytorch.org/docs/stable/generated/torch.cosh_.html
    """

def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.

    Raises ValueError: ... is not a valid value for reduction
    Raises RuntimeError: 0D or 1D target tensor expected, multi-target not supported
    Raises RuntimeError: ...D target tensor expects ...D input tensors, but found inputs with sizes
      ... and ....

    https://pytorch.org/docs/stable/generated/torch.cosine_embedding_loss.html
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

def count_nonzero(
    input: Tensor, dim: int | Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The number of nonzero elements.

    Shapes: (2, 3) -> (). dtype: int64.

    https://pytorch.org/docs/stable/generated/torch.count_nonzero.html
    """

def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariance matrix of variables, one per row.

    https://pytorch.org/docs/stable/generated/torch.cov.html
    """

def cross(input: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Without `dim`, along the first dimension of size 3.

    https://pytorch.org/docs/stable/generated/torch.cross.html
    """

def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | None,
    target_lengths: Tensor | None,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification, lengths as tensors or sizes.

    Raises RuntimeError: ... must be integral

    https://pytorch.org/docs/stable/generated/torch.ctc_loss.html
    """

def cummax(input: Tensor, dim: int, *, out: Sequence[Tensor] | None = None) -> return_types.cummax:
    """The cumulative maximum along `dim` and its index, the last of ties.

    Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int64.
    Raises NotImplementedError for complex numbers.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.cummax.html
    """

def cummin(input: Tensor, dim: int, *, out: Sequence[Tensor] | None = None) -> return_types.cummin:
    """The cumulative minimum along `dim` and its index, the last of ties.

    Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int64.
    Raises NotImplementedError for complex numbers.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.cummin.html
    """

def cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Cumulative product along `dim`; the gradient is exact with zeros.

    Shapes: (2, 3) -> (2, 3). dtype: the input's; int64 of bools.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.cumprod.html
    """

def cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Cumulative sum along `dim`; bools and integers give int64.

    Shapes: (2, 3) -> (2, 3). dtype: the input's; int64 of bools.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.cumsum.html
    """

def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, dim: int = -1
) -> Tensor:
    """The integral up to each sample after the first.

    https://pytorch.org/docs/stable/generated/torch.cumulative_trapezoid.html
    """

def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees to radians.

    Shape: the input's. dtype: float32.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... is not supported for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.deg2rad.html
    """

def deg2rad_(input: Tensor) -> Tensor:
    """In-place form of `deg2rad`.

    https://pytorch.org/docs/stable/generated/torch.deg2rad_.html
    """

def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinants of square matrices.

    Shapes: (3, 3) -> (). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.det.html
    """

def detach(input: Tensor) -> Tensor:
    """An alias without history that shares memory and version counter.

    Shape: the input's. dtype: the input's.
    """

def detach_(input: Tensor) -> Tensor:
    """Cut this tensor from its graph.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError: Can't detach views in-place. Use detach() instead. If you are using
      DistributedDataParallel ...
    """

def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As `detach`, copied.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.detach_copy.html
    """

def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The diagonal of a matrix, or a matrix with a given diagonal.

    Shapes: (2, 3) -> (2,). dtype: the input's.
    Raises RuntimeError: diag(): Supports 1D or 2D tensors. Got ...D

    https://pytorch.org/docs/stable/generated/torch.diag.html
    """

def diag_embed(
    input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1, *, out: Tensor | None = None
) -> Tensor:
    """The last dimension as the diagonal of two new ones.

    Shapes: (2, 3) -> (2, 3, 3). dtype: the input's.
    Raises RuntimeError: diagonal dimensions cannot be identical ..., ...

    https://pytorch.org/docs/stable/generated/torch.diag_embed.html
    """

def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on its diagonal.

    Shapes: (2, 3) -> (6, 6). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.diagflat.html
    """

def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as a last dimension.

    Shapes: (2, 3) -> (2,). dtype: the input's.
    Raises RuntimeError: diagonal dimensions cannot be identical ..., ...
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.diagonal.html
    """

def diagonal_copy(
    input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Tensor | None = None
) -> Tensor:
    """A copy of the diagonal of two dimensions.

    Shapes: (2, 3) -> (2,). dtype: the input's.
    Raises RuntimeError: diagonal dimensions cannot be identical ..., ...

    https://pytorch.org/docs/stable/generated/torch.diagonal_copy.html
    """

def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Tensor | None = None
) -> Tensor:
    """A copy with a diagonal replaced by `src`.

    Raises RuntimeError: expected src to have a size equal to the slice of self. src size = ...,
      slice size = ...
    Raises RuntimeError: diagonal dimensions cannot be identical ..., ...

    https://pytorch.org/docs/stable/generated/torch.diagonal_scatter.html
    """

def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along `dim`, taken `n` times.

    https://pytorch.org/docs/stable/generated/torch.diff.html
    """

def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of lgamma.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.digamma.html
    """

def dist(input: Tensor, other: Tensor, p: _Number = 2, *, out: Tensor | None = None) -> Tensor:
    """The p-norm of the difference.

    Shapes: (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: norm(): input dtype should be either floating point or complex. Got ...
      instead.

    https://pytorch.org/docs/stable/generated/torch.dist.html
    """

def div(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Division; without `rounding_mode` integers give the default float type.

    Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.
    Raises RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found
      '...'

    https://pytorch.org/docs/stable/generated/torch.div.html
    """

def divide(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Division; without `rounding_mode` integers give the default float type.

    Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.
    Raises RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found
      '...'

    https://pytorch.org/docs/stable/generated/torch.divide.html
    """

def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors, without conjugation.

    Shapes: (3,), (3,) -> (). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: 1D tensors expected, but got ...D and ...D tensors
    Raises RuntimeError: dot : expected both vectors to have same dtype, but found ... and ...
    Raises RuntimeError: inconsistent tensor size, expected tensor [...] and src [...] to have the
      same number of ...

    https://pytorch.org/docs/stable/generated/torch.dot.html
    """

def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Elements zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Feature dropout requires at least 2 dimensions in the input
    """

def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `dropout`.

    https://pytorch.org/docs/stable/generated/torch.dropout_.html
    """

@overload
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Parts along a dimension: a number of equal ones, or cut at indices.

    https://pytorch.org/docs/stable/generated/torch.dsplit.html
    """

@overload
def dsplit(input: Tensor, *, sections: int) -> tuple[Tensor, ...]: ...
@overload
def dsplit(input: Tensor, *, indices: int | Sequence[int]) -> tuple[Tensor, ...]: ...
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors concatenated along the third dimension.

    https://pytorch.org/docs/stable/generated/torch.dstack.html
    """

@overload
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products in Einstein notation. Accepts both the equation and the sublist form.

    Raises ValueError: einsum(): must specify the equation string and at least one operand, or at
      least one operand and ...

    https://pytorch.org/docs/stable/generated/torch.einsum.html
    """

@overload
def einsum(*args: Tensor | Sequence[int]) -> Tensor: ...
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table by index; row `padding_idx` gets no gradient. , whose first parameters are the
    other way round.

    Raises RuntimeError: 'weight' must be 2-D
    Raises RuntimeError: Expected tensor for argument #1 'indices' to have one of the following
      scalar types: Long, Int; ...

    https://pytorch.org/docs/stable/generated/torch.embedding.html
    """

def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """A table whose rows that are looked up are scaled to `max_norm` where they are longer, in place.

    https://pytorch.org/docs/stable/generated/torch.embedding_renorm_.html
    """

@overload
def empty(
    size: Sequence[int],
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """Zeros: nothing is ever uninitialised. The memory is zeros.

    https://pytorch.org/docs/stable/generated/torch.empty.html
    """

@overload
def empty(
    *size: int,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor: ...
def empty_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of the input's shape: nothing is ever uninitialised. The memory is zeros.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.empty_like.html
    """

def empty_permuted(
    size: int | Sequence[int],
    physical_layout: Any,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros whose dimensions lie in memory in the order given.

    https://pytorch.org/docs/stable/generated/torch.empty_permuted.html
    """

def empty_strided(
    size: int | Sequence[int],
    stride: int | Sequence[int],
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros with the given strides; never uninitialised. The memory is zeroed.

    https://pytorch.org/docs/stable/generated/torch.empty_strided.html
    """

def eq(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input == other.

    Shape: the inputs', broadcast. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.eq.html
    """

def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shape and elements are the same, as a Python bool.

    https://pytorch.org/docs/stable/generated/torch.equal.html
    """

def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.erf.html
    """

def erf_(input: Tensor) -> Tensor:
    """In-place form of `erf`.

    https://pytorch.org/docs/stable/generated/torch.erf_.html
    """

def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(input).

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.erfc.html
    """

def erfc_(input: Tensor) -> Tensor:
    """In-place form of `erfc`.

    https://pytorch.org/docs/stable/generated/torch.erfc_.html
    """

def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.erfinv.html
    """

def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise exp; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.exp.html
    """

def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise exp2; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.exp2.html
    """

def exp2_(input: Tensor) -> Tensor:
    """In-place form of `exp2`.

    https://pytorch.org/docs/stable/generated/torch.exp2_.html
    """

def exp_(input: Tensor) -> Tensor:
    """In-place form of `exp`.

    https://pytorch.org/docs/stable/generated/torch.exp_.html
    """

def expand_copy(input: Tensor, size: int | Sequence[int], *, out: Tensor | None = None) -> Tensor:
    """As `expand`, copied.

    https://pytorch.org/docs/stable/generated/torch.expand_copy.html
    """

def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise expm1; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.expm1.html
    """

def expm1_(input: Tensor) -> Tensor:
    """In-place form of `expm1`.

    https://pytorch.org/docs/stable/generated/torch.expm1_.html
    """

def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere.

    https://pytorch.org/docs/stable/generated/torch.eye.html
    """

def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Whole channels set to SELU's saturation value with probability `p`, preserving mean and
    variance.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Feature dropout requires at least 2 dimensions in the input
    """

def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `feature_alpha_dropout`.

    https://pytorch.org/docs/stable/generated/torch.feature_alpha_dropout_.html
    """

def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Whole channels zeroed with probability `p`, the rest scaled by 1 / (1 - p).

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Feature dropout requires at least 2 dimensions in the input
    """

def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """In-place form of `feature_dropout`.

    https://pytorch.org/docs/stable/generated/torch.feature_dropout_.html
    """

def fill(input: Tensor, value: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """One value everywhere, as `fill_` stores it.

    Raises RuntimeError: fill_ only supports 0-dimension value tensor but got tensor with ...
      dimensions.
    Raises RuntimeError: value cannot be converted to type ... without overflow
    """

def fill_(input: Tensor, value: Tensor | _Number) -> Tensor:
    """In-place form of `fill`.

    https://pytorch.org/docs/stable/generated/torch.fill_.html
    """

def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise trunc; the gradient is 0.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises NotImplementedError: ... is not supported for complex inputs

    https://pytorch.org/docs/stable/generated/torch.fix.html
    """

def fix_(input: Tensor) -> Tensor:
    """In-place form of `trunc`.

    https://pytorch.org/docs/stable/generated/torch.fix_.html
    """

def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions `start_dim` to `end_dim` merged; the tensor itself if there is nothing to merge. A
    1-D tensor is returned itself.

    Shapes: (2, 3) -> (6,). dtype: the input's.
    Raises RuntimeError: flatten() has invalid args: start_dim cannot come after end_dim
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.flatten.html
    """

def flip(input: Tensor, dims: int | Sequence[int]) -> Tensor:
    """The tensor with `dims` reversed.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError: dim ... appears multiple times in the list of dims

    https://pytorch.org/docs/stable/generated/torch.flip.html
    """

def fliplr(input: Tensor) -> Tensor:
    """The tensor with its second dimension reversed.

    https://pytorch.org/docs/stable/generated/torch.fliplr.html
    """

def flipud(input: Tensor) -> Tensor:
    """The tensor with its first dimension reversed.

    https://pytorch.org/docs/stable/generated/torch.flipud.html
    """

def float_power(input: Tensor | _Number, exponent: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input ** exponent in double precision.

    Shape: the inputs', broadcast. dtype: float64; complex128 of complex numbers.

    https://pytorch.org/docs/stable/generated/torch.float_power.html
    """

def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise floor; the gradient is 0.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises NotImplementedError: ... is not supported for complex inputs

    https://pytorch.org/docs/stable/generated/torch.floor.html
    """

def floor_(input: Tensor) -> Tensor:
    """In-place form of `floor`.

    https://pytorch.org/docs/stable/generated/torch.floor_.html
    """

def floor_divide(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The quotient rounded down; it has no derivative.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.floor_divide.html
    """

def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two, or the other one if one is nan; a tie goes to the first.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... not implemented for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.fmax.html
    """

def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two, or the other one if one is nan; a tie goes to the first.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... not implemented for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.fmin.html
    """

def fmod(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The remainder of trunc division.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.fmod.html
    """

def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The fractional part, with the sign of the input.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.frac.html
    """

def frac_(input: Tensor) -> Tensor:
    """In-place form of `frac`.

    https://pytorch.org/docs/stable/generated/torch.frac_.html
    """

def frexp(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.frexp:
    """A fraction in [1/2, 1) and a power of two for each number. Mantissa and exponent (int32).

    Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int32.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: torch.frexp() only supports floating-point dtypes

    https://pytorch.org/docs/stable/generated/torch.frexp.html
    """

def frobenius_norm(input: Tensor, dim: int | Sequence[int] | None = (), keepdim: bool = False) -> Tensor:
    """The 2-norm over one or two dimensions."""

def full(
    size: Sequence[int],
    fill_value: Tensor | _Number,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of `size` filled with one number.

    https://pytorch.org/docs/stable/generated/torch.full.html
    """

def full_like(
    input: Tensor,
    fill_value: _Number,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """One number in the input's shape.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.full_like.html
    """

def gather(
    input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None
) -> Tensor:
    """out[i][j] = input[index[i][j]][j] for dim 0. The gradient is always dense, `sparse_grad` is
    ignored.

    Shapes: (2, 3), (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError: gather(): Expected dtype int32/int64 for index
    Raises RuntimeError: Index tensor must have the same number of dimensions as input tensor
    Raises RuntimeError: Size does not match at dimension ... expected index ... to be no larger
      than self ... apart from ...

    https://pytorch.org/docs/stable/generated/torch.gather.html
    """

def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The non-negative greatest common divisor.

    https://pytorch.org/docs/stable/generated/torch.gcd.html
    """

def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `gcd`.

    https://pytorch.org/docs/stable/generated/torch.gcd_.html
    """

def ge(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input >= other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.ge.html
    """

def geqrf(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.geqrf:
    """R, and below it Householder reflections whose product is Q, with their factors. A, tau.

    Shapes: (2, 3) -> (2, 3), (2,). dtype: the input's, the input's.
    Raises NotImplementedError for integers and bools.
    Raises RuntimeError: torch.geqrf: input must have at least 2 dimensions.
    Raises NotImplementedError: "geqrf_cpu" not implemented for '...'

    https://pytorch.org/docs/stable/generated/torch.geqrf.html
    """

def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The outer product of two vectors.

    Shapes: (3,), (3,) -> (3, 3). dtype: the input's.
    Raises RuntimeError: outer: Expected 1-D argument ..., but got ...-D

    https://pytorch.org/docs/stable/generated/torch.ger.html
    """

def get_device(input: Tensor) -> int:
    """The number of the session's GPU, -1 for a CPU."""

def gradient(
    input: Tensor, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Estimated gradients along each dimension, or along `dim`.

    https://pytorch.org/docs/stable/generated/torch.gradient.html
    """

def greater(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input > other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.greater.html
    """

def greater_equal(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input >= other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.greater_equal.html
    """

def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """[N, C, (D,) H, W] read at the places of a grid [N, ..., 2 or 3] from -1 to 1, x first: `mode`
    bilinear, nearest or bicubic, `padding` zeros, border or reflection. , whose modes are given by
    their number.

    Raises RuntimeError: grid_sampler(): expected grid and input to have same batch size, but got
      input with sizes ... ...
    Raises RuntimeError: grid_sampler(): expected grid to have size ... in last dimension, but got
      grid with sizes ...
    Raises RuntimeError: grid_sampler(): expected 4D or 5D input and grid with same number of
      dimensions, but got input ...

    https://pytorch.org/docs/stable/generated/torch.grid_sampler.html
    """

def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Normalises groups of channels.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises ValueError: Expected more than 1 value per channel when training, got input size ...

    https://pytorch.org/docs/stable/generated/torch.group_norm.html
    """

def gru(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    batch_sizes: int | Sequence[int] | None = None,
) -> tuple[Tensor, Tensor]:
    """A gated recurrent unit over a sequence: all outputs and the last state.

    Shapes: (3, 3), (3, 3), [(3, 3), (3, 3)] -> (3, 3), (1, 3). dtype: the input's, the input's.
    Raises RuntimeError for integers.
    Raises NotImplementedError for bools.
    """

def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a recurrent layer: the next state.

    Shapes: (3, 3), (3, 3), (3, 3), (3, 3) -> (3, 3). dtype: the input's; float32 of integers.
    Raises NotImplementedError for bools.
    Raises RuntimeError: input has inconsistent input_size: got ... expected ...
    Raises RuntimeError: Input batch size ... doesn't match hidden... batch size ...
    Raises RuntimeError: hidden... has inconsistent hidden_size: got ..., expected ...
    """

def gt(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input > other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.gt.html
    """

def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Hamming's window: a period of it, or symmetric.

    https://pytorch.org/docs/stable/generated/torch.hamming_window.html
    """

def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Hann's window of that length: a period of it, or symmetric.

    https://pytorch.org/docs/stable/generated/torch.hann_window.html
    """

def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """0 within [-lambd, lambd].

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises RuntimeError: lambda must be in range [0, ...] for input dtype ..., but found ...

    https://pytorch.org/docs/stable/generated/torch.nn.functional.hardshrink.html
    """

def hash_tensor(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    keepdim: bool = False,
    mode: int = 0,
    out: Tensor | None = None,
) -> Tensor:
    """The exclusive or of the elements' bits, widened to 64. uint64, over `dim` or over all; floats
    count as float64, integers as int64. `mode` is 0: there is no other way to hash.

    Shapes: (2, 3) -> (). dtype: uint64.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Unknown hash_tensor mode: ...
    Raises NotImplementedError: "xor_sum_cpu" not implemented for '...'
    Raises RuntimeError: hash_tensor: Expected reduction dim to be specified for input.numel() == 0.
      Specify the ...

    https://pytorch.org/docs/stable/generated/torch.hash_tensor.html
    """

def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below zero, 1 above, and `values` at zero; it has no derivative.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: heaviside is not yet implemented for complex tensors.
    Raises RuntimeError: heaviside is not yet implemented for tensors with different dtypes.

    https://pytorch.org/docs/stable/generated/torch.heaviside.html
    """

def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1.

    Shapes: (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for bools.
    Raises NotImplementedError for complex numbers.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.hinge_embedding_loss.html
    """

def histc(
    input: Tensor, bins: int = 100, min: _Number = 0, max: _Number = 0, *, out: Tensor | None = None
) -> Tensor:
    """A histogram, over the range of the values if `min` equals `max`.

    Shapes: (2, 3) -> (100,). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises NotImplementedError: "histogram_cpu" not implemented for '...'
    Raises RuntimeError: torch.histogram(): bins must be > 0, but got ... for dimension 0
    Raises RuntimeError: torch.histc: range of [..., ...] is not finite

    https://pytorch.org/docs/stable/generated/torch.histc.html
    """

def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.histogram:
    """How many elements fall into each bin, or their weights, and the edges.

    https://pytorch.org/docs/stable/generated/torch.histogram.html
    """

def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> return_types.histogramdd:
    """How many points fall into each box of bins, or their weights, and the edges.

    https://pytorch.org/docs/stable/generated/torch.histogramdd.html
    """

@overload
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Parts along a dimension: a number of equal ones, or cut at indices.

    https://pytorch.org/docs/stable/generated/torch.hsplit.html
    """

@overload
def hsplit(input: Tensor, *, sections: int) -> tuple[Tensor, ...]: ...
@overload
def hsplit(input: Tensor, *, indices: int | Sequence[int]) -> tuple[Tensor, ...]: ...
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors concatenated along the second dimension, vectors along the first.

    https://pytorch.org/docs/stable/generated/torch.hstack.html
    """

def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sqrt(input**2 + other**2).

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.hypot.html
    """

def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of order 0.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.i0.html
    """

def i0_(input: Tensor) -> Tensor:
    """In-place form of `i0`.

    https://pytorch.org/docs/stable/generated/torch.i0_.html
    """

def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized lower incomplete gamma function.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.igamma.html
    """

def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized upper incomplete gamma function.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.igammac.html
    """

def imag(input: Tensor) -> Tensor:
    """A view of the imaginary parts; of a conjugate view, their negatives, computed. RuntimeError for
    real tensors.

    https://pytorch.org/docs/stable/generated/torch.imag.html
    """

def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: _Number = 1, out: Tensor | None = None
) -> Tensor:
    """A copy with slices of `alpha * source` added at the given indices.

    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises IndexError: index_add_(): Index is supposed to be a vector, but got dim: ... with type:
      ... and size: ...
    Raises RuntimeError: index_add_(): Expected dtype int32/int64 for index but got: ...

    https://pytorch.org/docs/stable/generated/torch.index_add.html
    """

def index_copy(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """A copy with slices of `source` written at the given indices.

    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises IndexError: index_copy_(): Index should have dimension 1 or 0 (got ...)
    Raises IndexError: index_copy_(): When source and destination are not scalars, their
      dimensionality must match. ...

    https://pytorch.org/docs/stable/generated/torch.index_copy.html
    """

def index_fill(
    input: Tensor, dim: int, index: Tensor, value: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """A copy with one value written to the slices at the given indices.

    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: index_fill_ only supports a 0-dimensional value tensor, but got tensor with
      ... dimension(s).
    Raises IndexError: index_fill_(): Expected dtype int64 for index.
    """

def index_put(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy with elements replaced, or added to, at index tensors."""

def index_put_(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """The in-place form of `index_put`.

    https://pytorch.org/docs/stable/generated/torch.index_put_.html
    """

def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with slices of `source` reduced into those at the given indices.

    Raises RuntimeError: index_reduce(): Expected reduce to be one of prod, mean, amax or amin but
      got ....
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: index_reduce_(): Expected dtype int32/int64 for index but got: ...

    https://pytorch.org/docs/stable/generated/torch.index_reduce.html
    """

def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices along `dim` at the given indices.

    Shapes: (2, 3), (3,) -> (2, 3). dtype: the input's.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises IndexError: index_select(): Index is supposed to be a vector
    Raises RuntimeError: index_select(): Expected dtype int32 or int64 for index

    https://pytorch.org/docs/stable/generated/torch.index_select.html
    """

def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Dot products along the last dimensions.

    Shapes: (2, 3), (2, 3) -> (2, 2). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: inner() the last dimension must match on both input tensors but got shapes
      ... and ...
    Raises RuntimeError: both dimension lists should have same length
    Raises RuntimeError: contracted dimensions need to match, but first has size ... in dim ... and
      second has size ... ...

    https://pytorch.org/docs/stable/generated/torch.inner.html
    """

def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Normalises each channel of each sample separately, or by running statistics. `cudnn_enabled` is
    ignored.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.
    Raises ValueError: Expected more than 1 spatial element when training, got input size ...
    Raises RuntimeError: Expected running_mean and running_var to be defined when use_input_stats is
      false
    Raises ValueError: running_mean and running_var must either both be None or neither be None
    """

def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverses of square matrices; LinAlgError if one is singular.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.inverse.html
    """

def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex.

    https://pytorch.org/docs/stable/generated/torch.is_complex.html
    """

def is_conj(input: Tensor) -> bool:
    """Whether this is a conjugate view that is not yet computed.

    https://pytorch.org/docs/stable/generated/torch.is_conj.html
    """

def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a real floating type.

    https://pytorch.org/docs/stable/generated/torch.is_floating_point.html
    """

def is_inference(input: Tensor) -> bool:
    """Whether `input` was made in inference mode.

    https://pytorch.org/docs/stable/generated/torch.is_inference.html
    """

def is_neg(input: Tensor) -> bool:
    """False, as negatives are never views here."""

def is_nonzero(input: Tensor) -> bool:
    """The truth value of the only element; RuntimeError unless there is exactly one.

    https://pytorch.org/docs/stable/generated/torch.is_nonzero.html
    """

def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape."""

def is_signed(input: Tensor) -> bool:
    """Whether the dtype is signed."""

def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Whether |input - other| <= atol + rtol * |other|.

    Shape: the inputs', broadcast. dtype: bool.
    Raises RuntimeError: ... did not match ...
    Raises RuntimeError: ... must be greater than or equal to zero, but got ...

    https://pytorch.org/docs/stable/generated/torch.isclose.html
    """

def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the input is finite.

    Shape: the input's. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.isfinite.html
    """

def isin(
    elements: Tensor | _Number,
    test_elements: Tensor | _Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Whether each element is among `test_elements`.

    Shape: that of the inputs, which is one. dtype: bool.
    Raises RuntimeError for bools and complex numbers.
    Raises RuntimeError: Unsupported input type encountered for isin(): ...

    https://pytorch.org/docs/stable/generated/torch.isin.html
    """

def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the input is infinite.

    Shape: the input's. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.isinf.html
    """

def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the input is nan.

    Shape: the input's. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.isnan.html
    """

def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the input is -inf.

    Shape: the input's. dtype: bool.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... does not support complex inputs.
    Raises NotImplementedError: signbit is not implemented for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.isneginf.html
    """

def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the input is +inf.

    Shape: the input's. dtype: bool.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... does not support complex inputs.
    Raises NotImplementedError: signbit is not implemented for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.isposinf.html
    """

def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the imaginary part is 0.

    Shape: the input's. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.isreal.html
    """

def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signals of which `stft` made spectra.

    Raises RuntimeError: istft requires a complex-valued input tensor matching the output from stft
      with return_complex=True.
    Raises RuntimeError: Complex windows are incompatible with return_complex=False

    https://pytorch.org/docs/stable/generated/torch.istft.html
    """

def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: device | str | int | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window: a period of it, or symmetric.

    https://pytorch.org/docs/stable/generated/torch.kaiser_window.html
    """

def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """The Kullback-Leibler divergence from log probabilities.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's; float32 of integers and bools.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.kl_div.html
    """

def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product.

    Shapes: (2, 3), (2, 3) -> (4, 9). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.kron.html
    """

def kthvalue(
    input: Tensor, k: int, dim: int = -1, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.kthvalue:
    """The `k`-th smallest element along `dim`, and its index.

    Shapes: (2, 3) -> (2,), (2,). dtype: the input's, int64.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: kthvalue(): selected number k out of range for dimension ...

    https://pytorch.org/docs/stable/generated/torch.kthvalue.html
    """

def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """Normalises over the last dimensions.

    https://pytorch.org/docs/stable/generated/torch.layer_norm.html
    """

def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The non-negative least common multiple.

    https://pytorch.org/docs/stable/generated/torch.lcm.html
    """

def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `lcm`.

    https://pytorch.org/docs/stable/generated/torch.lcm_.html
    """

def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * 2**other.

    Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.ldexp.html
    """

def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `ldexp`.

    https://pytorch.org/docs/stable/generated/torch.ldexp_.html
    """

def le(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input <= other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.le.html
    """

def lerp(input: Tensor, end: Tensor, weight: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input + weight * (end - input); dtypes must agree.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers and bools.
    Raises RuntimeError: expected dtype ... for `...` but got dtype ...
    Raises RuntimeError: value cannot be converted to type ... without overflow

    https://pytorch.org/docs/stable/generated/torch.lerp.html
    """

def less(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input < other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.less.html
    """

def less_equal(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input <= other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.less_equal.html
    """

def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function's absolute value.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.lgamma.html
    """

def linspace(
    start: Tensor | _Number,
    end: Tensor | _Number,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """`steps` evenly spaced numbers from `start` to `end`, both inclusive.

    https://pytorch.org/docs/stable/generated/torch.linspace.html
    """

def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: None | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) eigenvalues [*batch, k] of symmetric matrices [*batch, m, m], or
    of the pair with positive-definite `B`, and their eigenvectors [*batch, m, k]. What guides
    PyTorch's iterations has no effect: `iK`, `niter`, `tol`, `method`, the `ortho` parameters, and
    the values of `X`. Raises AssertionError for matrices that are not square, ValueError for more
    eigenvalues than a third of their rows, NotImplementedError for a `tracker`.

    https://pytorch.org/docs/stable/generated/torch.lobpcg.html
    """

def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise log; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.log.html
    """

def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise log10; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.log10.html
    """

def log10_(input: Tensor) -> Tensor:
    """In-place form of `log10`.

    https://pytorch.org/docs/stable/generated/torch.log10_.html
    """

def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise log1p; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.log1p.html
    """

def log1p_(input: Tensor) -> Tensor:
    """In-place form of `log1p`.

    https://pytorch.org/docs/stable/generated/torch.log1p_.html
    """

def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise log2; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.log2.html
    """

def log2_(input: Tensor) -> Tensor:
    """In-place form of `log2`.

    https://pytorch.org/docs/stable/generated/torch.log2_.html
    """

def log_(input: Tensor) -> Tensor:
    """In-place form of `log`.

    https://pytorch.org/docs/stable/generated/torch.log_.html
    """

def log_softmax(input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of softmax along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html
    """

def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(exp(input) + exp(other)).

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.logaddexp.html
    """

def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log2(2**input + 2**other).

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.logaddexp2.html
    """

def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the cumulative sum of exponentials along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers and bools.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.logcumsumexp.html
    """

def logdet(input: Tensor) -> Tensor:
    """Logarithms of determinants, nan if negative.

    Shapes: (3, 3) -> (). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.logdet.html
    """

def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logical and; nonzero counts as true.

    Shape: the inputs', broadcast. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.logical_and.html
    """

def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the input is 0.

    Shape: the input's. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.logical_not.html
    """

def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logical or; nonzero counts as true.

    Shape: the inputs', broadcast. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.logical_or.html
    """

def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logical exclusive or; nonzero counts as true.

    Shape: the inputs', broadcast. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.logical_xor.html
    """

def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), with x clamped to [eps, 1 - eps].

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.logit.html
    """

def logit_(input: Tensor, eps: float | None = None) -> Tensor:
    """In-place form of `logit`.

    https://pytorch.org/docs/stable/generated/torch.logit_.html
    """

def logspace(
    start: Tensor | _Number,
    end: Tensor | _Number,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """`base` raised to the values of `linspace`.

    https://pytorch.org/docs/stable/generated/torch.logspace.html
    """

def logsumexp(
    input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """log(sum(exp(input))) over `dim`.

    Shapes: (2, 3) -> (2,). dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.logsumexp.html
    """

def lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    batch_sizes: int | Sequence[int] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory over a sequence: all outputs, the last state and cell.

    Raises RuntimeError: lstm expects two hidden states
    """

def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the next state and cell.

    Raises RuntimeError: input has inconsistent input_size: got ... expected ...
    Raises RuntimeError: Input batch size ... doesn't match hidden... batch size ...
    Raises RuntimeError: hidden... has inconsistent hidden_size: got ..., expected ...
    """

def lt(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input < other.

    Shape: the inputs', broadcast. dtype: bool.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.lt.html
    """

@overload
def lu(A: Tensor, pivot: bool = True, get_infos: Literal[False] = False) -> tuple[Tensor, Tensor]:
    """LU and pivots, and info if `get_infos`; a zero pivot is no error.

    https://pytorch.org/docs/stable/generated/torch.lu.html
    """

@overload
def lu(A: Tensor, pivot: bool = True, *, get_infos: Literal[True]) -> tuple[Tensor, Tensor, Tensor]: ...
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The solution of a linear system from its LU factors.

    https://pytorch.org/docs/stable/generated/torch.lu_solve.html
    """

def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.lu_unpack:
    """P, L and U from the result of lu_factor. P, L, U.

    Raises RuntimeError: torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of
      torch.int32 dtype. Note: ...

    https://pytorch.org/docs/stable/generated/torch.lu_unpack.html
    """

def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1
) -> Tensor:
    """max(0, margin - target (input1 - input2)).

    Shapes: (2, 3), (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for bools.
    Raises NotImplementedError for complex numbers.
    Raises ValueError: ... is not a valid value for reduction
    Raises RuntimeError: margin_ranking_loss : All input tensors should have same dimension but got
      sizes: input1: ..., ...

    https://pytorch.org/docs/stable/generated/torch.margin_ranking_loss.html
    """

def masked_fill(input: Tensor, mask: Tensor, value: Tensor | _Number) -> Tensor:
    """A copy with `value` where the mask is true.

    Raises RuntimeError: masked_fill_ only supports a 0-dimensional value tensor, but got tensor
      with ... dimension(s).
    Raises RuntimeError: masked_fill_ only supports boolean masks, but got mask with dtype ...
    Raises RuntimeError: value cannot be converted to type ... without overflow
    """

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy with the masked elements replaced by those of `source`, in order.

    Raises RuntimeError: masked_scatter: expected self and source to have same dtypes but got... and
      ...
    Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at non-
      singleton dimension ...
    """

def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements that a mask selects, as a vector.

    Raises RuntimeError: The size of tensor a (...) must match the size of tensor b (...) at non-
      singleton dimension ...

    https://pytorch.org/docs/stable/generated/torch.masked_select.html
    """

def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of vectors, matrices or batches of them.

    Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: both arguments to matmul need to be at least 1D, but they are ...D and ...D

    https://pytorch.org/docs/stable/generated/torch.matmul.html
    """

def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.matrix_exp.html
    """

def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The `n`-th power of square matrices, of the inverse if `n` < 0.

    Shapes: (3, 3) -> (3, 3). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.matrix_power.html
    """

@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The maximum over all, of two tensors, or along `dim` as values and indices. Over all elements;
    along `dim`, with indices; or of two tensors.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.max.html
    """

@overload
def max(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.max: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
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

    https://pytorch.org/docs/stable/generated/torch.max_pool1d.html
    """

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima, and where they are.

    https://pytorch.org/docs/stable/generated/torch.max_pool1d_with_indices.html
    """

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

    https://pytorch.org/docs/stable/generated/torch.max_pool2d.html
    """

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

    https://pytorch.org/docs/stable/generated/torch.max_pool3d.html
    """

def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two, nan if either is nan; a tie halves the gradient.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... not implemented for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.maximum.html
    """

def mean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Mean over `dim` or over all; floating-point and complex only.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: mean(): could not infer output dtype. ... must be either a floating point
      or complex dtype. Got: ...

    https://pytorch.org/docs/stable/generated/torch.mean.html
    """

@overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The median over all elements, or along `dim` as values and indices. Of all, or along `dim` with
    indices.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.median.html
    """

@overload
def median(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.median: ...
@overload
def meshgrid(tensors: Sequence[Tensor], *, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinate grids from 1-D tensors.

    dtype: the input's, the input's.
    Raises RuntimeError: meshgrid expects a non-empty TensorList
    Raises RuntimeError: torch.meshgrid: indexing must be one of "xy" or "ij", but received: ...
    Raises RuntimeError: torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ...D

    https://pytorch.org/docs/stable/generated/torch.meshgrid.html
    """

@overload
def meshgrid(*tensors: Tensor, indexing: str = "ij") -> tuple[Tensor, ...]: ...
@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The minimum over all, of two tensors, or along `dim` as values and indices. Over all elements;
    along `dim`, with indices; or of two tensors.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.min.html
    """

@overload
def min(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.min: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two, nan if either is nan; a tie halves the gradient.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... not implemented for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.minimum.html
    """

def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices.

    Shapes: (3, 3), (3, 3) -> (3, 3). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: self must be a matrix
    Raises RuntimeError: mat2 must be a matrix
    Raises RuntimeError: mat1 and mat2 shapes cannot be multiplied (...x... and ...x...)

    https://pytorch.org/docs/stable/generated/torch.mm.html
    """

def mode(
    input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.mode:
    """The most frequent value along `dim`, the smallest of ties, and its index.

    Shapes: (2, 3) -> (2,), (2,). dtype: the input's, int64.
    Raises NotImplementedError for complex numbers.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: ...(): Expected reduction dim to be specified for input.numel() == 0.
      Specify the reduction dim ...
    Raises IndexError: ...(): Expected reduction dim ... to have non-zero size.

    https://pytorch.org/docs/stable/generated/torch.mode.html
    """

def moveaxis(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Dimensions moved to other positions; a view.

    https://pytorch.org/docs/stable/generated/torch.moveaxis.html
    """

def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Dimensions moved to other positions; a view.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError: movedim: Invalid source or destination dims: source (... dims) should
      contain the same number of ...
    Raises RuntimeError: movedim: repeated dim in `...` (...)
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.movedim.html
    """

def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Values sorted along the first dimension.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.msort.html
    """

def mul(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Element-wise product.

    Shape: the inputs', broadcast. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.mul.html
    """

def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    out: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Indices drawn by the weights in each row.

    Shapes: (2, 3) -> (2, 1). dtype: int64.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: prob_dist must be 1 or 2 dim
    Raises RuntimeError: multinomial only supports floating-point dtypes for input, got: ...
    Raises RuntimeError: number of categories cannot exceed 2^24

    https://pytorch.org/docs/stable/generated/torch.multinomial.html
    """

def multiply(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Element-wise product.

    Shape: the inputs', broadcast. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.multiply.html
    """

def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector.

    Shapes: (2, 3), (3,) -> (2,). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: vector + matrix @ vector expected, got ..., ..., ...
    Raises RuntimeError: size mismatch, got input (...), mat (...x...), vec (...)
    Raises RuntimeError: addmv input tensors must have the same dtype, but got ..., ..., and ...

    https://pytorch.org/docs/stable/generated/torch.mv.html
    """

def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p.

    Shape: the input's. dtype: float32.
    Raises RuntimeError for bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: The input tensor may not be a boolean tensor.
    Raises RuntimeError: p has to be greater than or equal to 1
    Raises RuntimeError: mvlgamma: p has to be at most ..., but got ...

    https://pytorch.org/docs/stable/generated/torch.mvlgamma.html
    """

def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """nan and infinities replaced, by default with 0 and the dtype's limits.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.nan_to_num.html
    """

def nan_to_num_(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """In-place form of `nan_to_num`.

    https://pytorch.org/docs/stable/generated/torch.nan_to_num_.html
    """

def nanmean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Mean that ignores nan.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: nanmean(): expected input to have floating point or complex dtype but got
      ...

    https://pytorch.org/docs/stable/generated/torch.nanmean.html
    """

@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The nanmedian over all elements, or along `dim` as values and indices. Of all, or along `dim`
    with indices.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nanmedian.html
    """

@overload
def nanmedian(
    input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.nanmedian: ...
def nanquantile(
    input: Tensor,
    q: Tensor | _Number,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The `q`-th quantiles, over all or along `dim`.

    Shapes: (2, 3), (3,) -> (3,). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: ...() q must be in the range [0, 1] but got ...

    https://pytorch.org/docs/stable/generated/torch.nanquantile.html
    """

def nansum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Sum with nan counted as 0.

    Shapes: (2, 3) -> (). dtype: the input's; int64 of bools.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: nansum does not support complex inputs

    https://pytorch.org/docs/stable/generated/torch.nansum.html
    """

def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` elements of `dim` from `start`. `start` may be a one-element integer tensor, which is
    read.

    Shapes: (2, 3) -> (2, 1). dtype: the input's.
    Raises RuntimeError: narrow() cannot be applied to a 0-dim tensor.
    Raises RuntimeError: narrow(): length must be non-negative.
    Raises IndexError: start out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.narrow.html
    """

def narrow_copy(input: Tensor, dim: int, start: int, length: int, *, out: Tensor | None = None) -> Tensor:
    """As `narrow`, copied.

    Shapes: (2, 3) -> (2, 1). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.narrow_copy.html
    """

def ne(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input != other.

    Shape: the inputs', broadcast. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.ne.html
    """

def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise negation.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for bools.
    Raises RuntimeError: Negation, the `-` operator, on a bool tensor is not supported. If you are
      trying to invert a ...

    https://pytorch.org/docs/stable/generated/torch.neg.html
    """

def neg_(input: Tensor) -> Tensor:
    """In-place form of `neg`.

    https://pytorch.org/docs/stable/generated/torch.neg_.html
    """

def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise negation.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for bools.
    Raises RuntimeError: Negation, the `-` operator, on a bool tensor is not supported. If you are
      trying to invert a ...

    https://pytorch.org/docs/stable/generated/torch.negative.html
    """

def negative_(input: Tensor) -> Tensor:
    """In-place form of `neg`.

    https://pytorch.org/docs/stable/generated/torch.negative_.html
    """

def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next floating-point number towards `other`.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nextafter.html
    """

@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor:
    """The indices of nonzero elements, one per row.

    https://pytorch.org/docs/stable/generated/torch.nonzero.html
    """

@overload
def nonzero(
    input: Tensor, *, as_tuple: Literal[True], out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]: ...
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """The indices of the first `size` nonzero elements, one per row, then rows of `fill_value`.

    Shapes: (2, 3) -> (1, 2). dtype: int64.
    Raises RuntimeError: nonzero_static: 'size' must be an non-negative integer

    https://pytorch.org/docs/stable/generated/torch.nonzero_static.html
    """

def norm(
    input: Tensor,
    p: _Number | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Vector norms over any dimensions, and matrix norms given by name.

    https://pytorch.org/docs/stable/generated/torch.norm.html
    """

@overload
def normal(
    mean: Tensor,
    std: Tensor | _Number = 1.0,
    *,
    out: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers in the input's shape, as `normal_` stores them. Scalars with a size, or tensors
    of means, standard deviations, or both.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers and bools.
    Raises RuntimeError: normal expects std >= 0.0, but found std ...

    https://pytorch.org/docs/stable/generated/torch.normal.html
    """

@overload
def normal(
    mean: _Number, std: Tensor, *, out: Tensor | None = None, generator: Generator | None = None
) -> Tensor: ...
@overload
def normal(
    mean: _Number,
    std: _Number,
    size: Sequence[int],
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def not_equal(input: Tensor, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """Whether input != other.

    Shape: the inputs', broadcast. dtype: bool.

    https://pytorch.org/docs/stable/generated/torch.not_equal.html
    """

@overload
def nuclear_norm(input: Tensor, keepdim: bool = False) -> Tensor:
    """The sum of singular values."""

@overload
def nuclear_norm(input: Tensor, dim: int | Sequence[int] | None, keepdim: bool = False) -> Tensor: ...
def numel(input: Tensor) -> int:
    """Number of elements.

    https://pytorch.org/docs/stable/generated/torch.numel.html
    """

@overload
def ones(
    size: Sequence[int],
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Ones.

    https://pytorch.org/docs/stable/generated/torch.ones.html
    """

@overload
def ones(
    *size: int,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def ones_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Ones of the input's shape.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.ones_like.html
    """

def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of a product of Householder reflections.

    Raises RuntimeError: ...: input must have at least 2 dimensions.
    Raises RuntimeError: ...: input.shape[-2] must be greater than or equal to input.shape[-1]
    Raises RuntimeError: ...: input.shape[-1] must be greater than or equal to tau.shape[-1]

    https://pytorch.org/docs/stable/generated/torch.orgqr.html
    """

def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The product of Householder reflections, or its adjoint, with a matrix.

    Raises RuntimeError: ...: other.shape[...] must be greater than or equal to tau.shape[-1]
    Raises RuntimeError: ...: other.shape[...] must be equal to input.shape[-2]
    Raises RuntimeError: ...: tau.shape[-1] must be equal to min(other.shape[...], input.shape[-1])

    https://pytorch.org/docs/stable/generated/torch.ormqr.html
    """

def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The outer product of two vectors.

    Shapes: (3,), (3,) -> (3, 3). dtype: the input's.
    Raises RuntimeError: outer: Expected 1-D argument ..., but got ...-D

    https://pytorch.org/docs/stable/generated/torch.outer.html
    """

def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dimension.

    Shapes: (2, 3), (2, 3) -> (2,). dtype: float32.
    Raises RuntimeError for bools.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.pairwise_distance.html
    """

def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Tensor:
    """Principal components of low rank: U, S and V of about the rows of `A`, centred. Raises
    ValueError for a `q` or `niter` out of range.

    https://pytorch.org/docs/stable/generated/torch.pca_lowrank.html
    """

def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows of a matrix.

    Shapes: (2, 3) -> (1,). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: preserve memory format is unsupported by the contiguous operator

    https://pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html
    """

def permute(input: Tensor, dims: int | Sequence[int]) -> Tensor:
    """Dimensions in another order.

    Raises RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not
      match the length of the ...
    Raises RuntimeError: permute(): duplicate dims are not allowed.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.permute.html
    """

def permute_copy(input: Tensor, dims: int | Sequence[int], *, out: Tensor | None = None) -> Tensor:
    """As `permute`, copied.

    https://pytorch.org/docs/stable/generated/torch.permute_copy.html
    """

def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse of matrices.

    https://pytorch.org/docs/stable/generated/torch.pinverse.html
    """

def pixel_shuffle(input: Tensor, upscale_factor: int, *, out: Tensor | None = None) -> Tensor:
    """[*, C r², H, W] to [*, C, H r, W r]: channels become the elements of cells.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises RuntimeError: ... expects input to have at least 3 dimensions, but got input with ...
      dimension(s)
    Raises RuntimeError: ... expects a positive ..., but got ...
    Raises RuntimeError: pixel_shuffle expects its input's 'channel' dimension to be divisible by
      the square of ...

    https://pytorch.org/docs/stable/generated/torch.pixel_shuffle.html
    """

def pixel_unshuffle(input: Tensor, downscale_factor: int, *, out: Tensor | None = None) -> Tensor:
    """[*, C, H r, W r] to [*, C r², H, W]: the elements of cells become channels.

    Shapes: (2, 3, 4) -> (2, 3, 4). dtype: the input's.
    Raises RuntimeError: ... expects input to have at least 3 dimensions, but got input with ...
      dimension(s)
    Raises RuntimeError: ... expects a positive ..., but got ...
    Raises RuntimeError: pixel_unshuffle expects ... to be divisible by downscale_factor, but
      input.size(...)=... is not ...

    https://pytorch.org/docs/stable/generated/torch.pixel_unshuffle.html
    """

def poisson(input: Tensor, *, out: Tensor | None = None, generator: Generator | None = None) -> Tensor:
    """Draws from Poisson distributions of these rates.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.poisson.html
    """

def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """The negative log likelihood of counts under a Poisson rate.

    Shapes: (2, 3), (2, 3) -> (). dtype: the input's; float32 of integers and bools.
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.poisson_nll_loss.html
    """

def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from absolute values and angles.

    Shape: the inputs', broadcast. dtype: complex64.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: Expected object of scalar type ... but got scalar type ... for second
      argument
    Raises RuntimeError: Expected both inputs to be Half, Float or Double tensors but got ... and
      ...

    https://pytorch.org/docs/stable/generated/torch.polar.html
    """

def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of digamma.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.polygamma.html
    """

def positive(input: Tensor) -> Tensor:
    """The input itself; RuntimeError for bools.

    https://pytorch.org/docs/stable/generated/torch.positive.html
    """

def pow(input: Tensor | _Number, exponent: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input ** exponent, where at least one is a tensor.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for bools.

    https://pytorch.org/docs/stable/generated/torch.pow.html
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

def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Product over one dimension or over all; the gradient is exact with zeros.

    Shapes: (2, 3) -> (). dtype: the input's; int64 of bools.

    https://pytorch.org/docs/stable/generated/torch.prod.html
    """

def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both promote to.

    https://pytorch.org/docs/stable/generated/torch.promote_types.html
    """

def put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """A copy with elements written, or added, at row-major positions.

    Shape: that of the inputs, which is one. dtype: the input's.
    Raises RuntimeError: ...(): Expected a long tensor for index, but got ...
    Raises RuntimeError: put_(): self and source expected to have the same dtype, but got self.dtype
      = ... and ...
    Raises IndexError: put_(): Expected source and index to have the same number of elements, but
      got source.numel() = ...
    """

def qr(input: Tensor, some: bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.qr:
    """Q and R of input = Q R. Q, R.

    Shapes: (2, 3) -> (2, 2), (2, 3). dtype: the input's, the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.qr.html
    """

def quantile(
    input: Tensor,
    q: Tensor | _Number,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The `q`-th quantiles, over all or along `dim`.

    Shapes: (2, 3), (3,) -> (3,). dtype: the input's.
    Raises RuntimeError for integers, bools and complex numbers.
    Raises RuntimeError: ...() q must be in the range [0, 1] but got ...

    https://pytorch.org/docs/stable/generated/torch.quantile.html
    """

def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians to degrees.

    Shape: the input's. dtype: float32.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: ... is not supported for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.rad2deg.html
    """

def rad2deg_(input: Tensor) -> Tensor:
    """In-place form of `rad2deg`.

    https://pytorch.org/docs/stable/generated/torch.rad2deg_.html
    """

@overload
def rand(
    size: Sequence[int],
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers in [0, 1).

    https://pytorch.org/docs/stable/generated/torch.rand.html
    """

@overload
def rand(
    *size: int,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor: ...
def rand_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers in [0, 1), in the input's shape.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.rand_like.html
    """

@overload
def randint(
    high: int,
    size: Sequence[int],
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Integers from `low` (inclusive) to `high` (exclusive). ``randint(high, size)`` or ``randint(low,
    high, size)``.

    https://pytorch.org/docs/stable/generated/torch.randint.html
    """

@overload
def randint(
    low: int,
    high: int,
    size: Sequence[int],
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: int | Tensor,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Integers from `low` (inclusive) to `high` (exclusive), in the input's shape.
    ``randint_like(input, high)`` or ``randint_like(input, low, high)``.

    Raises RuntimeError: random_ expects 'from' to be less than 'to', but got from=... >= to=...
    Raises RuntimeError: check_random_bounds handles only integral, floating-point and boolean types
    Raises RuntimeError: ... is out of bounds for ...

    https://pytorch.org/docs/stable/generated/torch.randint_like.html
    """

@overload
def randint_like(
    input: Tensor,
    low: int,
    high: int,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
@overload
def randn(
    size: Sequence[int],
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Standard normal numbers.

    https://pytorch.org/docs/stable/generated/torch.randn.html
    """

@overload
def randn(
    *size: int,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor: ...
def randn_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Standard normal numbers in the input's shape.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.randn_like.html
    """

def randperm(
    n: int,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """A random permutation of the integers below `n`.

    https://pytorch.org/docs/stable/generated/torch.randperm.html
    """

def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """As arange, but `end` is included; deprecated.

    https://pytorch.org/docs/stable/generated/torch.range.html
    """

def ravel(input: Tensor) -> Tensor:
    """The elements as a vector; a view if strides allow.

    https://pytorch.org/docs/stable/generated/torch.ravel.html
    """

def real(input: Tensor) -> Tensor:
    """The real part, as a copy. A view of the real parts; real tensors are returned unchanged.

    Shape: the input's. dtype: the input's; float32 of complex numbers.

    https://pytorch.org/docs/stable/generated/torch.real.html
    """

def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise reciprocal; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.reciprocal.html
    """

def reciprocal_(input: Tensor) -> Tensor:
    """In-place form of `reciprocal`.

    https://pytorch.org/docs/stable/generated/torch.reciprocal_.html
    """

def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The input where positive, otherwise 0; the gradient at 0 is 0.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError for bools.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: Boolean inputs not supported for relu
    Raises NotImplementedError: clamp is not supported for complex types

    https://pytorch.org/docs/stable/generated/torch.nn.functional.relu.html
    """

def relu_(input: Tensor) -> Tensor:
    """In-place form of `relu`.

    https://pytorch.org/docs/stable/generated/torch.relu_.html
    """

def remainder(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The remainder of floor division.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.remainder.html
    """

def renorm(input: Tensor, p: _Number, dim: int, maxnorm: _Number, *, out: Tensor | None = None) -> Tensor:
    """Slices along `dim` scaled down to a p-norm of at most `maxnorm`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: renorm: non-positive-norm not supported
    Raises RuntimeError: renorm: expected maxnorm to be >= 0 but got ...
    Raises RuntimeError: renorm: input needs at least 2 dimensions, got ... dimensions

    https://pytorch.org/docs/stable/generated/torch.renorm.html
    """

def repeat_interleave(
    input: Tensor, repeats: int | None = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element repeated `repeats` times (torch.repeat_interleave with one number). A tensor of
    repeats is summed and its sum read, unless `output_size` is given.

    Shapes: (2, 3) -> (6,). dtype: the input's.
    Raises RuntimeError: Repeats must be non-negative
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.repeat_interleave.html
    """

@overload
def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """The same elements in another shape; a view if strides allow.

    Raises RuntimeError: only one dimension can be inferred
    Raises RuntimeError: invalid shape dimension ... at index ... of shape ...
    Raises RuntimeError: cannot reshape tensor of 0 elements into shape ... because the unspecified
      dimension size -1 can ...

    https://pytorch.org/docs/stable/generated/torch.reshape.html
    """

@overload
def reshape(input: Tensor, *shape: int) -> Tensor: ...
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """`memory_format` is ignored.

    https://pytorch.org/docs/stable/generated/torch.resize_as_.html
    """

def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself; of a conjugate view, a computed copy.

    https://pytorch.org/docs/stable/generated/torch.resolve_conj.html
    """

def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself, as negatives are never views here.

    https://pytorch.org/docs/stable/generated/torch.resolve_neg.html
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

    https://pytorch.org/docs/stable/generated/torch.rms_norm.html
    """

def rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    batch_sizes: int | Sequence[int] | None = None,
) -> tuple[Tensor, Tensor]:
    """An Elman network with relu over a sequence: all outputs and the last state.

    Shapes: (3, 3), (3, 3), [(3, 3), (3, 3)] -> (3, 3), (1, 3). dtype: the input's, the input's.
    Raises NotImplementedError for bools and complex numbers.
    """

def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a recurrent layer: the next state.

    Shapes: (2, 3), (2, 3), (2, 3), (2, 3) -> (2, 2). dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises RuntimeError: input has inconsistent input_size: got ... expected ...
    Raises RuntimeError: Input batch size ... doesn't match hidden... batch size ...
    Raises RuntimeError: hidden... has inconsistent hidden_size: got ..., expected ...
    """

def rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    batch_sizes: int | Sequence[int] | None = None,
) -> tuple[Tensor, Tensor]:
    """An Elman network with tanh over a sequence: all outputs and the last state.

    Shapes: (3, 3), (3, 3), [(3, 3), (3, 3)] -> (3, 3), (1, 3). dtype: the input's, the input's.
    Raises RuntimeError for integers.
    Raises NotImplementedError for bools.
    """

def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a recurrent layer: the next state.

    Shapes: (2, 3), (2, 3), (2, 3), (2, 3) -> (2, 2). dtype: the input's; float32 of integers.
    Raises NotImplementedError for bools.
    Raises RuntimeError: input has inconsistent input_size: got ... expected ...
    Raises RuntimeError: Input batch size ... doesn't match hidden... batch size ...
    Raises RuntimeError: hidden... has inconsistent hidden_size: got ..., expected ...
    """

def roll(input: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """Elements shifted along dimensions, wrapping around.

    Shape: the input's. dtype: the input's.
    Raises RuntimeError: shifts and dimensions must align. shifts: ..., dims:...
    Raises RuntimeError: shifts and dimensions must align. shifts: ..., dims:0
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.roll.html
    """

def rot90(
    input: Tensor, k: int = 1, dims: int | Sequence[int] = (0, 1), *, out: Tensor | None = None
) -> Tensor:
    """A rotation by `k` times 90 degrees, from the first of `dims` to the second.

    Shapes: (2, 3) -> (3, 2). dtype: the input's.
    Raises RuntimeError: expected total rotation dims == 2, but got dims = ...
    Raises RuntimeError: expected total dims >= 2, but got total dims = ...
    Raises RuntimeError: expected rotation dims to be different, but got dim0 = ... and dim1 = ...

    https://pytorch.org/docs/stable/generated/torch.rot90.html
    """

def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Round to the nearest integer, halves to even, or to `decimals` places.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.round.html
    """

def round_(input: Tensor, *, decimals: int = 0) -> Tensor:
    """In-place form of `round`.

    https://pytorch.org/docs/stable/generated/torch.round_.html
    """

def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """An alias of vstack.

    https://pytorch.org/docs/stable/generated/torch.row_stack.html
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

    https://pytorch.org/docs/stable/generated/torch.rrelu.html
    """

def rrelu_(
    input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False
) -> Tensor:
    """`rrelu` written to its input.

    https://pytorch.org/docs/stable/generated/torch.rrelu_.html
    """

def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise rsqrt; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.rsqrt.html
    """

def rsqrt_(input: Tensor) -> Tensor:
    """In-place form of `rsqrt`.

    https://pytorch.org/docs/stable/generated/torch.rsqrt_.html
    """

def rsub(input: Tensor, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None) -> Tensor:
    """other - alpha * input.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for bools.
    Raises RuntimeError: Boolean alpha only supported for Boolean results.
    Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
      number.
    Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex number.
    """

def scalar_tensor(
    s: _Number,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A number as a 0-d tensor."""

@overload
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | _Number,
    *,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with elements of `src`, or one number, written at `index` along `dim`. Writes ``src`` or
    ``value``; adds or multiplies with it by ``reduce``.

    Shapes: (2, 3), (2, 3), (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError: ...(): Expected dtype int32/int64 for index
    Raises RuntimeError: ...(): Expected self.dtype to be equal to src.dtype
    Raises RuntimeError: Index tensor must have the same number of dimensions as self tensor

    https://pytorch.org/docs/stable/generated/torch.scatter.html
    """

@overload
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    *,
    value: _Number,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy with elements of `src` added at `index` along `dim`.

    Shapes: (2, 3), (2, 3), (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError: ...(): Expected dtype int32/int64 for index
    Raises RuntimeError: ...(): Expected self.dtype to be equal to src.dtype
    Raises RuntimeError: Index tensor must have the same number of dimensions as self tensor

    https://pytorch.org/docs/stable/generated/torch.scatter_add.html
    """

def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with elements of `src` reduced into it at `index` along `dim`.

    Raises RuntimeError: reduce argument must be either sum, prod, mean, amax or amin, got ...
    Raises RuntimeError: ...(): Expected dtype int32/int64 for index
    Raises RuntimeError: ...(): Expected self.dtype to be equal to src.dtype

    https://pytorch.org/docs/stable/generated/torch.scatter_reduce.html
    """

def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | _Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The positions at which values fit into sorted ones.

    Shape: that of the inputs, which is one. dtype: int64.
    Raises NotImplementedError for bools and complex numbers.
    Raises RuntimeError: ...: boundaries tensor should have positive dimension, but got 0 dimension
    Raises RuntimeError: ...: boundaries tensor should be 1 dimension or the first N-1 dimensions of
      boundaries tensor ...
    Raises RuntimeError: ...: boundary and sorter must have the same size, but got boundary tensor
      ...and got sorter ...

    https://pytorch.org/docs/stable/generated/torch.searchsorted.html
    """

def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at one index of `dim`, without that dimension.

    Shapes: (2, 3) -> (2,). dtype: the input's.
    Raises IndexError: select() cannot be applied to a 0-dim tensor.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises IndexError: select(): index ... out of range for tensor of size ... at dimension ...

    https://pytorch.org/docs/stable/generated/torch.select.html
    """

def select_copy(input: Tensor, dim: int, index: int, *, out: Tensor | None = None) -> Tensor:
    """As `select`, copied.

    Shapes: (2, 3) -> (2,). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.select_copy.html
    """

def select_scatter(input: Tensor, src: Tensor, dim: int, index: int, *, out: Tensor | None = None) -> Tensor:
    """A copy with one index of `dim` replaced by `src`.

    Raises RuntimeError: expected src to have a size equal to the slice of self. src size = ...,
      slice size = ...
    Raises IndexError: select() cannot be applied to a 0-dim tensor.
    Raises IndexError: select(): index ... out of range for tensor of size ... at dimension ...

    https://pytorch.org/docs/stable/generated/torch.select_scatter.html
    """

def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with constants that preserve mean and variance.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.nn.functional.selu.html
    """

def selu_(input: Tensor) -> Tensor:
    """The in-place form of `selu`."""

def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """z / |z|, 0 at 0.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.sgn.html
    """

def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise sigmoid; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.sigmoid.html
    """

def sigmoid_(input: Tensor) -> Tensor:
    """In-place form of `sigmoid`.

    https://pytorch.org/docs/stable/generated/torch.sigmoid_.html
    """

def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1, and 0 for nan.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for complex numbers.
    Raises NotImplementedError: Unlike NumPy, torch.sign is not intended to support complex numbers.
      Please use torch.sgn instead.

    https://pytorch.org/docs/stable/generated/torch.sign.html
    """

def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the sign bit is set.

    Shape: the input's. dtype: bool.
    Raises NotImplementedError for complex numbers.
    Raises RuntimeError: ... does not support complex inputs.
    Raises NotImplementedError: signbit is not implemented for complex tensors.

    https://pytorch.org/docs/stable/generated/torch.signbit.html
    """

def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise sin; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.sin.html
    """

def sin_(input: Tensor) -> Tensor:
    """In-place form of `sin`.

    https://pytorch.org/docs/stable/generated/torch.sin_.html
    """

def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.sinc.html
    """

def sinc_(input: Tensor) -> Tensor:
    """In-place form of `sinc`.

    https://pytorch.org/docs/stable/generated/torch.sinc_.html
    """

def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise sinh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.sinh.html
    """

def sinh_(input: Tensor) -> Tensor:
    """In-place form of `sinh`.

    https://pytorch.org/docs/stable/generated/torch.sinh_.html
    """

def slice_copy(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """As `slice`, copied.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.slice_copy.html
    """

def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy with a slice of `dim` replaced by `src`.

    Shape: that of the inputs, which is one. dtype: the input's.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: expected src to have a size equal to the slice of self. src size = ...,
      slice size = ...

    https://pytorch.org/docs/stable/generated/torch.slice_scatter.html
    """

def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
    """The signs of determinants and the logarithms of their absolute values. Sign, logabsdet.

    Shapes: (3, 3) -> (), (). dtype: the input's, float32.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.slogdet.html
    """

def softmax(input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input), normalised to sum to 1 along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/generated/torch.softmax.html
    """

def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.sort:
    """Values sorted along `dim`, and their indices; always stable.

    Shapes: (2, 3) -> (2, 3), (2, 3). dtype: the input's, int64.
    Raises RuntimeError for complex numbers.
    Raises RuntimeError: Sort does not support complex dtypes on CPU
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.sort.html
    """

def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of one size, or of the given sizes, along `dim`.

    https://pytorch.org/docs/stable/generated/torch.split.html
    """

def split_copy(
    input: Tensor, split_size: int, dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """As `split`, copied.

    dtype: the input's, the input's.

    https://pytorch.org/docs/stable/generated/torch.split_copy.html
    """

def split_with_sizes(input: Tensor, split_sizes: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of the given sizes along `dim`.

    Raises RuntimeError: split_with_sizes expects at least a 1-dimensional tensor
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: split_with_sizes expects split_sizes have only non-negative entries, but
      got split_sizes=...
    """

def split_with_sizes_copy(
    input: Tensor, split_sizes: int | Sequence[int], dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """As `split_with_sizes`, copied.

    https://pytorch.org/docs/stable/generated/torch.split_with_sizes_copy.html
    """

def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise sqrt; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.sqrt.html
    """

def sqrt_(input: Tensor) -> Tensor:
    """In-place form of `sqrt`.

    https://pytorch.org/docs/stable/generated/torch.sqrt_.html
    """

def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * input.

    Shape: the input's. dtype: the input's; int64 of bools.

    https://pytorch.org/docs/stable/generated/torch.square.html
    """

def square_(input: Tensor) -> Tensor:
    """In-place form of `square`.

    https://pytorch.org/docs/stable/generated/torch.square_.html
    """

def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Dimensions of size 1 removed: all, one, or the given ones.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.squeeze.html
    """

def squeeze_copy(
    input: Tensor, dim: int | Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """As `squeeze`, copied.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.squeeze_copy.html
    """

def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape, stacked along a new dimension.

    Shapes: [(2, 3), (2, 3)] -> (2, 2, 3). dtype: the input's.
    Raises RuntimeError: stack expects a non-empty TensorList
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: stack expects each tensor to be equal size, but got ... at entry 0 and ...
      at entry ...

    https://pytorch.org/docs/stable/generated/torch.stack.html
    """

def std(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: _Number | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Standard deviation over `dim` or over all.

    Shapes: (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ... only support floating point and complex dtypes

    https://pytorch.org/docs/stable/generated/torch.std.html
    """

def std_mean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: _Number | None = None,
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean.

    Shapes: (2, 3) -> (), (). dtype: float32, the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.std_mean.html
    """

def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The spectra of overlapping windows of signals.

    Raises RuntimeError: stft align_to_window should only be set when center = false
    Raises RuntimeError: stft requires the return_complex parameter be given for real inputs, and
      will further require ...
    Raises NotImplementedError: Unrecognised padding mode ...

    https://pytorch.org/docs/stable/generated/torch.stft.html
    """

def sub(
    input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None
) -> Tensor:
    """input - alpha * other.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for bools.
    Raises RuntimeError: Boolean alpha only supported for Boolean results.
    Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
      number.
    Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex number.

    https://pytorch.org/docs/stable/generated/torch.sub.html
    """

def subtract(
    input: Tensor | _Number, other: Tensor | _Number, *, alpha: _Number = 1, out: Tensor | None = None
) -> Tensor:
    """input - alpha * other.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises RuntimeError for bools.
    Raises RuntimeError: Boolean alpha only supported for Boolean results.
    Raises RuntimeError: For integral input tensors, argument alpha must not be a floating point
      number.
    Raises RuntimeError: For non-complex input tensors, argument alpha must not be a complex number.

    https://pytorch.org/docs/stable/generated/torch.subtract.html
    """

def sum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Sum over `dim` or over all; bools and integers give int64.

    Shapes: (2, 3) -> (). dtype: the input's; int64 of bools.

    https://pytorch.org/docs/stable/generated/torch.sum.html
    """

@overload
def sum_to_size(self: Tensor, size: Sequence[int]) -> Tensor:
    """Sum over the dimensions along which `size` broadcasts to the input.

    Shapes: (2, 3) -> (1,). dtype: the input's; int64 of bools.
    Raises RuntimeError: size {...} is not expandable to size {...}.
    """

@overload
def sum_to_size(self: Tensor, *size: int) -> Tensor: ...
def svd(
    input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Sequence[Tensor] | None = None
) -> return_types.svd:
    """U, S and V of input = U diag(S) V^H. U, S, V.

    Shapes: (2, 3) -> (2, 2), (2,), (3, 2). dtype: the input's, float32, the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.svd.html
    """

def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> Tensor:
    """U, S and V of about A - M = U diag(S) V^H, of rank `q`.

    https://pytorch.org/docs/stable/generated/torch.svd_lowrank.html
    """

def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions swapped; a view.

    https://pytorch.org/docs/stable/generated/torch.swapaxes.html
    """

def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped; a view.

    https://pytorch.org/docs/stable/generated/torch.swapdims.html
    """

def t(input: Tensor) -> Tensor:
    """The transpose of a matrix.

    Shapes: (2, 3) -> (3, 2). dtype: the input's.
    Raises RuntimeError: t() expects a tensor with <= 2 dimensions, but self is ...D
    Raises RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not
      match the length of the ...
    Raises RuntimeError: permute(): duplicate dims are not allowed.

    https://pytorch.org/docs/stable/generated/torch.t.html
    """

def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As `t`, copied.

    Shapes: (2, 3) -> (3, 2). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.t_copy.html
    """

def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements at row-major positions.

    Shape: that of the inputs, which is one. dtype: the input's.
    Raises RuntimeError: ...(): Expected a long tensor for index, but got ...
    Raises IndexError: take(): tried to take from an empty tensor

    https://pytorch.org/docs/stable/generated/torch.take.html
    """

def take_along_dim(
    input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Elements at indices along a dimension, broadcast over the others.

    Shapes: (2, 3), (2, 3) -> (6,). dtype: the input's.
    Raises RuntimeError: torch.take_along_dim(): dtype of indices should be Long but got ...
    Raises RuntimeError: torch.take_along_dim(): input and indices should have the same number of
      dimensions, but got ... ...
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.take_along_dim.html
    """

def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise tan; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.tan.html
    """

def tan_(input: Tensor) -> Tensor:
    """In-place form of `tan`.

    https://pytorch.org/docs/stable/generated/torch.tan_.html
    """

def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise tanh; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/generated/torch.tanh.html
    """

def tanh_(input: Tensor) -> Tensor:
    """In-place form of `tanh`.

    https://pytorch.org/docs/stable/generated/torch.tanh_.html
    """

@overload
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Parts between given indices, or that many nearly equal ones, along `dim`. A tensor of indices or
    sections is read.

    dtype: the input's, the input's.
    Raises RuntimeError: tensor_split expected at least a 1-dimensional tensor, but got a tensor
      with 0 dims
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: number of sections must be larger than 0, got ...

    https://pytorch.org/docs/stable/generated/torch.tensor_split.html
    """

@overload
def tensor_split(input: Tensor, *, sections: int, dim: int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, *, indices: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(
    input: Tensor, *, tensor_indices_or_sections: Tensor, dim: int = 0
) -> tuple[Tensor, ...]: ...
def tensordot(
    a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2, *, out: Tensor | None = None
) -> Tensor:
    """Products summed over pairs of dimensions.

    Shapes: (2, 3), (2, 3) -> (2, 2). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: both dimension lists should have same length
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: contracted dimensions need to match, but first has size ... in dim ... and
      second has size ... ...

    https://pytorch.org/docs/stable/generated/torch.tensordot.html
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

def tile(input: Tensor, dims: int | Sequence[int]) -> Tensor:
    """The tensor repeated along each dimension.

    https://pytorch.org/docs/stable/generated/torch.tile.html
    """

def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.topk:
    """The `k` largest (or smallest) elements along `dim`, sorted, and their indices. The result is
    always sorted, whatever `sorted` says.

    Shapes: (2, 3) -> (2, 1), (2, 1). dtype: the input's, int64.
    Raises RuntimeError for bools and complex numbers.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: selected index k out of range
    Raises RuntimeError: topk does not support complex dtypes on CPU

    https://pytorch.org/docs/stable/generated/torch.topk.html
    """

def trace(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of a matrix's diagonal.

    Shapes: (2, 3) -> (). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises NotImplementedError: "trace" not implemented for 'Bool'
    Raises RuntimeError: trace: expected a matrix, but got tensor with dim ...

    https://pytorch.org/docs/stable/generated/torch.trace.html
    """

def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: permute(sparse_coo): number of dimensions in the tensor input does not
      match the length of the ...
    Raises RuntimeError: permute(): duplicate dims are not allowed.

    https://pytorch.org/docs/stable/generated/torch.transpose.html
    """

def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Tensor | None = None) -> Tensor:
    """As `transpose`, copied.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.transpose_copy.html
    """

def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, dim: int = -1) -> Tensor:
    """The integral by the trapezoidal rule.

    https://pytorch.org/docs/stable/generated/torch.trapezoid.html
    """

def trapz(y: Tensor, x: Tensor | None = None, *, dx: _Number | None = None, dim: int = -1) -> Tensor:
    """The integral by the trapezoidal rule.

    https://pytorch.org/docs/stable/generated/torch.trapz.html
    """

def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.triangular_solve:
    """X of A X = input for triangular A, and A itself. Solution, cloned_coefficient.

    Shapes: (3, 3), (3, 3) -> (3, 3), (3, 3). dtype: the input's, the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.triangular_solve.html
    """

def tril(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of matrices, with zeros above.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError: ...: input tensor must have at least 2 dimensions

    https://pytorch.org/docs/stable/generated/torch.tril.html
    """

def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: dtype = ...,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Row and column indices of a lower triangle.

    https://pytorch.org/docs/stable/generated/torch.tril_indices.html
    """

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: int = 1,
) -> Tensor:
    """max(0, margin + distance to the positive - distance to the negative).

    Shapes: (2, 3), (2, 3), (2, 3) -> (). dtype: float32.
    Raises RuntimeError for bools.
    Raises ValueError: margin must be greater than 0, got ...
    Raises RuntimeError: The anchor, positive, and negative tensors are expected to have the same
      number of dimensions, ...
    Raises ValueError: ... is not a valid value for reduction

    https://pytorch.org/docs/stable/generated/torch.triplet_margin_loss.html
    """

def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of matrices, with zeros below.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises RuntimeError: ...: input tensor must have at least 2 dimensions

    https://pytorch.org/docs/stable/generated/torch.triu.html
    """

def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: dtype = ...,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Row and column indices of an upper triangle.

    https://pytorch.org/docs/stable/generated/torch.triu_indices.html
    """

def true_divide(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Division; without `rounding_mode` integers give the default float type.

    Shape: the inputs', broadcast. dtype: the input's; float32 of integers and bools.
    Raises RuntimeError: div expected rounding_mode to be one of None, 'trunc', or 'floor' but found
      '...'

    https://pytorch.org/docs/stable/generated/torch.true_divide.html
    """

def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise trunc; the gradient is 0.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.
    Raises NotImplementedError: ... is not supported for complex inputs

    https://pytorch.org/docs/stable/generated/torch.trunc.html
    """

def trunc_(input: Tensor) -> Tensor:
    """In-place form of `trunc`.

    https://pytorch.org/docs/stable/generated/torch.trunc_.html
    """

def typename(obj: Any) -> str:
    """What PyTorch's messages call the type of `obj`."""

def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices along `dim`.

    dtype: the input's, the input's.
    Raises IndexError: Dimension specified as 0 but tensor has no dimensions
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.unbind.html
    """

def unbind_copy(input: Tensor, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """As `unbind`, copied.

    dtype: the input's, the input's.

    https://pytorch.org/docs/stable/generated/torch.unbind_copy.html
    """

def unflatten(input: Tensor, dim: int, sizes: int | Sequence[int]) -> Tensor:
    """One dimension split into several.

    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)
    Raises RuntimeError: unflatten: sizes must be non-empty
    Raises RuntimeError: unflatten: Provided sizes ... don't multiply up to the size of dim ...
      (...) in the input tensor

    https://pytorch.org/docs/stable/generated/torch.unflatten.html
    """

def unfold_copy(input: Tensor, dimension: int, size: int, step: int, *, out: Tensor | None = None) -> Tensor:
    """As `unfold`, copied.

    Shapes: (2, 3) -> (2, 3, 1). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.unfold_copy.html
    """

@overload
def unique(input: Tensor, sorted: bool = True, *, dim: int | None = None) -> Tensor:
    """Elements are always sorted, whatever `sorted` says, as in PyTorch on a CPU.

    https://pytorch.org/docs/stable/generated/torch.unique.html
    """

@overload
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any: ...
@overload
def unique_consecutive(input: Tensor, *, dim: int | None = None) -> Tensor:
    """Each run of equal elements once, with their groups and run lengths if requested.

    https://pytorch.org/docs/stable/generated/torch.unique_consecutive.html
    """

@overload
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any: ...
def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Indices into a flat array as indices into each dimension of `shape`.

    https://pytorch.org/docs/stable/generated/torch.unravel_index.html
    """

def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of at most `chunks` parts of equal size.

    dtype: the input's.
    Raises RuntimeError: chunk expects at least a 1-dimensional tensor
    Raises RuntimeError: chunk expects `chunks` to be greater than 0, got: ...

    https://pytorch.org/docs/stable/generated/torch.unsafe_chunk.html
    """

def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of parts of `split_size` elements of `dim`.

    dtype: the input's, the input's.
    Raises RuntimeError: split expects at least a 1-dimensional tensor
    Raises RuntimeError: split expects split_size be non-negative, but got split_size=...
    Raises RuntimeError: split_size can only be 0 if dimension size is 0, but got dimension size of
      ...

    https://pytorch.org/docs/stable/generated/torch.unsafe_split.html
    """

def unsafe_split_with_sizes(
    input: Tensor, split_sizes: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Copies of parts of the given sizes along `dim`.

    Raises RuntimeError: split_with_sizes expects at least a 1-dimensional tensor
    Raises RuntimeError: split_with_sizes expects split_sizes have only non-negative entries, but
      got split_sizes=...
    Raises RuntimeError: split_with_sizes expects split_sizes to sum exactly to ... (input tensor's
      size at dimension ...
    """

def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A dimension of size 1 inserted.

    Shapes: (2, 3) -> (2, 1, 3). dtype: the input's.
    Raises IndexError: Dimension out of range (expected to be in range of [..., ...], but got ...)

    https://pytorch.org/docs/stable/generated/torch.unsqueeze.html
    """

def unsqueeze_copy(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """As `unsqueeze`, copied.

    Shapes: (2, 3) -> (2, 1, 3). dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.unsqueeze_copy.html
    """

def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements as the columns of a matrix.

    Shapes: (3,) -> (3, 3). dtype: the input's; int64 of bools.
    Raises RuntimeError: x must be a one-dimensional tensor.
    Raises RuntimeError: N must be non-negative.

    https://pytorch.org/docs/stable/generated/torch.vander.html
    """

def var(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: _Number | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Variance over `dim` or over all, divided by the count minus `correction` (1 by default).

    Shapes: (2, 3) -> (). dtype: float32.
    Raises RuntimeError for integers and bools.
    Raises RuntimeError: ... only support floating point and complex dtypes

    https://pytorch.org/docs/stable/generated/torch.var.html
    """

def var_mean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: _Number | None = None,
) -> tuple[Tensor, Tensor]:
    """Variance and mean.

    Shapes: (2, 3) -> (), (). dtype: float32, the input's.
    Raises RuntimeError for integers and bools.

    https://pytorch.org/docs/stable/generated/torch.var_mean.html
    """

def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors, the first conjugated.

    Shapes: (3,), (3,) -> (). dtype: the input's.
    Raises NotImplementedError for bools.
    Raises RuntimeError: 1D tensors expected, but got ...D and ...D tensors
    Raises RuntimeError: dot : expected both vectors to have same dtype, but found ... and ...
    Raises RuntimeError: inconsistent tensor size, expected tensor [...] and src [...] to have the
      same number of ...

    https://pytorch.org/docs/stable/generated/torch.vdot.html
    """

def view_as_complex(input: Tensor) -> Tensor:
    """A view of pairs of real numbers as complex numbers.

    https://pytorch.org/docs/stable/generated/torch.view_as_complex.html
    """

def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As `view_as_complex`, copied.

    https://pytorch.org/docs/stable/generated/torch.view_as_complex_copy.html
    """

def view_as_real(input: Tensor) -> Tensor:
    """A view of complex numbers as pairs of real numbers in a new last dimension.

    Raises RuntimeError: view_as_real doesn't work on unresolved conjugated tensors. To resolve the
      conjugate tensor so ...

    https://pytorch.org/docs/stable/generated/torch.view_as_real.html
    """

def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As `view_as_real`, copied.

    https://pytorch.org/docs/stable/generated/torch.view_as_real_copy.html
    """

def view_copy(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """As `view`, copied.

    https://pytorch.org/docs/stable/generated/torch.view_copy.html
    """

@overload
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Parts along a dimension: a number of equal ones, or cut at indices.

    https://pytorch.org/docs/stable/generated/torch.vsplit.html
    """

@overload
def vsplit(input: Tensor, *, sections: int) -> tuple[Tensor, ...]: ...
@overload
def vsplit(input: Tensor, *, indices: int | Sequence[int]) -> tuple[Tensor, ...]: ...
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors concatenated along the first dimension, vectors as rows.

    https://pytorch.org/docs/stable/generated/torch.vstack.html
    """

@overload
def where(
    condition: Tensor,
    input: Tensor | _Number | None,
    other: Tensor | _Number | None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`input` where the condition is true, otherwise `other`. With only a condition, the indices where
    it is true.

    https://pytorch.org/docs/stable/generated/torch.where.html
    """

@overload
def where(condition: Tensor, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]: ...
def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input * log(other), 0 where the input is 0.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/generated/torch.xlogy.html
    """

def xlogy_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """In-place form of `xlogy`.

    https://pytorch.org/docs/stable/generated/torch.xlogy_.html
    """

def zero_(input: Tensor) -> Tensor:
    """In-place form of `zero`.

    https://pytorch.org/docs/stable/generated/torch.zero_.html
    """

@overload
def zeros(
    size: Sequence[int],
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Zeros.

    https://pytorch.org/docs/stable/generated/torch.zeros.html
    """

@overload
def zeros(
    *size: int,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    pin_memory: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def zeros_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: device | str | int | None = None,
    requires_grad: bool = False,
    layout: layout | None = None,
    memory_format: memory_format | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of the input's shape.

    Shape: the input's. dtype: the input's.

    https://pytorch.org/docs/stable/generated/torch.zeros_like.html
    """
