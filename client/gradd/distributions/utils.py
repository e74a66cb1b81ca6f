"""What distributions share (torch.distributions.utils): broadcasting, logits, lazy properties.

Source: https://pytorch.org/docs/stable/distributions.html
"""

from __future__ import annotations

from functools import update_wrapper
from numbers import Number
from typing import TYPE_CHECKING, Any

from gradd_engine.data import Size, dtypes
from gradd_engine.graph import enable_grad

from .. import _top as ops
from .._surface import finfo, namespace
from .._tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

#: the Euler-Mascheroni constant
euler_constant = 0.5772156649015329
#: torch.nn.functional
functional = namespace("nn.functional")
#: torch.linalg
linalg = namespace("linalg")
#: torch.special
special = namespace("special")


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors of one shape, of tensors and numbers. A number gets the dtype of the first tensor, or the
    default dtype. ValueError for anything else.
    """
    tensors = [v for v in values if isinstance(v, Tensor)]
    if len(tensors) == len(values):
        shapes = {v.shape for v in values}
        return tuple(values) if len(shapes) == 1 else tuple(ops.broadcast_tensors(*values))
    if not all(isinstance(v, (Tensor, Number)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, "
            "torch.Tensor or objects implementing __torch_function__."
        )
    if not tensors:
        return tuple(_number(v, ops.full((), v, dtype=dtypes.default_dtype())) for v in values)
    first = tensors[0]
    made = [v if isinstance(v, Tensor) else first.new_full((), v) for v in values]
    spread = made if len(made) == 1 else ops.broadcast_tensors(*made)
    return tuple(t if isinstance(v, Tensor) else _number(v, t) for v, t in zip(values, spread, strict=True))


def _number(value: Any, t: Any) -> Any:
    """Keep with the tensor which number all its elements are, so that checks need not ask the server."""
    if t.dtype in (dtypes.float32, dtypes.float64):
        t._number = t.dtype.np.type(value)
    return t


def standard_normal(like: Any, shape: Sequence[int]) -> Any:
    """Standard normal numbers with the dtype and session of a tensor that expands to `shape`."""
    return ops.randn_like(like if like.shape == shape else like.expand(shape))


def standard_uniform(like: Any, shape: Sequence[int]) -> Any:
    """Numbers in [0, 1) with the dtype and session of a tensor that expands to `shape`."""
    return ops.rand_like(like if like.shape == shape else like.expand(shape))


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Any:
    return ops.randn(*shape, dtype=dtype)


def _sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dimensions."""
    return value.reshape((*value.shape[: value.ndim - dim], -1)).sum(-1) if dim else value


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities of log odds (`is_binary`), or of unnormalized log probabilities in the last dimension."""
    return ops.sigmoid(logits) if is_binary else ops.softmax(logits, -1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities moved into [eps, 1 - eps]; eps is the dtype's."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """The inverse of `logits_to_probs`, of clamped probabilities."""
    clamped = clamp_probs(probs)
    return ops.log(clamped) - ops.log1p(-clamped) if is_binary else ops.log(clamped)


class lazy_property:
    """A property that is computed once, with gradients, and is an attribute from then on."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _Uncomputed(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _Uncomputed(lazy_property, property):
    """What a class has in the place of a lazy property."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def _tril_mask(n: int, diag: int, like: Any) -> Any:
    return ops.tril(like.new_ones((n, n), dtype=dtypes.bool_), diag)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The elements on and below diagonal `diag` of [..., n, n], row by row: [..., m]. ValueError for a
    diagonal outside of the matrix.
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat.flatten(-2).index_select(-1, _tril_places(n, diag, mat))


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """The inverse of `tril_matrix_to_vec`: zeros elsewhere. ValueError for a size that no matrix has."""
    size = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * size + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {size} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    n = round(n)
    flat = vec.new_zeros((*vec.shape[:-1], n * n))
    return flat.index_copy(-1, _tril_places(n, diag, vec), vec).reshape((*vec.shape[:-1], n, n))


def _tril_places(n: int, diag: int, like: Any) -> Any:
    """Where the elements on and below a diagonal are in the flat matrix: int64 [m]."""
    rows, columns = ops.tril_indices(n, n, diag)
    return rows * n + columns


def batch_size(given: Sequence[Any], first: Any) -> Size:
    """The batch shape of univariate parameters: none if all were numbers."""
    return first.shape if any(isinstance(v, Tensor) for v in given) else Size(())
