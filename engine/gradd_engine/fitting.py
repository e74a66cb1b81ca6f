"""Gradients made to fit the tensor they are for: conjugates, dtypes, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .registry import named
from .tensor import Tensor

if TYPE_CHECKING:
    from .dtypes import DType
    from .saved import TensorMeta


def conj(x: Any) -> Any:
    """Conjugate of a tensor or number; real values are returned as they are."""
    if isinstance(x, Tensor):
        return named.conj_physical(x) if x.dtype.is_complex else x
    return x.conjugate() if isinstance(x, complex) else x


def cast_gradient(g: Tensor, dtype: DType) -> Tensor:
    """A gradient in the dtype of the tensor it is for; the real part where that is real."""
    if g.dtype is dtype:
        return g
    if g.dtype.is_complex and not dtype.is_complex:
        g = named.real(g)
        if g.dtype is dtype:
            return g
    out: Tensor = named.to_copy(g, dtype)
    return out


def fit(g: Tensor | None, meta: TensorMeta | None) -> Tensor | None:
    """A gradient in the shape and dtype of the input it is for: broadcasting and promotion are undone here
    alone.
    """
    if g is None or meta is None:
        return None if meta is None else g
    if g.shape != meta.shape:
        g = named.sum_to_size(g, list(meta.shape))
    if g.dtype is not meta.dtype:
        g = cast_gradient(g, meta.dtype)
    return g
