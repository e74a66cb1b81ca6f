"""Dry runs of ops on autograd's state: what a run leaves of its inputs, on tensors without numbers.

A session looks along a program before it runs it. What these ops refuse is found while running, except for
roots that need a gradient of their shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..batching import check_batched
from ..tensor import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tensor import Tensor


def give_history(t: Tensor) -> None:
    """Make `t` the result of some node."""
    # Of a written view its base has one as well, and other views get theirs from there.
    for x in (t,) if t._base is None else (t, t._base):
        node = Node()
        node.backend = x.backend
        x._fn, x._nr, x._requires_grad, x._view_version = node, 0, False, x._vc.n


def nothing(*inputs: Any, **attrs: Any) -> list[Any]:
    """An op without outputs that changes no flag."""
    return []


def backward(tensors: Sequence[Any], gradient: Any, inputs: Any, **options: Any) -> None:
    """A pass into leaves: what it leaves there only a graph tells."""
    _check_roots(tensors, gradient, False)


def grad(
    outputs: Sequence[Any], inputs: Any, grad_outputs: Any, is_grads_batched: bool = False, **options: Any
) -> None:
    """A pass that returns gradients: which there are only a graph tells."""
    _check_roots(outputs, grad_outputs, is_grads_batched)


def set_history(outputs: Sequence[Tensor], inputs: Any, **attrs: Any) -> list[Any]:
    """Outputs of a user's function get a history."""
    for t in outputs:
        give_history(t)
    return []


def set_data(t: Tensor, data: Tensor) -> list[Any]:
    """A tensor takes another's place."""
    t._storage, t._dtype, t._shape = data._storage, data.dtype, data.shape
    t.strides, t.offset = data.strides, data.offset
    return []


def detach_(t: Tensor) -> list[Any]:
    """A tensor is cut from its graph."""
    t._fn, t._requires_grad = None, False
    return [t]


def set_requires_grad(t: Tensor, requires_grad: bool) -> list[Any]:
    """The flag of a leaf."""
    if t._fn is None:
        t._requires_grad = requires_grad
    return []


def _check_roots(roots: Sequence[Any], gradients: Sequence[Any] | None, batched: bool) -> None:
    """RuntimeError for a root that needs a gradient of its shape, in PyTorch's words."""
    for i, t in enumerate(roots):
        g = gradients[i] if gradients is not None and i < len(gradients) else None
        if g is None and t.numel() != 1:
            if t.requires_grad:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        if g is not None and batched:
            check_batched(t, g, i)
        elif g is not None and tuple(g.shape) != tuple(t.shape):
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape "
                f"of {t.shape}."
            )
