"""softmax, log_softmax, softmin, logsumexp; backward kernels are ops with a composite for higher orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, warn, wrap_dim
from ...declare import composite, kernel, public
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import exp
from ..reduce import axes, collect, reduced, spread, sum
from ..shape import to_dtype
from ..shared import broadcast_float, conj

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...data import DType


def _infer(name: str) -> Callable[..., Meta]:
    def infer(input: Tensor, dim: int) -> Meta:
        last = wrap_dim(dim, input.ndim) == max(input.ndim - 1, 0)
        if input.dtype.category != dtypes.FLOAT:
            kernel = f"{name}_lastdim_kernel_impl" if last else f"{name}_kernel_impl"
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")
        return Meta(tuple(input.shape), input.dtype, compute=input.dtype)

    return infer


def _shifted(xp: Any, a: Any, dim: int) -> Any:
    return a - a.max(axis=dim, keepdims=True) if a.size else a


def _softmax_kernel(xp: Any, a: Any, dim: int) -> Any:
    if not a.ndim:
        return xp.ones_like(a) + (a - a)
    e = xp.exp(_shifted(xp, a, dim))
    return e / e.sum(axis=dim, keepdims=True)


def _log_softmax_kernel(xp: Any, a: Any, dim: int) -> Any:
    if not a.ndim:
        return a - a
    x = _shifted(xp, a, dim)
    return x - xp.log(xp.exp(x).sum(axis=dim, keepdims=True))


def _like_output(grad_output: Tensor, output: Tensor, dim: int) -> Meta:
    return Meta(tuple(output.shape), output.dtype, compute=output.dtype)


def _over(a: Any, dim: int) -> Any:
    return dim if a.ndim else ()


softmax_backward: Op = kernel(
    "softmax_backward(Tensor grad_output, Tensor output, int dim) -> Tensor",
    infer=_like_output,
    impl=lambda xp, g, out, dim: out * (g - (g * out).sum(axis=_over(g, dim), keepdims=True)),
    composite=lambda grad_output, output, dim: output * (grad_output - sum(grad_output * output, dim, True)),
    namespace="-",
    outside=True,
    doc="The gradient of softmax from its result.",
    raises=False,
)
log_softmax_backward: Op = kernel(
    "log_softmax_backward(Tensor grad_output, Tensor output, int dim) -> Tensor",
    infer=_like_output,
    impl=lambda xp, g, out, dim: g - xp.exp(out) * g.sum(axis=_over(g, dim), keepdims=True),
    composite=lambda grad_output, output, dim: grad_output - exp(output) * sum(grad_output, dim, True),
    namespace="-",
    outside=True,
    doc="The gradient of log_softmax from its result.",
    raises=False,
)

_softmax: Op = kernel(
    "softmax_kernel(Tensor input, int dim) -> Tensor",
    infer=_infer("softmax"),
    impl=_softmax_kernel,
    vjp=lambda g, out, dim: softmax_backward(g, out, dim),
    jvp=lambda input_t, out, dim: out * (input_t - sum(out * input_t, dim, True)),
    node="SoftmaxBackward0",
    namespace="-",
    outside=True,
    doc="softmax of a floating-point tensor.",
    raises=False,
)
_log_softmax: Op = kernel(
    "log_softmax_kernel(Tensor input, int dim) -> Tensor",
    infer=_infer("log_softmax"),
    impl=_log_softmax_kernel,
    vjp=lambda g, out, dim: log_softmax_backward(g, out, dim),
    jvp=lambda input_t, out, dim: input_t - sum(exp(out) * input_t, dim, True),
    node="LogSoftmaxBackward0",
    namespace="-",
    outside=True,
    doc="log_softmax of a floating-point tensor.",
    raises=False,
)


def _after_cast(kernel: Op) -> Callable[..., Any]:
    def composite(input: Any, dim: int, dtype: DType | None) -> Any:
        return kernel(input if dtype is None else to_dtype(input, dtype), dim)

    return composite


_softmax_op: Op = composite(
    "softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    body=_after_cast(_softmax),
    out=True,
    method=True,
    namespace="|special|nn.functional",
    doc="exp(input), normalised to sum to 1 along `dim` (torch.softmax).",
    autocast={"cuda": "float32 result"},
)
_log_softmax_op: Op = composite(
    "log_softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    body=_after_cast(_log_softmax),
    out=True,
    method=True,
    namespace="|special|nn.functional",
    doc="The logarithm of softmax along `dim` (torch.log_softmax).",
    autocast={"cuda": "float32 result"},
)
_softmin_op: Op = composite(
    "softmin(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    body=lambda input, dim, dtype: _softmax_op(-input, dim, dtype),
    namespace="nn.functional",
    doc="softmax of the negated input (torch.nn.functional.softmin).",
)


def _functional(made: Op) -> None:
    """Publish in nn.functional with an optional `dim`: PyTorch warns and picks one."""

    def call(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Any:
        if dim is None:
            warn(
                f"Implicit dimension choice for {made.name} has been deprecated. Change the call to include "
                "dim=X as an argument."
            )
            dim = 0 if input.ndim in (0, 1, 3) else 1
        return made(input, dim, dtype)

    call.__name__ = made.name
    call.__doc__ = f"See torch.nn.functional.{made.name}."
    public("nn.functional", name=made.name)(call)


for _op in (_softmax_op, _log_softmax_op, _softmin_op):
    _functional(_op)


def _logsumexp_infer(input: Tensor, dim: int | Sequence[int], keepdim: bool) -> Meta:
    dtype = broadcast_float(input).dtype
    return reduced(input, dim, keepdim, dtype)


def _logsumexp_kernel(xp: Any, a: Any, dim: Any, keepdim: bool) -> Any:
    over = axes(a, dim)
    if not a.size:
        return xp.log(xp.exp(a).sum(axis=over, keepdims=keepdim))
    top = a.real.max(axis=over, keepdims=True)
    top = xp.where(xp.isinf(top), top.dtype.type(0), top)
    total = xp.log(xp.exp(a - top).sum(axis=over, keepdims=True)) + top
    return total if keepdim else total.squeeze(axis=over)


def _logsumexp_factor(input: Any, dim: Any, keepdim: bool, out: Any) -> Any:
    return conj(exp(input - spread(out, input, dim, keepdim)))


logsumexp: Op = kernel(
    "logsumexp(Tensor input, int[] dim, bool keepdim=False) -> Tensor",
    infer=_logsumexp_infer,
    impl=_logsumexp_kernel,
    vjp=lambda g, input, dim, keepdim, out: (
        spread(g, input, dim, keepdim) * _logsumexp_factor(input, dim, keepdim, out)
    ),
    jvp=lambda input_t, input, dim, keepdim, out: collect(
        input_t, _logsumexp_factor(input, dim, keepdim, out), dim, keepdim, out
    ),
    method=True,
    namespace="|special",
    doc="log(sum(exp(input))) over `dim` (torch.logsumexp).",
    raises=False,
    autocast={"cuda": "float32"},
)
