"""Vector norms. The gradient at 0 is 0 for every order, the subgradient PyTorch chooses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import kernel as kernel_op
from ...declare import public
from ...schema import Op
from ...tensor import Tensor
from ..elementwise import abs, sgn, where
from .reductions import axes, collect, reduced, spread, sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...data import DType

    Dims = int | Sequence[int] | None


def _infer(input: Tensor, ord: Any, dim: Dims, keepdim: bool, dtype: DType | None) -> Meta:
    if input.dtype.category < dtypes.FLOAT:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {input.dtype.title}"
        )
    compute = dtype or input.dtype
    meta = reduced(input, dim, keepdim, dtypes.to_real(compute), compute)
    empty = any(input.shape[i] == 0 for i in axes(input, dim))
    if empty and (ord < 0 or ord == math.inf) and (dim is None or 0 not in meta.shape):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {float(ord):g} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    return meta


def kernel(xp: Any, a: Any, ord: Any, dim: Dims, keepdim: bool, dtype: Any) -> Any:
    """The norm of an array over dimensions."""
    over = axes(a, dim)
    size = xp.abs(a)
    if ord == math.inf:
        return size.max(axis=over, keepdims=keepdim)
    if ord == -math.inf:
        return size.min(axis=over, keepdims=keepdim)
    if ord == 0:
        return (size != 0).sum(axis=over, keepdims=keepdim)
    if ord == 1:
        return size.sum(axis=over, keepdims=keepdim)
    if ord == 2:
        return xp.sqrt((size * size).sum(axis=over, keepdims=keepdim))
    number = size.dtype.type
    return xp.power(xp.power(size, number(ord)).sum(axis=over, keepdims=keepdim), number(1.0 / ord))


def factor(input: Any, ord: Any, dim: Dims, keepdim: bool, out: Any) -> Any:
    """The derivative of the norm by `input`; None for the 0-norm, which is constant."""
    n = spread(out, input, dim, keepdim)
    if ord == 0:
        return None
    if ord == 1:
        return sgn(input)
    if ord == 2:
        return where(n == 0, 0.0, input / n)
    size = abs(input)
    if ord in (math.inf, -math.inf):
        largest = (size == n) | (size != size)
        return sgn(input) * (largest / sum(largest, dim, True))
    if ord < 1:
        return sgn(input) * where(input == 0, 0.0, size ** (ord - 1)) * n ** (1 - ord)
    scale = where(n == 0, 0.0, 1 / n ** (ord - 1))
    return sgn(input) * size ** (ord - 1) * scale if ord < 2 else input * size ** (ord - 2) * scale


def gradient(g: Any, input: Any, ord: Any, dim: Dims, keepdim: bool, out: Any) -> Any:
    """The gradient for `input`; None for the 0-norm."""
    found = factor(input, ord, dim, keepdim, out)
    if found is None:
        return None
    g = spread(g, input, dim, keepdim)
    if ord > 1 and ord not in (2, math.inf):
        # at 0 the gradient is 0, even if the incoming one is inf or nan
        g = where(spread(out, input, dim, keepdim) == 0, 0.0, g)
    return g * found


def _jvp(input_t: Any, input: Any, ord: Any, dim: Dims, keepdim: bool, out: Any) -> Any:
    found = factor(input, ord, dim, keepdim, out)
    return None if found is None else collect(input_t, found, dim, keepdim, out)


_vector_norm: Op = kernel_op(
    "vector_norm(Tensor input, Number ord=2, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None)"
    " -> Tensor",
    infer=_infer,
    impl=kernel,
    vjp=gradient,
    jvp=_jvp,
    node="LinalgVectorNormBackward0",
    autocast={"cuda": "float32 result"},
    zero_gradient_when=lambda attrs: attrs["ord"] == 0,
    namespace="linalg",
    doc="The norm of order `ord` over `dim` or over all (torch.linalg.vector_norm).",
    raises=False,
)


@public("linalg", out=True)
def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Any:
    """See torch.linalg.vector_norm."""
    return _vector_norm(x, ord, dim, keepdim, dtype=dtype)
