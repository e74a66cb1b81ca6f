"""Special functions (torch.special), typed.

Written by `make face` from the declarations of ops.
"""

from collections.abc import Sequence
from typing import TypeAlias

from gradd_engine.data.dtypes import DType as dtype

from gradd._tensor.tensor import Tensor

_Number: TypeAlias = int | float | complex

def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Airy's function.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.airy_ai
    """

def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.bessel_j0
    """

def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.bessel_j1
    """

def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.bessel_y0
    """

def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.bessel_y1
    """

def chebyshev_polynomial_t(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the first kind.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.chebyshev_polynomial_t
    """

def chebyshev_polynomial_u(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the second kind.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.chebyshev_polynomial_u
    """

def chebyshev_polynomial_v(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the third kind.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.chebyshev_polynomial_v
    """

def chebyshev_polynomial_w(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the fourth kind.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.chebyshev_polynomial_w
    """

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

def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized lower incomplete gamma function.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.gammainc
    """

def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized upper incomplete gamma function.

    Shape: the inputs', broadcast. dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.gammaincc
    """

def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function's absolute value.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.gammaln
    """

def hermite_polynomial_h(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """The physicists' Hermite polynomial.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.hermite_polynomial_h
    """

def hermite_polynomial_he(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """The probabilists' Hermite polynomial.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.hermite_polynomial_he
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

def laguerre_polynomial_l(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Laguerre's polynomial.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.laguerre_polynomial_l
    """

def legendre_polynomial_p(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Legendre's polynomial.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.legendre_polynomial_p
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

def log_softmax(input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None) -> Tensor:
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

def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.modified_bessel_i0
    """

def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.modified_bessel_i1
    """

def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.modified_bessel_k0
    """

def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.modified_bessel_k1
    """

def multigammaln(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """Another name of `mvlgamma`.

    https://pytorch.org/docs/stable/special.html#torch.special.multigammaln
    """

def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
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

def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
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

def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0, times exp(input).

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.scaled_modified_bessel_k0
    """

def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1, times exp(input).

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.scaled_modified_bessel_k1
    """

def shifted_chebyshev_polynomial_t(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the first kind at 2 input - 1.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.shifted_chebyshev_polynomial_t
    """

def shifted_chebyshev_polynomial_u(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the second kind at 2 input - 1.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.shifted_chebyshev_polynomial_u
    """

def shifted_chebyshev_polynomial_v(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the third kind at 2 input - 1.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.shifted_chebyshev_polynomial_v
    """

def shifted_chebyshev_polynomial_w(
    input: Tensor | _Number, n: Tensor | _Number, *, out: Tensor | None = None
) -> Tensor:
    """Chebyshev's polynomial of the fourth kind at 2 input - 1.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.shifted_chebyshev_polynomial_w
    """

def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0.

    Shape: the input's. dtype: the input's; float32 of integers and bools.

    https://pytorch.org/docs/stable/special.html#torch.special.sinc
    """

def softmax(input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input), normalised to sum to 1 along `dim`.

    Shapes: (2, 3) -> (2, 3). dtype: the input's.
    Raises NotImplementedError for integers, bools and complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.softmax
    """

def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The spherical Bessel function of order 0, sin(input) / input.

    Shape: the input's. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.spherical_bessel_j0
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

def zeta(input: Tensor | _Number, other: Tensor | _Number, *, out: Tensor | None = None) -> Tensor:
    """The Hurwitz zeta function of `input` at `other`.

    Shape: the inputs', broadcast. dtype: float32.
    Raises NotImplementedError for complex numbers.

    https://pytorch.org/docs/stable/special.html#torch.special.zeta
    """
