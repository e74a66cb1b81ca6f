"""A node whose backward is Python in some process, and the op that attaches it to outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backward import dry_run
from ..data import state
from ..declare import flat_tensors, stateful
from ..graph import CUSTOM, MULTI_VIEW
from ..schema import Histories
from ..tensor import (
    BODY,
    FREED,
    Node,
    Saved,
    Tensor,
    TensorMeta,
    edge_of,
    move_retainer,
    next_priority,
    node_of,
)
from .written_views import check_history, rebase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tensor import Geometry


class CustomNode(Node):
    """A node whose body is Python in some process: that of a `BackwardNode`, or another client's."""

    def __init__(self, name: str = "") -> None:
        self.priority = next_priority()
        self._label = name
        self.metas: dict[int, TensorMeta] = {}
        #: outputs kept for backward, saved here because they share the node's history
        self.outputs: list[Saved] | None = []
        #: shape and dtype of each tensor argument of the forward
        self.arguments: list[Geometry] = []

    def name(self) -> str:
        """The node's name, ``<Class>Backward``."""
        return self._label

    def _slot(self, slot: int) -> Any:
        """Shape and dtype of the matching argument."""
        return self.arguments[slot]

    def waits(self, at: str) -> bool:
        """The body is a user callback."""
        return False if at == BODY else super().waits(at)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """Raise RuntimeError: the body is in another process."""
        raise RuntimeError(f"the backward of {self._label} runs in the process that made it")

    def verify(self) -> None:
        """Raise RuntimeError if the node was freed or a kept output was changed in place."""
        if self.outputs is None:
            raise RuntimeError(FREED)
        for entry in self.outputs:
            entry.check(self)

    def freed(self) -> bool:
        """Whether kept outputs are gone."""
        return self.outputs is None

    def outdated(self) -> bool:
        """Whether a kept output changed since."""
        return any(e.changed(self) for e in self.outputs or ())

    def release(self) -> None:
        """Drop the kept outputs."""
        if self.outputs:
            self.outputs = None

    def kept(self) -> Sequence[Tensor]:
        """The outputs that backward needs, with their history; their versions are checked when read."""
        return [entry.opened(self, history=True) for entry in self.outputs or ()]

    @property
    def _saved_tensors(self) -> list[Tensor]:
        """`kept`, checked, for a process that reads them outside a pass."""
        self.verify()
        return list(self.kept())

    def entries(self) -> dict[str, Any] | None:
        """The kept outputs by name; None once freed."""
        return None if self.outputs is None else {"tensors": list(self.outputs)}


def _set_history(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    name: str,
    numbers: Sequence[int],
    width: int,
    dirty: Sequence[int],
    kept: Sequence[int],
) -> None:
    check_history(outputs, inputs, numbers, width, dirty, kept)
    node: CustomNode = state.function or CustomNode(name)
    node.priority = next_priority()
    rewritten = [o if o._base is None else o._base for k, o in enumerate(outputs) if k in dirty]
    node.edges = tuple(edge_of(x) if x.dtype.category > 1 else None for x in inputs)
    for x in inputs:
        if any(x._base is b for b in rewritten):
            # Its gradient edge is already taken; from now on it follows its base's new history.
            x._view_version = x._vc.n - 1
    node.width = width
    node.arguments = [(x.shape, x.dtype) for x in inputs]
    node.geometries = {nr: (o.shape, o.dtype) for nr, o in zip(numbers, outputs, strict=True)}
    node.backend = next(flat_tensors((outputs, inputs))).backend
    for k, (o, nr) in enumerate(zip(outputs, numbers, strict=True)):
        if k in dirty and o._base is not None:
            at = next(i for i, x in enumerate(inputs) if x is o)
            rebase(o, node, at)
        else:
            if k in dirty:
                move_retainer(node_of(o), o._nr, node, nr)
            o._fn, o._nr, o._requires_grad = node, nr, False
        if o._base is not None:
            if len(outputs) > 1:
                o._creation = MULTI_VIEW
            elif k not in dirty:
                o._creation = CUSTOM
            o._view_version = o._vc.n
    node.outputs = [Saved(outputs[k], True, numbers[k]) for k in kept]
    if state.watcher is not None:
        state.watcher.append(node)


set_history = stateful(
    "set_history(Tensor(a!)[] outputs, Tensor[] inputs, *, str name, int[] numbers, int width, int[] "
    "dirty, int[] kept) -> ()",
    body=_set_history,
    traced=False,
    doc="""Give `outputs` a node whose body runs in the calling process: a pass pauses there.

    `numbers`: their positions among the node's `width` outputs; `dirty`: those that were changed in place;
    `kept`: those passed to the body besides the gradients.
    """,
    dry_run=dry_run.set_history,
    wide=False,
    histories=Histories.WRITTEN,
)
