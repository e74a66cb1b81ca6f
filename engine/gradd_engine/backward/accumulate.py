"""What a pass does to `.grad`: accumulation into leaves, retained gradients, and the layouts of both.

Source: https://pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..data import Meta, contiguous_strides, is_dense, state, warn
from ..graph import cast_gradient
from ..schema import named
from ..tensor import Tensor, detached, new_counter

if TYPE_CHECKING:
    from ..data import DType, Size


def retain(t: Tensor, g: Tensor) -> None:
    """Add `g` to the gradient that the non-leaf `t` keeps."""
    if t._grad is None:
        # PyTorch's graph: a contiguous copy, whatever the tensor's own layout.
        found = named.contiguous_copy(g)
        t._grad = found if state.grad else detached(found, new_counter())
        if g._sparse:
            t._grad._by_lookups(g._lookups, g)
    else:
        t._grad = summed(t._grad, g)


@lru_cache(1024)
def _layout(shape: Size, strides: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of a new .grad: the leaf's where it is dense, else contiguous (torch's gradient layout
    contract).
    """
    return strides if is_dense(shape, strides) else contiguous_strides(shape)


_warned_layout = False


def _check_layout(leaf: Tensor, grad: Tensor) -> None:
    """Warn, once a process, where a gradient that is added to does not keep the layout contract.

    Where numbers are computed for somebody else's tensors nobody would read it: their mirror warns.
    """
    global _warned_layout
    if grad.strides == leaf.strides or _warned_layout or not (state.layout_policy and leaf.backend.is_meta):
        return
    if grad.shape != leaf.shape:  # the leaf was turned in place since
        return
    due = _layout(leaf._shape, leaf.strides)
    if all(n == 1 or s == t for n, s, t in zip(leaf.shape, grad.strides, due, strict=True)):
        return
    _warned_layout = True
    warn(
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair "
        f"performance.\ngrad.sizes() = {list(grad.shape)}, strides() = {list(grad.strides)}\nparam.sizes() = "
        f"{list(leaf.shape)}, strides() = {list(leaf.strides)}",
        UserWarning,
    )


@lru_cache(1024)
def _unseen(shape: Size, strides: tuple[int, ...], dtype: DType) -> Meta:
    """Geometry of a new .grad whose values are skipped."""
    return Meta(shape, dtype, _layout(shape, strides))


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


def summed(a: Tensor, b: Tensor) -> Tensor:
    """Two gradients of one tensor: sparse where both are."""
    found: Tensor = named.add(a, b)
    if a._sparse and b._sparse:
        found._by_lookups(_together(a, b), a)
    return found


def accumulate(leaf: Tensor, box: list[Any], skip: bool) -> None:
    """Add the gradient in `box` to ``leaf.grad``: in place without create_graph, out of place with it.

    A first gradient whose memory nobody else holds is taken over; otherwise it is copied, in the leaf's
    layout. `skip`: values are skipped and `box` is not read.
    """
    dtype = leaf._grad_dtype
    if skip:
        kind = leaf._dtype if dtype is ... or dtype is None else dtype
        g = leaf.backend.empty(_unseen(leaf._shape, leaf.strides, kind))
        if leaf._grad is None:
            leaf._grad = g
        else:
            _check_layout(leaf, leaf._grad)
            named.add_(leaf._grad, g)
            if leaf._grad._sparse:
                leaf._grad = detached(leaf._grad)
        return
    if dtype not in (..., None) and box[0].dtype is not dtype:
        box = [cast_gradient(box.pop(), dtype)]
    old = leaf._grad
    if old is None:
        g = box.pop()
        if g._shape != leaf._shape:
            leaf._grad = _of_another_shape(leaf, g)
            return
        given = g if g._sparse else None
        strides = _layout(leaf._shape, leaf.strides)
        if state.grad:
            # PyTorch's graph: copied into new memory, so CopyBackwards with the target's empty edge first.
            leaf._grad = named.copy_(leaf.backend.empty(Meta(leaf._shape, g._dtype, strides)), g)
        elif (
            g.strides == strides
            and g._base is None
            and g.offset == 0
            and sys.getrefcount(g) <= _ALONE
            and sys.getrefcount(g._storage) <= _ALONE_INSIDE
        ):
            leaf._grad = detached(g, new_counter())
        else:
            target = leaf.backend.empty(Meta(leaf._shape, g._dtype, strides))
            leaf.backend.copy_into(target, g)
            leaf._grad = target
        if given is not None:
            leaf._grad._by_lookups(given._lookups, given)
        return
    _check_layout(leaf, old)
    if state.grad:
        leaf._grad = summed(old, box[0])
        return
    named.add_(old, box[0])
    if not old._sparse:
        return
    if not box[0]._sparse:
        leaf._grad = detached(old)
    else:
        old._by_lookups(_together(old, box[0]), old)


def _of_another_shape(leaf: Tensor, g: Tensor) -> Tensor:
    """The first gradient of a leaf that had the shape of `g` when its graph was made.

    As in PyTorch it is kept where its strides are the leaf's (there, if nobody else holds it); else it is
    copied into the leaf's shape: RuntimeError where it does not broadcast to that.
    """
    strides = zip(g._shape, g.strides, leaf.strides, strict=False)
    if state.grad or g.ndim > leaf.ndim or any(n != 1 and s != t for n, s, t in strides):
        target = leaf.backend.empty(Meta(leaf._shape, g._dtype, _layout(leaf._shape, leaf.strides)))
        return named.copy_(target, g)  # type: ignore[no-any-return]
    target = leaf.backend.empty(Meta(g._shape, g._dtype, g.strides))
    leaf.backend.copy_into(target, g)
    return target


def _together(a: Tensor, b: Tensor) -> tuple[Any, ...] | None:
    """What rows the sum of two sparse gradients came by; None where one of them was not looked up."""
    return None if a._lookups is None or b._lookups is None else (*a._lookups, *b._lookups)
