"""What a function under grad, vjp or jvp may write to: what it was given and what it made, nothing else.

Source: https://pytorch.org/docs/stable/func.ux_limitations.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..batching import lifted
from ..data.state import state
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
    """Watches one call of a function: it knows the memory of what it was `given` and of what it made."""

    def __init__(self, given: Iterable[Any]) -> None:
        self._outer = state.watcher
        self._ours: set[int] = set()
        self._depth = 0
        self._ours.update(id(t.storage) for t in flat_tensors(given))

    def made(self, tensors: Iterable[Any]) -> None:
        """These tensors are the call's."""
        self._ours.update(id(t.storage) for t in flat_tensors(tensors))
        if isinstance(self._outer, Captured):
            self._outer.made(tensors)

    def begin(self, op: Op, inputs: tuple[Any, ...]) -> None:
        """RuntimeError where an op of the function writes to anything else; what ops do inside is theirs."""
        if not self._depth and not op.stateful and not op.effects.unversioned:
            targets = [inputs[0]] if op.base is not None else written(op, inputs) if op.writes else ()
            if any(id(t.storage) not in self._ours for t in targets):
                raise RuntimeError(_CAPTURED.format(_name(op, inputs)))
        if self._outer is not None:
            self._outer.begin(op, inputs)
        self._depth += 1

    def end(self) -> None:
        """The op is through, or has raised."""
        self._depth -= 1
        if self._outer is not None:
            self._outer.end()

    def inside(self) -> Any:
        """A Function may write to what it likes."""
        return None if self._outer is None else self._outer.inside()

    def opens(self, op: Op) -> bool:
        """As whoever watches outside wants it."""
        return self._outer is not None and bool(self._outer.opens(op))

    def append(self, node: Node) -> None:
        """A node was made."""
        if self._outer is not None:
            self._outer.append(node)

    def settle(self, inputs: tuple[Any, ...], outputs: Any) -> None:
        """The op is done: what came out is the call's, but for what it was given."""
        if not isinstance(outputs, (Tensor, tuple, list)):
            return
        before = {id(t.storage) for t in flat_tensors(inputs)}
        outs = flat_tensors(outputs if isinstance(outputs, (tuple, list)) else (outputs,))
        self._ours.update(id(t.storage) for t in outs if id(t.storage) not in before)
        if self._outer is not None:
            self._outer.settle(inputs, outputs)


def made_here(t: Tensor) -> Tensor:
    """A tensor that was just made of data, as one of whatever transforms are at work."""
    t = lifted(t)
    if isinstance(state.watcher, Captured):
        state.watcher.made([t])
    return t


def _name(op: Op, inputs: tuple[Any, ...]) -> str:
    """The in-place op as PyTorch's dispatcher calls it."""
    base = op.base
    if len(inputs) < 2 or (base is not None and base.effects.copies):
        return f"aten::{op.name}"
    # PyTorch's arithmetic has one form for numbers and tensors, unless it has nodes for both.
    one = base is not None and base.surface.of_numbers and not base.number_nodes
    form = "Tensor" if one or isinstance(inputs[1], Tensor) else "Scalar"
    return f"aten::{op.name}.{form}"
