"""Which memory tensors and their graphs hold, and who holds it.

Nothing is recorded, no value is looked at, and graphs that a plan left folded stay folded.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .custom import CustomNode
from .graph import CopySlices
from .tensor import AccumulateGrad, LazyNode, Node, Saved, Storage, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: tensors and nodes that are looked at, of one map
MOST_LOOKED_AT = 50_000
#: holders of one block that are told by name
MOST_HOLDERS = 12
#: characters of a label: gradients of gradients are called after each other
_LONGEST = 160


@dataclass(slots=True)
class MemoryBlock:
    """A storage. ``kind``: "leaf" (requires gradients), "tensor" (needs none), "result" (has a history),
    "gradient", "saved" (held by a graph alone), "tangent". ``shape`` and ``dtype`` are those of the first
    tensor over it that was found, ``bytes`` those of all of it.
    """

    label: str
    kind: str
    bytes: int
    shape: list[int]
    dtype: str
    holders: list[str] = field(default_factory=list)
    #: holders that are not told by name
    more: int = 0


class MemoryMap:
    """All memory that `roots`, by what they are called, hold: the tensors themselves, first named first, then
    gradients, and what graphs saved. ``truncated``: there was more to look at than `most`.
    """

    def __init__(self, roots: Iterable[tuple[str, Tensor]], most: int = MOST_LOOKED_AT) -> None:
        self.truncated = False
        #: how many tensors and nodes may still be looked at
        self._left = most
        self._blocks: dict[int, MemoryBlock] = {}
        #: tensors, nodes and folded graphs by identity; they are held by what is walked
        self._seen: set[int] = set()
        self._nodes: deque[Node] = deque()
        self._tensors: deque[tuple[Tensor, str, str, str]] = deque()
        roots = list(roots)
        gradients = {id(t._grad): f"{name}.grad" for name, t in reversed(roots) if t._grad is not None}
        for name, t in roots:
            kind, label = _kind(t), name
            if name[0] == "@":  # a client's handle, which may come and go
                if id(t) in gradients:
                    kind, label = "gradient", gradients[id(t)]
                elif t._fn is not None:
                    label = _name(t._fn)
            self._tensors.append((t, label, kind, name))
        self._walk()

    def hold(self, storage: Storage, label: str, kind: str, shape: Any, dtype: str, holder: str) -> None:
        """Note that `holder` has that memory; label and kind are those of the first who has."""
        block = self._blocks.get(id(storage))
        if block is None:
            block = MemoryBlock(label[:_LONGEST], kind, storage.nbytes, [int(n) for n in shape], dtype)
            self._blocks[id(storage)] = block
        holder = holder[:_LONGEST]
        if holder in block.holders:
            return
        if len(block.holders) < MOST_HOLDERS:
            block.holders.append(holder)
        else:
            block.more += 1

    @property
    def blocks(self) -> list[MemoryBlock]:
        """The blocks, the largest first."""
        return sorted(self._blocks.values(), key=lambda block: -block.bytes)

    def _walk(self) -> None:
        # Tensors come first: what a name or handle leads to is not taken for what a graph saved.
        while self._tensors or self._nodes:
            if self._left <= 0:
                self.truncated = True
                return
            if self._tensors:
                self._tensor(*self._tensors.popleft())
            else:
                self._node(self._nodes.popleft())

    def _tensor(self, t: Tensor, label: str, kind: str, holder: str) -> None:
        if t._storage is not None:
            self.hold(t._storage, label, kind, t._shape, t._dtype.name, holder)
        if id(t) in self._seen:
            return
        self._seen.add(id(t))
        self._left -= 1
        if t._fn is not None:
            self._nodes.append(t._fn)
        if t._base is not None:
            self._tensors.append((t._base, label, kind, holder))
        for tangent in (t._tangents or {}).values():
            if tangent is not None:
                self._tensors.append((tangent, f"tangent of {label}", "tangent", f"tangent of {label}"))
        if t._grad is not None:
            self._tensors.append((t._grad, *_gradient(holder)))

    def _node(self, node: Node) -> None:
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        self._left -= 1
        if isinstance(node, LazyNode):
            self._folded(node)
            return
        said = _keeping(node)
        if isinstance(node, AccumulateGrad):
            self._tensors.append((node.variable, *said))
        kept = node.fn if isinstance(node, CopySlices) else node
        entries = kept.entries() if isinstance(kept, CustomNode) else getattr(kept, "saved", None)
        for entry in (entries or {}).values():
            for one in entry if isinstance(entry, list) else [entry]:
                if isinstance(one, Saved):
                    self._tensors.append((one.tensor, *said))
        self._nodes.extend(e.node for e in node.edges if e is not None)

    def _folded(self, node: LazyNode) -> None:
        graph = node.graph
        if graph is None or graph.made:
            self._nodes.append(node.unfold())
        elif id(graph) not in self._seen:
            self._seen.add(id(graph))
            behind = graph.behind()
            walked: set[int] = set()
            for traced, t in graph.kept():
                self._traced(behind, walked, t, *_keeping(traced))
            for held in graph.holds():
                if isinstance(held, Tensor):
                    self._tensors.append((held, "held by a graph", _kind(held), "the graph"))
                else:
                    self._nodes.append(held)

    def _traced(
        self, behind: Mapping[int, Tensor | Storage], walked: set[int], t: Tensor | None,
        label: str, kind: str, holder: str,
    ) -> None:  # fmt: skip
        """What stands behind a traced tensor and, once, behind its gradient."""
        while t is not None:
            self._left -= 1
            found = behind.get(id(t))
            if isinstance(found, Tensor):
                self._tensors.append((found, label, kind, holder))
            if not isinstance(found, Storage):
                return
            self.hold(found, label, kind, t._shape, t._dtype.name, holder)
            if id(t) in walked:
                return
            walked.add(id(t))
            t, (label, kind, holder) = t._grad, _gradient(holder)


def _kind(t: Tensor) -> str:
    return "result" if t._fn is not None else "leaf" if t._requires_grad else "tensor"


def _keeping(node: Node) -> tuple[str, str, str]:
    """Label, kind and holder of what a node keeps."""
    if isinstance(node, AccumulateGrad):
        return "a leaf of the graph", "leaf", "the graph, as a leaf"
    said = f"saved by {node.name()}"
    return said, "saved", said


def _gradient(holder: str) -> tuple[str, str, str]:
    """Label, kind and holder of the gradient of what `holder` has."""
    name = f"{holder}.grad"[:_LONGEST]
    return name, "gradient", name


def _name(node: Node) -> str:
    """The node's name; a folded one stays so."""
    return node.traced.name() if isinstance(node, LazyNode) else node.name()
