"""History of a tensor of which an `autograd.Function` changed a view in place."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..graph import check_target
from ..schema import named
from ..tensor import BODY, FREED, Node, TensorMeta, edge_of, move_retainer, node_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tensor import Tensor
    from .custom_node import CustomNode


def check_written(t: Tensor, given: bool, outputs: int) -> None:
    """RuntimeError where a Function of so many outputs may not have written to `t`; UserWarning where it was
    not `given` it.
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
    """Make `node`, which wrote to its input number `at`, the history of `view`: of its base and all views."""
    base = view._base
    assert base is not None
    slices = DirtySlices(base, view, node, at)
    move_retainer(node_of(base), base._nr, slices, 0)
    base._fn, base._nr = slices, 0
    view._node()  # rebuilds its node over the new base


class DirtySlices(Node):
    """The history of a tensor of which a Function changed a view: CopySlices whose body is the user's.

    `at`: which input of `fn` the view was.
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
        """Its body is the Function's."""
        return (self.fn is None or self.fn.waits(at)) if at == BODY else super().waits(at)

    def _written(self) -> CustomNode:
        """The Function's node; RuntimeError once it was freed."""
        if self.fn is None:
            raise RuntimeError(FREED)
        return self.fn

    def verify(self) -> None:
        """What the Function's node would raise."""
        self._written().verify()

    def release(self) -> None:
        """Drop what the Function saved, and its node."""
        if self.fn is not None:
            self.fn.release()
            self.fn = None

    def kept(self) -> Sequence[Tensor]:
        """The outputs that backward asked for."""
        return self._written().kept()

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """RuntimeError: nobody here has the body."""
        return self._written().apply(grads)

    def body(self, values: list[Any]) -> list[Any]:
        """The changed part of the gradient goes through the Function's backward, the rest straight on."""
        g, base, view = values[0], self._base, self._view
        if g is None:
            return [None] * len(self.edges)
        where = (list(view.shape), list(view.strides), view.offset - base.offset)
        whole = named.to_layout(g, list(base.strides))
        part = named.as_strided(whole, *where)
        found = self._written().body([part, *values[1:]])
        first = found.pop(self.at)
        if self.edges[0] is None:
            return [None, *found]
        first = named.zeros_like(part) if first is None else first
        return [named.as_strided_scatter(whole, first, *where), *found]


#: outputs of a Function
MOST_OUTPUTS = 1 << 16


def check_history(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    numbers: Sequence[int],
    width: int,
    dirty: Sequence[int],
    kept: Sequence[int],
) -> None:
    """RuntimeError where the numbers of a Function's outputs do not go together."""
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
