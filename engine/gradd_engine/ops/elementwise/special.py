"""The inverse and scaled error functions, the normal distribution's functions, and entropies.

erfinv solves erf(x) = y by Halley's method from Winitzki's approximation, using whichever of erf and erfc
does not cancel. Source: S. Winitzki, "A handy approximation for the error function and its inverse" (2008);
values at the edges follow https://pytorch.org/docs/stable/special.html.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import composite, elementwise, public
from ...kernels import gauss
from ...schema import Op
from ..shared import broadcast_float, refuse
from . import rounding
from .binary import where
from .binary_more import real_float
from .erf import erf
from .unary import exp, log, log1p

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...tensor import Tensor

_HALF = (dtypes.float16, dtypes.bfloat16)
_ROOT_PI = math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)
#: Winitzki's constant
_A = 0.147
#: above it erfcx comes from its asymptotic series
_FAR = 26.0


def real_input(kernel: str, *refused: dtypes.DType) -> Callable[..., Meta]:
    """`broadcast_float` of one operand, refusing complex and the given dtypes."""

    def infer(input: Tensor) -> Meta:
        refuse(input.dtype, kernel, *refused, complex=True)
        return broadcast_float(input)

    return infer


def _double(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A kernel of float64 vectors, extended to any shape and precision."""
    return lambda xp, a: kernel(xp, a.astype(xp.float64).reshape(-1)).reshape(a.shape)


def _guess(xp: Any, outside: Any) -> Any:
    """An x with erfc(x) near `outside`, in (0, 1]."""
    logs = xp.log(outside * (2.0 - outside))
    half = 2.0 / (math.pi * _A) + logs / 2.0
    return xp.sqrt(xp.maximum(xp.sqrt(half * half - logs / _A) - half, 0.0))


def _inverse_tail(xp: Any, outside: Any) -> Any:
    """The x >= 0 with erfc(x) = `outside`, in (0, 1]; nan or inf out of that range."""
    x = _guess(xp, outside)
    for _ in range(3):
        slope = -2.0 / _ROOT_PI * xp.exp(-x * x)
        step = (gauss.erfc_positive(xp, x) - outside) / slope
        x = xp.maximum(x - step / (1.0 + x * step), 0.0)
    return x


def _inverse(xp: Any, y: Any) -> Any:
    size = xp.abs(y)
    tail = _inverse_tail(xp, xp.clip(1.0 - size, 1e-300, 1.0))
    x = xp.minimum(size, 0.5) * (_ROOT_PI / 2.0)
    for _ in range(4):
        step = (gauss.erf(xp, x) - xp.minimum(size, 0.5)) * (_ROOT_PI / 2.0) * xp.exp(x * x)
        x = x - step / (1.0 + x * step)
    found = xp.copysign(xp.where(size < 0.5, x, tail), y)
    return xp.where(size < 1.0, found, xp.where(size == 1.0, y * math.inf, math.nan))


erfinv: Op = elementwise(
    "erfinv(Tensor input) -> Tensor",
    infer=real_input("erfinv_vml_cpu"),
    impl=_double(_inverse),
    vjp=lambda g, input: g * (exp(erfinv(input) ** 2) * (_ROOT_PI / 2.0)),
    method=True,
    inplace=True,
    namespace="|special",
    doc="The inverse of the error function (torch.erfinv).",
    raises=False,
    autocast={"cuda": "float32"},
)


def _erfcx(xp: Any, x: Any) -> Any:
    size = xp.abs(x)
    tail = 2.0 * gauss.scaled_tail(xp, size * math.sqrt(2.0))
    inverse = 1.0 / xp.maximum(size, _FAR)
    square = 0.5 * inverse * inverse
    far = inverse / _ROOT_PI * (1.0 - square * (1.0 - 3.0 * square * (1.0 - 5.0 * square)))
    found = xp.where(size > _FAR, far, tail)
    return xp.where(x < 0, 2.0 * xp.exp(x * x) - found, found)


erfcx: Op = elementwise(
    "erfcx(Tensor input) -> Tensor",
    infer=real_input("erfcx_cpu", *_HALF),
    impl=_double(_erfcx),
    vjp=lambda g, input, out: g * (2.0 * input * out - 2.0 / _ROOT_PI),
    node="SpecialErfcxBackward0",
    namespace="special",
    doc="exp(input**2) * erfc(input), without overflow (torch.special.erfcx).",
    raises=False,
)


def _ndtri(xp: Any, p: Any) -> Any:
    least = xp.minimum(p, 1.0 - p)
    x = math.sqrt(2.0) * _inverse_tail(xp, xp.clip(2.0 * least, 1e-300, 1.0))
    found = xp.where(p < 0.5, -x, x)
    found = xp.where(p == 0.0, -math.inf, xp.where(p == 1.0, math.inf, found))
    return xp.where((p < 0.0) | (p > 1.0) | xp.isnan(p), math.nan, found)


ndtri: Op = elementwise(
    "ndtri(Tensor input) -> Tensor",
    infer=real_input("ndtri_cpu", *_HALF),
    impl=_double(_ndtri),
    vjp=lambda g, out: g * (exp(out * out * 0.5) * math.sqrt(2.0 * math.pi)),
    node="SpecialNdtriBackward0",
    namespace="special",
    doc="The inverse of `ndtr`, the normal distribution's quantile (torch.special.ndtri).",
    raises=False,
)


def _log_ndtr(xp: Any, x: Any) -> Any:
    low = xp.minimum(x, -1.0)
    below = xp.log(_erfcx(xp, -low * _ROOT_HALF) / 2.0) - low * low / 2.0
    return xp.where(x < -1.0, below, xp.log1p(-gauss.erfc(xp, xp.maximum(x, -1.0) * _ROOT_HALF) / 2.0))


log_ndtr: Op = elementwise(
    "log_ndtr(Tensor input) -> Tensor",
    infer=real_input("log_ndtr_cpu", *_HALF),
    impl=_double(_log_ndtr),
    vjp=lambda g, input, out: g / erfcx(input * -_ROOT_HALF) * math.sqrt(2.0 / math.pi),
    node="SpecialLogNdtrBackward0",
    namespace="special",
    doc="The logarithm of `ndtr` (torch.special.log_ndtr).",
    raises=False,
)
ndtr: Op = composite(
    "ndtr(Tensor input) -> Tensor",
    body=lambda input: (erf(input * _ROOT_HALF) + 1.0) * 0.5,
    out=True,
    namespace="special",
    doc="The standard normal distribution function (torch.special.ndtr).",
)


def _entr(xp: Any, a: Any) -> Any:
    found = -a * xp.log(xp.where(a > 0, a, 1))
    return xp.where(a < 0, a.dtype.type(-math.inf), xp.where(a != a, a, found))


entr: Op = elementwise(
    "entr(Tensor input) -> Tensor",
    infer=real_input("entr"),
    impl=_entr,
    vjp=lambda g, input: g * (-(log(input) + 1.0)),
    node="SpecialEntrBackward0",
    namespace="special",
    doc="-input * log(input), 0 at 0 and -inf for negative input (torch.special.entr).",
    raises=False,
)


def _xlog1py(xp: Any, a: Any, b: Any) -> Any:
    return xp.where((a == 0) & ~xp.isnan(b), a.dtype.type(0), a * xp.log1p(b))


def _xlog1py_input(g: Any, input: Any, other: Any) -> Any:
    if isinstance(other, (int, float)):
        slope = math.log1p(other) if other > -1 else (-math.inf if other == -1 else math.nan)
        return g * slope if other > -1 else g * where(input == 0, 0.0, slope)
    return g * where((input == 0) & (other <= -1), 0.0, log1p(other))


xlog1py: Op = elementwise(
    "xlog1py(Tensor|Number input, Tensor|Number other) -> Tensor",
    infer=real_float("xlog1py_cpu"),
    impl=_xlog1py,
    vjp=(_xlog1py_input, lambda g, input, other: g * (input / (other + 1))),
    node="SpecialXlog1PyBackward0",
    number_nodes={"input": "SpecialXlog1PyBackward1", "other": "SpecialXlog1PyBackward2"},
    namespace="special",
    doc="input * log1p(other), 0 where the input is 0 (torch.special.xlog1py).",
    raises=False,
)

public("special", name="round")(rounding.round.call)
