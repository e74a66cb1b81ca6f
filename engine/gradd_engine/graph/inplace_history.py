"""What in-place changes mean for the graph: who may be written to, and how history is rebased.

Source: https://pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import can_cast, is_dense, overlaps_itself, state
from ..tensor import Tensor, move_retainer, node_of
from . import recording as graph
from .op_node import OpNode
from .view_history import SHARED, CopySlices, creation_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..data import Meta
    from ..schema import Op


def check_target(t: Tensor) -> None:
    """RuntimeError where a write to `t` cannot be recorded: leaves, views of leaves, views of no_grad."""
    if t._base is not None:
        if t._creation is not None:
            raise RuntimeError(creation_error(t))
        if t._base.is_leaf and t.requires_grad:
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place operation."
            )
    # A view that nobody looked at since its base got a graph has no node yet, and passes for a leaf.
    if t._fn is None and t.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def check_inference(t: Tensor) -> None:
    """RuntimeError where a tensor made in inference mode would be written to outside of it."""
    if t._vc.inference and state.inference is None:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to "
            "get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for "
            "more details."
        )


def check_memory(t: Tensor) -> None:
    """RuntimeError where two elements of `t` are one place in memory."""
    if overlaps_itself(t.shape, t.strides):
        raise RuntimeError(SHARED)


def check_overlap(op: Op, t: Tensor, others: Sequence[Any]) -> None:
    """RuntimeError where `op` writes to `t` and its elements share memory, or a shifted part of it is read.

    As in PyTorch, tensors with gaps are let through; here the result is computed before it is stored.
    """
    effects = op.effects
    if effects.uniform:
        if any(isinstance(x, Tensor) for x in others):
            check_memory(t)  # a tensor's value is copied, and in PyTorch no copy goes to shared memory
        return
    if effects.copies and others[0] is t:
        return
    check_memory(t)
    for x in others:
        if (
            isinstance(x, Tensor)
            and not (effects.reads_first is not None and effects.reads_first(t, x, others))
            and x._storage is t._storage
            and x is not t
            and is_dense(t.shape, t.strides)
            and is_dense(x.shape, x.strides)
        ):
            ours, theirs = (t.offset, t.offset + t.numel()), (x.offset, x.offset + x.numel())
            same = ours == theirs and x.strides == t.strides
            if not same and max(ours[0], theirs[0]) < min(ours[1], theirs[1]):
                raise RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to tensor "
                    "refer to a single memory location. Please clone() the tensor before performing the "
                    "operation."
                )


def shared_along(t: Tensor) -> list[int]:
    """The dimensions along which elements of `t` are one place in memory."""
    if not overlaps_itself(t.shape, t.strides):
        return []
    return [d for d, (n, s) in enumerate(zip(t.shape, t.strides, strict=True)) if n > 1 and not s]


def check_result(t: Tensor, meta: Meta) -> None:
    """RuntimeError where the result does not fit the tensor it is written to."""
    if tuple(meta.shape) != tuple(t.shape):
        raise RuntimeError(
            f"output with shape {list(t.shape)} doesn't match the broadcast shape {list(meta.shape)}"
        )
    if not can_cast(meta.dtype, t.dtype):
        raise RuntimeError(
            f"result type {meta.dtype.title} can't be cast to the desired output type {t.dtype.title}"
        )


def rebase(t: Tensor, node: OpNode, old: Tensor | None) -> None:
    """Make `node` the history of `t`; through a view, of the base and so of all its views."""
    # retain_grad follows a tensor to its new value; hooks stay with the old one.
    if t._base is None:
        move_retainer(node_of(t), t._nr, node, 0)
        t._fn, t._nr = node, 0
        graph.finish_inplace(node, t)
        return
    base = t._base
    slices = CopySlices(base, t, node)
    move_retainer(node_of(base), base._nr, slices, 0)
    base._fn, base._nr = slices, 0
    t._node()  # rebuilds the view's node over the new base
    graph.finish_inplace(node, t)
