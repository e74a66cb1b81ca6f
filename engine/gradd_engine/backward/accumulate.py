"""What a pass does to `.grad`: accumulation into leaves, retained gradients, and the layouts of both.

Source: https://pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..data import Meta, contiguous_strides, is_dense, new_counter
from ..data.state import state
from ..graph import cast_gradient
from ..schema import named
from ..tensor import Tensor, detached
from .gradients import check_layout, contract_strides

if TYPE_CHECKING:
    from ..data import DType
    from .gradients import check_layout, contract_strides
from ..data import Size


def retain(t: Tensor, g: Tensor) -> None:
    """Add `g` to the gradient that the non-leaf `t` keeps."""
    if t._grad is None:
        # PyTorch's graph: a contiguous copy, whatever the tensor's own layout.
        g = named.contiguous_copy(g)
        t._grad = g if state.grad else detached(g, new_counter())
    else:
        t._grad = named.add(t._grad, g)


@lru_cache(1024)
def _unseen(shape: Size, strides: tuple[int, ...], dtype: DType) -> Meta:
    """Geometry of a new .grad whose values are skipped."""
    return Meta(shape, dtype, strides if is_dense(shape, strides) else contiguous_strides(shape))


def _held() -> tuple[int, int]:
    """Refcounts of a local that nobody else holds, and of an attribute of it.

    Measured, since Pythons differ: 3.14 does not count the call's own reference.
    """
    box = [_Holder()]
    held = box.pop()
    return sys.getrefcount(held), sys.getrefcount(held.inside)


class _Inside:
    """Something to hold."""


class _Holder:
    def __init__(self) -> None:
        self.inside = _Inside()


_ALONE, _ALONE_INSIDE = _held()


def accumulate(leaf: Tensor, box: list[Any], skip: bool) -> None:
    """Add the gradient in `box` to ``leaf.grad``: in place without create_graph, out of place with it.

    A first gradient whose memory nobody else holds is taken over; otherwise it is copied, in the leaf's
    layout. `skip`: values are skipped and `box` is not read.
    """
    dtype = leaf._grad_dtype
    if skip:
        kind = leaf._dtype if dtype is ... or dtype is None else dtype
        g = leaf.backend.empty(_unseen(leaf._shape, tuple(leaf.strides), kind))
        if leaf._grad is None:
            leaf._grad = g
        else:
            check_layout(leaf, leaf._grad)
            named.add_(leaf._grad, g)
        return
    if dtype not in (..., None) and box[0].dtype is not dtype:
        box = [cast_gradient(box.pop(), dtype)]
    old = leaf._grad
    if old is None:
        g = box.pop()
        strides = contract_strides(leaf)
        if state.grad:
            # PyTorch's graph: copied into new memory, so CopyBackwards with the target's empty edge first.
            leaf._grad = named.copy_(leaf.backend.empty(Meta(tuple(leaf.shape), g.dtype, strides)), g)
        elif (
            g.strides == strides
            and g._base is None
            and g.offset == 0
            and sys.getrefcount(g) <= _ALONE
            and sys.getrefcount(g.storage) <= _ALONE_INSIDE
        ):
            leaf._grad = detached(g, new_counter())
        else:
            target = leaf.backend.empty(Meta(tuple(leaf.shape), g.dtype, strides))
            leaf.backend.copy_into(target, g)
            leaf._grad = target
        return
    check_layout(leaf, old)
    if state.grad:
        leaf._grad = named.add(old, box[0])
        return

    named.add_(old, box[0])
