"""PyTorch's names with an underscore that libraries call all the same: what its distributions and layers are
made of. Each is written in documented functions.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from gradd_engine.data import dtypes
from gradd_engine.ops.create import dirichlet_grad, sample_dirichlet, standard_gamma, standard_gamma_grad

from ._surface import tensor
from ._tensor import Tensor
from ._top import arange, cdist

__all__ = [
    "_assert", "_assert_async", "_dim_arange", "_dirichlet_grad", "_euclidean_dist", "_is_all_true",
    "_is_any_true", "_log_softmax", "_log_softmax_backward_data", "_sample_dirichlet", "_shape_as_tensor",
    "_softmax", "_softmax_backward_data", "_standard_gamma", "_standard_gamma_grad", "_weight_norm",
]  # fmt: skip


def _assert(condition: Any, message: str) -> None:
    """AssertionError with `message` unless `condition`; a tensor's value is waited for."""
    if not condition:
        raise AssertionError(message)


def _assert_async(input: Tensor, assert_msg: str = "") -> None:
    """RuntimeError where the one element of `input` is zero; its value is waited for."""
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _standard_gamma(self: Tensor, generator: Any = None) -> Tensor:
    """Draws from gamma distributions of these concentrations and rate 1, differentiable by them."""
    with generator._drawing() if generator is not None else nullcontext():
        found: Tensor = standard_gamma(self)
    return found


def _standard_gamma_grad(self: Tensor, output: Tensor) -> Tensor:
    """How a draw `output` grows with its concentration."""
    found: Tensor = standard_gamma_grad(self, output)
    return found


def _sample_dirichlet(self: Tensor, generator: Any = None) -> Tensor:
    """Draws from Dirichlet distributions of these concentrations, differentiable by them."""
    with generator._drawing() if generator is not None else nullcontext():
        found: Tensor = sample_dirichlet(self)
    return found


def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """How a draw `x` grows with its concentration `alpha`, of `total`."""
    found: Tensor = dirichlet_grad(x, alpha, total)
    return found


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The sizes as a tensor of integers."""
    return tensor(list(self.shape), dtype=dtypes.int64)


def _dim_arange(like: Tensor, dim: int) -> Tensor:
    """0, 1, ... for the places along `dim`."""
    found: Tensor = arange(like.shape[dim])
    return found


def _is_all_true(self: Tensor) -> Tensor:
    """Whether all elements of a bool tensor are True."""
    return self.all()


def _is_any_true(self: Tensor) -> Tensor:
    """Whether any element of a bool tensor is True."""
    return self.any()


def _euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """Distances between the rows of both."""
    found: Tensor = cdist(x1, x2)
    return found


def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`softmax`; of half precision in single, with `half_to_float`."""
    return self.softmax(dim, dtypes.float32 if half_to_float else None)


def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`log_softmax`; of half precision in single, with `half_to_float`."""
    return self.log_softmax(dim, dtypes.float32 if half_to_float else None)


def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of `softmax`'s input, of `input_dtype`."""
    weighted = grad_output * output
    return (weighted - output * weighted.sum(dim, keepdim=True)).to(input_dtype)


def _log_softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of `log_softmax`'s input, of `input_dtype`."""
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """`v` with norms `g` over all dimensions but `dim`; over all of them for -1."""
    over = [d for d in range(v.dim()) if d != dim] if dim != -1 else list(range(v.dim()))
    return v * (g / v.norm(2, over, keepdim=True))
