"""History of a tensor whose view was changed in place by an `autograd.Function`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..data import overlaps_itself
from ..graph import SHARED, check_part, check_target
from ..schema import named
from ..tensor import BODY, FREED, Node, TensorMeta, edge_of, move_retainer, node_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tensor import Tensor
    from .custom_node import CustomNode


def check_written(t: Tensor, given: bool, outputs: int) -> None:
    """Raise RuntimeError if a Function with this many outputs may not write to `t`; UserWarning if `t` was
    not an input.
    """
    if t._fn is None and t.requires_grad and (t._base is None or t._requires_grad):
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not given:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
            "mutated should be passed to ctx.mark_dirty().",
            UserWarning,
            stacklevel=4,
        )
    if t._base is not None and outputs > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your Function "
            "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
            "should either make sure the input is not a view (using .clone() for example) or make your "
            "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
            "inplace that returns a single Tensor and a second one that does the other operations). You can "
            "ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
        )
    if t._base is not None:
        check_target(t)


def rebase(view: Tensor, node: CustomNode, at: int) -> None:
    """Make `node`, which wrote to its input `at`, the history of `view`, its base and all views."""
    base = view._base
    assert base is not None
    slices = DirtySlices(base, view, node, at)
    move_retainer(node_of(base), base._nr, slices, 0)
    base._fn, base._nr = slices, 0
    view._node()  # rebuilds its node over the new base


class DirtySlices(Node):
    """CopySlices with a user-defined body: the history of a tensor whose view a Function changed.

    `at` is the view's position among the inputs of `fn`.
    """

    _name = "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, fn: CustomNode, at: int) -> None:
        super().__init__()
        self.fn: CustomNode | None = fn
        self.at = at
        self.backend = base.backend
        self._base, self._view = TensorMeta(base), TensorMeta(view)
        self.edges = (edge_of(base), *[e for i, e in enumerate(fn.edges) if i != at])

    def _slot(self, slot: int) -> Any:
        """Shape and dtype of the base, then of the Function's other inputs."""
        if slot == 0:
            return self._base.shape, self._base.dtype
        return None if self.fn is None else self.fn._slot(slot - 1 if slot <= self.at else slot)

    def waits(self, at: str) -> bool:
        """Its body is that of the Function."""
        return (self.fn is None or self.fn.waits(at)) if at == BODY else super().waits(at)

    def _written(self) -> CustomNode:
        """The Function's node; RuntimeError once freed."""
        if self.fn is None:
            raise RuntimeError(FREED)
        return self.fn

    def verify(self) -> None:
        """Raise the errors of the Function's node."""
        self._written().verify()

    def freed(self) -> bool:
        """Whether the Function's node is gone."""
        return self.fn is None

    def outdated(self) -> bool:
        """As of the Function's node."""
        return self.fn is not None and self.fn.outdated()

    def release(self) -> None:
        """Drop the Function's node and what it saved."""
        if self.fn is not None:
            self.fn.release()
            self.fn = None

    def kept(self) -> Sequence[Tensor]:
        """The outputs that backward needs."""
        return self._written().kept()

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """Raise RuntimeError: the body is in another process."""
        return self._written().apply(grads)

    def body(self, values: list[Any]) -> list[Any]:
        """Pass the changed part of the gradient through the Function's backward, the rest straight on."""
        g, base, view = values[0], self._base, self._view
        if g is None:
            return [None] * len(self.edges)
        if overlaps_itself(base.shape, base.strides):
            raise RuntimeError(SHARED)
        where = (list(view.shape), list(view.strides), view.offset - base.offset)
        whole = named.to_layout(g, list(base.strides))
        part = named.as_strided(whole, *where)
        found = self._written().body([part, *values[1:]])
        first = found.pop(self.at)
        if self.edges[0] is None:
            return [None, *found]
        if first is not None:
            check_part(self.edges[0], view)
        first = named.zeros_like(part) if first is None else first
        return [named.as_strided_scatter(whole, first, *where), *found]


#: maximum number of a Function's outputs
MOST_OUTPUTS = 1 << 16


def check_history(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    numbers: Sequence[int],
    width: int,
    dirty: Sequence[int],
    kept: Sequence[int],
) -> None:
    """Raise RuntimeError if the output numbers of `set_history` are inconsistent."""
    if not outputs or len(numbers) != len(outputs) or len(set(numbers)) != len(numbers):
        raise RuntimeError(f"set_history(): {len(outputs)} outputs cannot have the numbers {list(numbers)}")
    if not max(numbers) < width <= MOST_OUTPUTS or min(numbers) < 0:
        raise RuntimeError(f"set_history(): a width of {width} does not fit the numbers {list(numbers)}")
    for k in (*dirty, *kept):
        if not 0 <= k < len(outputs):
            raise RuntimeError(f"set_history(): there is no output {k} among {len(outputs)}")
    for k in dirty:
        if outputs[k]._base is not None and not any(x is outputs[k] for x in inputs):
            raise RuntimeError(f"set_history(): output {k} is changed in place, but is no input")
