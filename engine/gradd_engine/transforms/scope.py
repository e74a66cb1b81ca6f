"""Shared by the reverse transforms: fresh aliases to differentiate with respect to, and results stripped of
history that belongs to the call alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backward import run_grad, untracked
from ..batching import lifted, run_through
from ..data import state
from ..ops.shared import zeros_like
from ..schema import named
from ..tensor import AccumulateGrad, Tensor, edge_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Scope:
    """One call of a transform. Inside, gradients are recorded whatever the grad mode outside."""

    def __init__(self, watched: bool | None = None) -> None:
        #: whether the results' history may be used outside; by default, if grad mode is on
        self._watched = state.grad if watched is None else watched
        #: by id, the leaves that only this call differentiates with respect to
        self._own: dict[int, Tensor] = {}

    def open(self, x: Any) -> Tensor:
        """A fresh alias of `x`, through which no other history passes. ValueError unless it is a tensor."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        x = lifted(x)
        if self._watched and x.requires_grad:
            return named.view(x, list(x.shape))  # type: ignore[no-any-return]
        out: Tensor = untracked(x, requires_grad=True)
        self._own[id(out)] = out
        return out

    def reaches_out(self, tensors: Iterable[Tensor]) -> bool:
        """Whether the history of one of `tensors` leads to tensors tracked outside."""
        if not self._watched:
            return False
        seen: set[int] = set()
        stack = []
        for t in tensors:
            if isinstance(t.array, Tensor) and tracked(t.array):
                return True
            edge = edge_of(t)
            if edge is not None:
                stack.append(edge.node)
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, AccumulateGrad):
                if id(node.variable) not in self._own:
                    return True
            elif node.opaque or not node.edges:
                return True  # it leads out of sight, or refuses to be walked
            stack.extend(e.node for e in node.edges if e is not None)
        return False

    def settle(self, x: Any) -> Any:
        """`x` as the caller gets it: without history that is this call's alone."""
        if not isinstance(x, Tensor) or not x.requires_grad or self.reaches_out([x]):
            return x
        return untracked(x)

    def gradients(
        self,
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor] | None,
        *,
        create: bool,
        keep: bool | None = None,
    ) -> list[Tensor]:
        """Gradients of the inputs, with zeros for missing ones."""
        given: Sequence[Tensor | None] = weights or [None] * len(outputs)
        pairs = [(o, w) for o, w in zip(outputs, given, strict=True) if o.requires_grad]
        found: Sequence[Tensor | None] = [None] * len(inputs)
        if pairs:
            found = run_through(
                run_grad,
                [o for o, _ in pairs],
                list(inputs),
                [w for _, w in pairs],
                retain_graph=keep,
                create_graph=create,
                allow_unused=True,
            )
        return [zeros_like(t) if g is None else g for g, t in zip(found, inputs, strict=True)]


def tracked(t: Tensor) -> bool:
    """Whether `t`, or the tensor below it in a vmap level, has a history."""
    return t.requires_grad or (isinstance(t.array, Tensor) and tracked(t.array))
