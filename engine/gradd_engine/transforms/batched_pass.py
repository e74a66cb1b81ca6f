"""A pass over a batch of cotangents: `is_grads_batched` of autograd.grad.

The graph is of one sample and the cotangents hold them all, so the pass is a `vmap` of what it does.
Source: https://pytorch.org/docs/stable/generated/torch.autograd.grad.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .vmap import new_level, same_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..backends.batched import BatchedBackend
    from ..nodes import Edge
    from ..tensor import Tensor


def check_batched(out: Tensor, g: Tensor, index: int) -> None:
    """RuntimeError where `g` is no batch of cotangents of `out`; IndexError where it has no dimension, or
    nothing along the first.
    """
    if not g.shape:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
            "convert a 0-dim tensor to a number"
        )
    if not g.shape[0]:
        raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
    if tuple(g.shape[1:]) != tuple(out.shape):
        # As in PyTorch, the shape that is told lacks one dimension more.
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
            "dimension. The sizes of the remaining dimensions are expected to match the shape of "
            f"corresponding output, but a mismatch was detected: grad_output[{index}] has a shape of "
            f"{g.shape[2:]} and output[{index}] has a shape of {out.shape}. If you only want some tensors in "
            "`grad_output` to be considered batched, consider using vmap."
        )


def batch_of(roots: Sequence[tuple[Edge, Tensor]]) -> tuple[BatchedBackend, list[tuple[Edge, Any]]]:
    """A level over the cotangents, and the roots with those of a sample; ValueError in vmap's words where
    they are no batches of one size.
    """
    for _, g in roots:
        if not g.shape:
            raise ValueError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a "
                "Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
            )
    level = new_level(roots[0][1], same_size([g.shape[0] for _, g in roots]))
    return level, [(edge, level.wrap(g)) for edge, g in roots]
