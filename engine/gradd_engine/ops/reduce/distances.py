"""dist, the norm of a difference, and renorm, which bounds the norms of slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes, wrap_dim
from ...declare import Joint
from ...declare import kernel as kernel_op
from ...schema import Op
from ..elementwise import neg, real, where
from ..shared import broadcast, conj
from .reductions import collect, sum
from .vector_norm import factor, gradient, kernel, vector_norm

if TYPE_CHECKING:
    from ...tensor import Tensor

#: keeps a quotient finite, as in PyTorch
_EPS = 1e-7


def _dist_infer(input: Tensor, other: Tensor, p: Any) -> Meta:
    both = broadcast(input, other)
    if both.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {both.dtype.title} instead."
        )
    return Meta((), dtypes.to_real(both.dtype), compute=both.dtype)


def _dist_vjp(grads: Any, needs: Any, input: Any, other: Any, p: Any, out: Any) -> Any:
    g = gradient(grads[0], input - other, p, None, False, out)
    if g is None:
        return None, None
    return (g if needs[0] else None), (neg(g) if needs[1] else None)


def _dist_jvp(input_t: Any, other_t: Any, input: Any, other: Any, p: Any, out: Any) -> Any:
    found = factor(input - other, p, None, False, out)
    if found is None:
        return None
    change = neg(other_t) if input_t is None else input_t if other_t is None else input_t - other_t
    return collect(change, found, None, False, out)


dist: Op = kernel_op(
    "dist(Tensor input, Tensor other, Number p=2) -> Tensor",
    infer=_dist_infer,
    impl=lambda xp, a, b, p: kernel(xp, a - b, p, None, False, None),
    vjp=Joint("input other", _dist_vjp),
    jvp=_dist_jvp,
    autocast={"cuda": "float32"},
    zero_gradient_when=lambda attrs: attrs["p"] == 0,
    method=True,
    doc="The p-norm of the difference (torch.dist).",
    raises=False,
)


def _others(ndim: int, dim: int) -> list[int]:
    d = wrap_dim(dim, ndim)
    return [i for i in range(ndim) if i != d]


def _renorm_infer(input: Tensor, p: Any, dim: int, maxnorm: Any) -> Meta:
    if isinstance(p, complex) or p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    if input.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {input.dtype.title}"
        )
    wrap_dim(dim, input.ndim)
    return Meta(tuple(input.shape), input.dtype, compute=input.dtype)


def _renorm(xp: Any, a: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    norms = kernel(xp, a, p, _others(a.ndim, dim), True, None)
    number = norms.dtype.type
    return a * xp.where(norms > maxnorm, number(maxnorm) / (norms + number(_EPS)), number(1))


def _held(input: Any, p: Any, dim: int, maxnorm: Any) -> tuple[Any, Any, Any, Any]:
    """The reduced dimensions, which slices are scaled down, the reciprocal norms and their derivative."""
    over = _others(input.ndim, dim)
    norms = vector_norm(input, p, over, True)
    return over, norms > maxnorm, 1.0 / (norms + _EPS), factor(input, p, over, True, norms)


def _renorm_vjp(g: Any, input: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    over, held, inverse, slope = _held(input, p, dim, maxnorm)
    product = conj(input) * g
    along = sum(real(product) if product.dtype.is_complex else product, over, True)
    return where(held, maxnorm * inverse * (g - inverse * along * slope), g)


def _renorm_jvp(input_t: Any, input: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    over, held, inverse, slope = _held(input, p, dim, maxnorm)
    change = sum(input_t * conj(slope), over, True)
    if change.dtype.is_complex:
        change = real(change)
    return where(held, maxnorm * inverse * (input_t - inverse * change * input), input_t)


renorm: Op = kernel_op(
    "renorm(Tensor input, Number p, int dim, Number maxnorm) -> Tensor",
    infer=_renorm_infer,
    impl=_renorm,
    vjp=_renorm_vjp,
    jvp=_renorm_jvp,
    autocast={"cuda": "float32"},
    method=True,
    inplace=True,
    doc="Slices along `dim` scaled down to a p-norm of at most `maxnorm` (torch.renorm).",
    raises=False,
)
