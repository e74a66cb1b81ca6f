"""Special functions (torch.special), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Sequence
from typing import TypeAlias

from gradd_engine.data.dtypes import DType as dtype

from gradd._tensor.tensor import Tensor

_Number: TypeAlias = int | float | complex

def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of lgamma.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.digamma
    """

def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-input * log(input), 0 at 0 and -inf for negative input.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.entr
    """

def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.erf
    """

def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(input).

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.erfc
    """

def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(input**2) * erfc(input), without overflow.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.erfcx
    """

def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of the error function.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.erfinv
    """

def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise exp2; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/special.html#torch.special.exp2
    """

def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise sigmoid; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/special.html#torch.special.expit
    """

def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise expm1; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/special.html#torch.special.expm1
    """

def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function's absolute value.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.gammaln
    """

def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of order 0.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.i0
    """

def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(-|input|) times `i0`.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.i0e
    """

def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of order 1.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.i1
    """

def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(-|input|) times `i1`.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.i1e
    """

def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Element-wise log1p; integers give the default float type.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/special.html#torch.special.log1p
    """

def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of `ndtr`.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.log_ndtr
    """

def log_softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """The logarithm of softmax along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.log_softmax
    """

def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), with x clamped to [eps, 1 - eps].

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.logit
    """

def logsumexp(
    input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """log(sum(exp(input))) over `dim`.

    Shapes: (2, 3) -> (2,). dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/special.html#torch.special.logsumexp
    """

def multigammaln(input: Tensor, p: int) -> Tensor:
    """Another name of `mvlgamma`.

    https://pytorch.org/docs/stable/special.html#torch.special.multigammaln
    """

def ndtr(input: Tensor) -> Tensor:
    """The standard normal distribution function.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.ndtr
    """

def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `ndtr`, the normal distribution's quantile.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.ndtri
    """

def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.polygamma
    """

def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of lgamma.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.psi
    """

def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Round to the nearest integer, halves to even, or to `decimals` places.

    Shape: the input's. dtype: the input's.
    Raises NotImplementedError for bools and complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.round
    """

def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/special.html#torch.special.sinc
    """

def softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """exp(input), normalised to sum to 1 along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.softmax
    """

def xlog1py(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input * log1p(other), 0 where the input is 0.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.xlog1py
    """

def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """input * log(other), 0 where the input is 0.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.xlogy
    """
