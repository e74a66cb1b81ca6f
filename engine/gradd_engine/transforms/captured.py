"""A function under grad, vjp or jvp may write only to what it was given and what it made.

Source: https://pytorch.org/docs/stable/func.ux_limitations.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..batching import lifted
from ..data import state
from ..declare import flat_tensors, written
from ..tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..schema import Op
    from ..tensor import Node

_CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
    "operation ({}) that would mutate a captured Tensor. This is not supported; please rewrite the function "
    "being transformed to explicitly accept the mutated Tensor(s) as inputs."
)


class Captured:
    """Watches one call of a function, tracking the memory of what it was `given` and what it made."""

    def __init__(self, given: Iterable[Any]) -> None:
        self._outer = state.watcher
        self._ours: set[int] = set()
        self._depth = 0
        self._ours.update(id(t._storage) for t in flat_tensors(given))

    def made(self, tensors: Iterable[Any]) -> None:
        """Mark tensors as made by the call."""
        self._ours.update(id(t._storage) for t in flat_tensors(tensors))
        if isinstance(self._outer, Captured):
            self._outer.made(tensors)

    def begin(self, op: Op, inputs: tuple[Any, ...]) -> None:
        """Raise RuntimeError if an op of the function, not one inside an op, writes to anything else."""
        if not self._depth and not op.stateful and not op.effects.unversioned:
            targets = [inputs[0]] if op.base is not None else written(op, inputs) if op.writes else ()
            if any(id(t._storage) not in self._ours for t in targets):
                raise RuntimeError(_CAPTURED.format(_name(op, inputs)))
        if self._outer is not None:
            self._outer.begin(op, inputs)
        self._depth += 1

    def end(self) -> None:
        """The op has finished or raised."""
        self._depth -= 1
        if self._outer is not None:
            self._outer.end()

    def inside(self) -> Any:
        """The watcher within a Function, which may write to anything."""
        return None if self._outer is None else self._outer.inside()

    def opens(self, op: Op) -> bool:
        """Whether the outer watcher wants the op opened."""
        return self._outer is not None and bool(self._outer.opens(op))

    def append(self, node: Node) -> None:
        """Tell the outer watcher of a node."""
        if self._outer is not None:
            self._outer.append(node)

    def settle(self, inputs: tuple[Any, ...], outputs: Any) -> None:
        """The op has finished: outputs that are not inputs belong to the call."""
        if not isinstance(outputs, (Tensor, tuple, list)):
            return
        before = {id(t._storage) for t in flat_tensors(inputs)}
        outs = flat_tensors(outputs if isinstance(outputs, (tuple, list)) else (outputs,))
        self._ours.update(id(t._storage) for t in outs if id(t._storage) not in before)
        if self._outer is not None:
            self._outer.settle(inputs, outputs)


def made_here(t: Tensor) -> Tensor:
    """A tensor just made from data, as a tensor of the current transforms."""
    t = lifted(t)
    if isinstance(state.watcher, Captured):
        state.watcher.made([t])
    return t


def _name(op: Op, inputs: tuple[Any, ...]) -> str:
    """The in-place op's name in PyTorch's dispatcher."""
    base = op.base
    if len(inputs) < 2 or (base is not None and base.effects.copies):
        return f"aten::{op.name}"
    # PyTorch's arithmetic has one overload for numbers and tensors, unless it has nodes for both.
    one = base is not None and base.surface.of_numbers and not base.number_nodes
    form = "Tensor" if one or isinstance(inputs[1], Tensor) else "Scalar"
    return f"aten::{op.name}.{form}"
