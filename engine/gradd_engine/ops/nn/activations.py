"""Rectifiers and smooth activations. Gradients at kinks are PyTorch's; hot backward kernels are ops too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import InPlace, composite, elementwise, public
from ...kernels import gauss, tiled
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import erf, exp, recorded, sigmoid, tanh, where
from ..shape import reshape
from ..shared import broadcast, computed_in, conj, fits, refuse, same, stored, zeros_like
from .from_results import celu_left, elu_left, leaky_left

if TYPE_CHECKING:
    from collections.abc import Callable

F = "nn.functional"


def published(made: Op, *spaces: str, inplace: Callable[..., Any] | None = None) -> None:
    """Publish an op in nn.functional, with a trailing `inplace` argument."""
    width = len(made.schema.params)
    changing = inplace or made.inplace
    assert changing is not None

    def call(*args: Any, inplace: bool = False, **named: Any) -> Any:
        if len(args) > width:
            *args, inplace = args  # type: ignore[assignment]
        return (changing if inplace else made)(*args, **named)

    call.__name__ = made.name
    call.__dict__["__wrapped__"] = made.call
    call.__doc__ = f"See torch.nn.functional.{made.name}."
    public(*(spaces or (F,)), name=made.name)(call)
    public(*(spaces or (F,)), name=f"{made.name}_")(changing)


def floating(kernel: str, integers: bool = False) -> Callable[..., Meta]:
    """An infer that keeps the geometry; PyTorch's NotImplementedError for dtypes without a kernel."""

    def infer(input: Tensor, *_: Any, **__: Any) -> Meta:
        refuse(input.dtype, kernel, dtypes.bool_, complex=True, integer=not integers)
        return same(input)

    return infer


def _above(xp: Any, g: Any, x: Any, threshold: Any) -> Any:
    """`g`, with zeros where x <= threshold."""
    gone = x <= threshold
    if g.dtype.kind != "f" or g.shape != x.shape:
        return xp.where(gone, g.dtype.type(0), g)
    # Multiply a float's bits by 0 or 1: this clears nan and inf too, without a branch on the data.
    out, bits = xp.empty_like(g), f"i{g.dtype.itemsize}"
    xp.multiply(g.view(bits), ~gone, out=out.view(bits))
    return out


# -- rectifiers ------------------------------------------------------------------------------------

threshold_backward: Op = elementwise(
    "threshold_backward(Tensor grad_output, Tensor input, Number threshold) -> Tensor",
    infer=lambda grad_output, input, threshold: broadcast(grad_output, input),
    impl=_above,
    vjp=(lambda g, input, threshold: threshold_backward(g, input, threshold), lambda g: zeros_like(g)),
    namespace="-",
    outside=True,
    doc="The gradient where the input is above the threshold (or nan), otherwise 0.",
    raises=False,
)


straight: Op = elementwise(
    "straight(Tensor grad_output, Tensor input) -> Tensor",
    infer=lambda grad_output, input: broadcast(grad_output, input),
    impl=lambda xp, g, x: g.copy(),
    vjp=(lambda g: g, lambda g: zeros_like(g)),
    namespace="-",
    outside=True,
    doc="The gradient of a piecewise linear function of `input`: its derivatives by `input` are zeros.",
    raises=False,
)


def of_pieces(gradient: Any, input: Any) -> Any:
    """`gradient`, whose factor is locally constant in `input`. If recorded, it still depends on `input`, as
    in PyTorch's backward kernels: a second derivative can be requested, and is 0.
    """
    return straight(gradient, input) if recorded(input) else gradient


def no_complex_bounds(input: Tensor) -> None:
    """Raise NotImplementedError for complex input, which cannot be clamped."""
    if input.dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


def _relu_infer(input: Tensor) -> Meta:
    if input.dtype is dtypes.bool_:
        raise RuntimeError("Boolean inputs not supported for relu")
    no_complex_bounds(input)
    return same(input)


relu: Op = elementwise(
    "relu(Tensor input) -> Tensor",
    infer=_relu_infer,
    impl=lambda xp, a: xp.maximum(a, a.dtype.type(0)),
    vjp=lambda g, out: threshold_backward(g, out, 0),
    method=True,
    inplace=True,
    namespace="|nn.functional",
    doc="The input where positive, otherwise 0 (torch.relu); the gradient at 0 is 0.",
    raises=False,
)
published(relu, F)
assert relu.inplace is not None
public(name="relu_")(relu.inplace.call)


def _threshold_infer(input: Tensor, threshold: Any, value: Any) -> Meta:
    refuse(input.dtype, "threshold_cpu", dtypes.bool_, complex=True)
    fits(threshold, computed_in(input.dtype))
    fits(value, computed_in(input.dtype))
    return same(input)


threshold: Op = elementwise(
    "threshold(Tensor input, Number threshold, Number value) -> Tensor",
    infer=_threshold_infer,
    impl=lambda xp, a, threshold, value: xp.where(a <= stored(threshold, a.dtype), stored(value, a.dtype), a),
    vjp=lambda g, input, threshold: threshold_backward(g, input, threshold),
    inplace=True,
    namespace="|nn.functional",
    doc="The input where it is above `threshold`, otherwise `value` (torch.threshold).",
    raises=False,
)
published(threshold, "", F)

leaky_relu_backward: Op = elementwise(
    "leaky_relu_backward(Tensor grad_output, Tensor input, float negative_slope) -> Tensor",
    infer=lambda grad_output, input, negative_slope: broadcast(grad_output, input),
    impl=lambda xp, g, x, negative_slope: xp.where(x > 0, g, g * g.dtype.type(negative_slope)),
    vjp=(
        lambda g, input, negative_slope: leaky_relu_backward(g, input, negative_slope),
        lambda g: zeros_like(g),
    ),
    namespace="-",
    outside=True,
    doc="The gradient where the input is positive, otherwise times the slope.",
    raises=False,
)

leaky_relu: Op = elementwise(
    "leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor",
    infer=floating("leaky_relu_cpu"),
    impl=lambda xp, a, negative_slope: xp.where(a > 0, a, a * a.dtype.type(negative_slope)),
    vjp=lambda g, input, negative_slope: leaky_relu_backward(g, input, negative_slope),
    inplace=InPlace(node="LeakyReluBackward1", vjp=leaky_left),
    namespace=F,
    doc="The input, times a slope where not positive (torch.nn.functional.leaky_relu).",
    raises=False,
)
published(leaky_relu)


def _prelu_infer(input: Tensor, weight: Tensor) -> Meta:
    refuse(input.dtype, "prelu_cpu", integer=True, complex=True)
    return broadcast(input, weight)


_prelu_kernel: Op = elementwise(
    "prelu_kernel(Tensor input, Tensor weight) -> Tensor",
    infer=_prelu_infer,
    impl=lambda xp, a, w: xp.where(a > 0, a, w * a),
    vjp=(
        lambda g, input, weight: of_pieces(where(input > 0, g, weight * g), input),
        lambda g, input: where(input >= 0, 0.0, input * g),
    ),
    namespace="-",
    outside=True,
    doc="The input, times a weight where not positive.",
    raises=False,
)


def _prelu(input: Tensor, weight: Tensor) -> Any:
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype.title} and {weight.dtype.title}"
        )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if weight.numel() != 1:
        channels = 1 if input.ndim < 2 else input.shape[1]
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        if channels != weight.numel():
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight.numel()} and channel size = {channels}."
            )
    if input.ndim != weight.ndim or weight.numel() != 1:
        shape = [1] * input.ndim
        if input.ndim > 1:
            shape[1] = weight.numel()
        if tuple(shape) != tuple(weight.shape):
            return _prelu_kernel(input, reshape(weight, shape))
    return _prelu_kernel(input, weight)


prelu: Op = composite(
    "prelu(Tensor input, Tensor weight) -> Tensor",
    body=_prelu,
    method=True,
    namespace="|nn.functional",
    doc="leaky_relu with one learned slope, or one per channel (torch.prelu).",
    autocast="lower",
)

# -- exponential units -----------------------------------------------------------------------------


def _elu_kernel(xp: Any, a: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    number = a.dtype.type
    low = xp.expm1(xp.minimum(a, number(0)) * number(input_scale)) * number(alpha * scale)
    return xp.where(a > 0, a * number(scale), low)


def _elu_back_kernel(xp: Any, g: Any, x: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    number = x.dtype.type
    low = xp.exp(xp.minimum(x, number(0)) * number(input_scale)) * number(input_scale * alpha * scale)
    return g * xp.where(x <= 0, low, number(scale))


def _elu_back(grad_output: Any, input: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    below = input <= 0
    # 0 keeps exp finite on the side that `where` drops, and makes the second derivative at 0 zero
    low = exp(where(input < 0, input, 0.0) * input_scale) * (input_scale * alpha * scale)
    return grad_output * where(below, low, float(scale))


def _backward_meta(grad_output: Tensor, input: Tensor, **_: Any) -> Meta:
    return broadcast(grad_output, input)


elu_backward: Op = elementwise(
    "elu_backward(Tensor grad_output, Tensor input, Number alpha, Number scale, Number input_scale) "
    "-> Tensor",
    infer=_backward_meta,
    impl=_elu_back_kernel,
    composite=_elu_back,
    namespace="-",
    outside=True,
    doc="The gradient of elu.",
    raises="not of floats",
)

_elu: Op = elementwise(
    "elu(Tensor input, Number alpha=1.0, Number scale=1.0, Number input_scale=1.0) -> Tensor",
    infer=floating("elu_cpu"),
    impl=_elu_kernel,
    vjp=lambda g, input, alpha, scale, input_scale: elu_backward(g, input, alpha, scale, input_scale),
    inplace=InPlace(node="EluBackward1", vjp=elu_left),
    namespace=F,
    doc="The input where positive, otherwise alpha * (exp(input) - 1) (torch.nn.functional.elu).",
    raises=False,
)


@public(F)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """See torch.nn.functional.elu."""
    form = _elu.inplace if inplace else _elu
    assert form is not None
    return form(input, alpha)


public(F, name="elu_")(lambda input, alpha=1.0: elu(input, alpha, True))

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805

selu: Op = composite(
    "selu(Tensor input) -> Tensor",
    body=lambda input: _elu(input, SELU_ALPHA, SELU_SCALE),
    namespace="|nn.functional",
    doc="elu with constants that preserve mean and variance (torch.selu).",
)


def _selu_(input: Tensor) -> Any:
    """The in-place form of `selu`."""
    assert _elu.inplace is not None
    return _elu.inplace(input, SELU_ALPHA, SELU_SCALE)


published(selu, "", F, inplace=_selu_)

celu: Op = elementwise(
    "celu(Tensor input, Number alpha=1.0) -> Tensor",
    infer=floating("elu_cpu"),
    impl=lambda xp, a, alpha: _elu_kernel(xp, a, alpha, 1.0, 1.0 / alpha),
    vjp=lambda g, input, alpha: elu_backward(g, input, alpha, 1.0, 1.0 / alpha),
    inplace=InPlace(node="CeluBackward1", vjp=celu_left),
    namespace="|nn.functional",
    doc="elu with exp(input / alpha), smooth for every alpha (torch.celu).",
)
published(celu, "", F)


def _logistic(xp: Any, a: Any) -> Any:
    one = a.dtype.type(1)
    return one / (one + xp.exp(-a))


def _silu_slope(xp: Any, x: Any) -> Any:
    s = _logistic(xp, x)
    one = x.dtype.type(1)
    return s * (one + x * (one - s))


def _silu_back(grad_output: Any, input: Any) -> Any:
    s = sigmoid(input)
    return grad_output * (s * (1 + input * (1 - s)))


def _silu_infer(input: Tensor) -> Meta:
    refuse(input.dtype, "silu_cpu", dtypes.bool_, integer=True)
    return same(input)


silu_backward: Op = elementwise(
    "silu_backward(Tensor grad_output, Tensor input) -> Tensor",
    infer=_backward_meta,
    impl=lambda xp, g, x: g * _silu_slope(xp, x),
    composite=_silu_back,
    namespace="-",
    outside=True,
    doc="The gradient of silu.",
    raises="not of floats",
)
silu: Op = elementwise(
    "silu(Tensor input) -> Tensor",
    infer=_silu_infer,
    impl=lambda xp, a: a * _logistic(xp, a),
    vjp=lambda g, input: silu_backward(g, conj(input)),
    inplace=True,
    namespace=F,
    doc="input * sigmoid(input) (torch.nn.functional.silu).",
    raises=False,
)
published(silu)

# -- gelu ------------------------------------------------------------------------------------------

_HALF_ROOT = math.sqrt(0.5)
_BETA = math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715


def _gelu_infer(input: Tensor, approximate: str) -> Meta:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return floating("GeluKernelImpl")(input)


def _bent(xp: Any, a: Any) -> tuple[Any, Any]:
    """1 + tanh(beta (a + cubic a^3)) of the tanh approximation, and a * a."""
    number, square = a.dtype.type, a * a
    inner = square * number(_BETA * _CUBIC)
    inner += number(_BETA)
    inner *= a
    inner = xp.tanh(inner, out=inner)
    inner += number(1)
    return inner, square


def _gelu_exact(xp: Any, a: Any) -> Any:
    below, _ = gauss.normal(xp, a)
    below *= a
    return below


def _gelu_tanh(xp: Any, a: Any) -> Any:
    bent, _ = _bent(xp, a)
    bent *= a.dtype.type(0.5)
    bent *= a
    return bent


def _gelu_back_exact(xp: Any, g: Any, a: Any) -> Any:
    below, bell = gauss.normal(xp, a)
    bell *= a
    bell *= a.dtype.type(gauss.DENSITY)
    below += bell
    return g * below


def _gelu_back_tanh(xp: Any, g: Any, a: Any) -> Any:
    number = a.dtype.type
    bent, square = _bent(xp, a)
    # 1 - tanh^2 = (1 + tanh) (2 - (1 + tanh))
    square *= number(3 * _BETA * _CUBIC)
    square += number(_BETA)
    square *= a
    square *= number(2) - bent
    square += number(1)
    square *= bent
    square *= number(0.5)
    return g * square


def _gelu_back(grad_output: Any, input: Any, approximate: str) -> Any:
    if approximate == "none":
        below = 0.5 * (1 + erf(input * _HALF_ROOT))
        return grad_output * (below + input * (exp(-0.5 * input * input) * gauss.DENSITY))
    t = tanh(_BETA * (input + _CUBIC * input * input * input))
    steep = _BETA * (1 + 3 * _CUBIC * input * input)
    return grad_output * (0.5 * (1 + t + input * (1 - t * t) * steep))


gelu_backward: Op = elementwise(
    "gelu_backward(Tensor grad_output, Tensor input, str approximate) -> Tensor",
    infer=_backward_meta,
    impl=lambda xp, g, x, approximate: tiled(
        xp, _gelu_back_exact if approximate == "none" else _gelu_back_tanh, g, x
    ),
    composite=_gelu_back,
    namespace="-",
    outside=True,
    doc="The gradient of gelu.",
    raises="not of floats",
)
gelu: Op = elementwise(
    "gelu(Tensor input, *, str approximate='none') -> Tensor",
    infer=_gelu_infer,
    impl=lambda xp, a, approximate: tiled(xp, _gelu_exact if approximate == "none" else _gelu_tanh, a),
    vjp=lambda g, input, approximate: gelu_backward(g, input, approximate),
    namespace=F,
    doc="The input times the normal distribution function, exact or by tanh (torch.nn.functional.gelu).",
    raises=False,
)
