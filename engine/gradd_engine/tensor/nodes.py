"""Nodes and edges: the graph that a forward leaves behind and a backward pass walks.

Node names are PyTorch's (https://pytorch.org/docs/stable/notes/autograd.html).
"""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import msgspec

from ..data import state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..data import DType, Size
    from .tensor import Backend, Storage, Tensor, VersionCounter

#: what is known of a gradient before there is one
Geometry: TypeAlias = "tuple[Size, DType]"
#: room between two sequence numbers, for the nodes of a graph that is made lazily
ROOM = 1 << 16
_sequence = itertools.count(0, ROOM)
LAST = 1 << 100

#: where a pass pauses for user callbacks, in this order
GRADIENTS, PREHOOKS, BODY, SAVED, ACCUMULATED, POSTHOOKS = STOPS = (
    "gradients", "prehooks", "body", "saved", "accumulated", "posthooks",
)  # fmt: skip


#: the sequence number of a node created now; the `ROOM` numbers from there on are the caller's
next_priority: Callable[[], int] = functools.partial(next, _sequence)


class Edge(msgspec.Struct, eq=False):
    """Where a gradient goes: input `nr` of `node` (its output in the forward)."""

    node: Node
    nr: int


class RemovableHandle:
    """Removes a hook: by ``remove()``, any number of times, or at the end of a with block."""

    def __init__(self, registry: list[Any], hook: Callable[..., Any]) -> None:
        self._registry = registry
        self._entry = (hook,)
        registry.append(self._entry)
        Node.callables = True

    def remove(self) -> None:
        """Take the hook out; later calls do nothing."""
        self._registry[:] = [e for e in self._registry if e is not self._entry]

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Node:
    """A step of the graph. ``edges`` has one entry (or None) per differentiable input slot."""

    _name: ClassVar[str] = ""
    #: some node of this process ever had a user callback: passes look for them
    callables: ClassVar[bool] = False
    edges: tuple[Edge | None, ...] = ()
    priority: int
    #: how many outputs the forward has
    width: int = 1
    backend: Backend
    #: it adds into a leaf's gradient
    leaf: ClassVar[bool] = False
    #: what lies behind the node is not known here (a client's mirror that lost sight of a graph)
    opaque: ClassVar[bool] = False
    #: while it runs as the write to a view: the CopySlices around it
    whole: Any = None
    #: a stand-in: see `LazyNode`
    folded: ClassVar[bool] = False

    # Class defaults until they are set: most nodes have none of these.
    tensor_hooks: dict[int, list[Any]] | None = None
    retainers: dict[int, weakref.ref[Tensor]] | None = None
    pre_hooks: list[Any] | None = None
    post_hooks: list[Any] | None = None
    _metadata: dict[Any, Any] | None = None
    #: of the account whose memory it is in, which counts what refers to this
    counted: object = None
    #: where the op stands that made it, in the terms of who ran it (see `locate`); None if nobody said
    site: Any = None
    #: by output: what is known since a user looked at it (see edges.py)
    looks: dict[int, Any] | None = None
    #: some tensor of this process was ever turned in place behind autograd's back: passes look for `shapes`
    turned: ClassVar[bool] = False
    #: some node of this process gives gradients of looked-up rows: passes of mirrors look for them
    any_sparse: ClassVar[bool] = False
    #: it does, so a mirror runs its body to learn which rows
    sparse: bool = False
    #: by output: the shape of what was turned so, when the node was made
    shapes: dict[int, Size] | None = None
    #: by number: what an output is like, of a node that has several
    geometries: Mapping[int, Geometry] = MappingProxyType({})

    # Attached by `gradd_engine.assembly`.
    _look_behind: ClassVar[Callable[[Node, int, Edge], None]]
    _stand_in: ClassVar[Callable[..., Tensor]]
    _raw: ClassVar[Callable[..., Any]]
    _show: ClassVar[Callable[[Node, str, Any], Any]]

    def __init__(self) -> None:
        self.priority = next(_sequence)
        account = state.account
        if account is not None:
            self.counted = account.graphs

    def name(self) -> str:
        """The node's name as PyTorch prints it, e.g. ``MulBackward0``."""
        return self._name

    def short_name(self) -> str:
        """The name without its C++ namespace, as tensors print it."""
        return self.name().rpartition("::")[2]

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict that stays with the node."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, output number) per input slot; (None, 0) where no gradient goes."""
        for slot, e in enumerate(self.edges):
            if e is not None:
                self._look_behind(slot, e)
        return tuple((None, 0) if e is None else (e.node, e.nr) for e in self.edges)

    def behind(self, slot: int) -> Geometry | None:
        """Shape and dtype of the gradient that goes through an input slot; None where that is not known."""
        e = self.edges[slot]
        if e is None:
            return None
        if isinstance(e.node, AccumulateGrad):
            return e.node.variable.shape, e.node.variable.dtype
        return e.node.geometries.get(e.nr) or self._slot(slot)

    def _slot(self, slot: int) -> Geometry | None:
        """`behind`, from what the node itself knows of its inputs."""
        return None

    def __call__(self, *gradients: Any) -> Any:
        """Run this node alone on gradients of its outputs; attached by `gradd_engine.assembly`."""
        raise NotImplementedError("gradd_engine.assembly is not imported")

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """Gradients for each edge from gradients of each output."""
        raise NotImplementedError(f"derivative for {self.name()} is not implemented")

    def unfold(self) -> Node:
        """The node itself, also of a `LazyNode` one."""
        return self

    def reached(self) -> None:
        """A pass is about to begin that may run this opaque node."""

    def verify(self) -> None:
        """Raise what `apply` would raise before computing: freed graph, changed versions, missing rule."""

    def freed(self) -> bool:
        """Whether what it saved is gone."""
        return False

    def outdated(self) -> bool:
        """Whether a tensor that it saved changed since."""
        return False

    def release(self) -> None:
        """Drop saved values; the node stays."""

    def waits(self, at: str) -> bool:
        """Whether user callbacks of the kind `at` stand at this node."""
        if at == GRADIENTS:
            return self.tensor_hooks is not None and any(self.tensor_hooks.values())
        if at == PREHOOKS:
            return bool(self.pre_hooks)
        return at == POSTHOOKS and bool(self.post_hooks)

    def output_hooks(self) -> dict[int, list[Any]]:
        """The tensor hooks at each output."""
        return self.tensor_hooks or {}

    def kept(self) -> Sequence[Tensor]:
        """Saved outputs that a callback body is given besides the gradients."""
        return ()

    def body(self, values: list[Any]) -> list[Any]:
        """The gradients of a node whose body is a user callback."""
        raise RuntimeError(f"the backward of {self.name()} runs in the process that made it")

    def unpacked(self) -> list[Any]:
        """What the unpack hooks of the saved tensors give."""
        raise RuntimeError(f"{self.name()} has no packed tensors")

    def fill(self, found: Sequence[Any] | None) -> None:
        """Take what unpack hooks gave, for the next `apply`."""
        raise RuntimeError(f"{self.name()} has no packed tensors")

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        """Call `hook(grad_outputs)` before the node runs; see torch.autograd.graph.Node.register_prehook."""
        if self.pre_hooks is None:
            self.pre_hooks = []
        return RemovableHandle(self.pre_hooks, hook)

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """Call `hook(grad_inputs, grad_outputs)` after the node ran; see
        torch.autograd.graph.Node.register_hook.
        """
        if self.post_hooks is None:
            self.post_hooks = []
        return RemovableHandle(self.post_hooks, hook)

    def __repr__(self) -> str:
        return f"<{self.short_name()} object at {id(self):#x}>"


class FoldedGraph(Protocol):
    """Nodes that are made when somebody asks for one. Each stands for a traced one."""

    made: bool

    def node(self, traced: Node) -> Node:
        """The node that stands for `traced`; the first call makes all of them."""

    def kept(self) -> Iterable[tuple[Node, Tensor]]:
        """What they will keep: traced nodes, each with a traced tensor."""

    def behind(self) -> Mapping[int, Tensor | Storage]:
        """By the ids of traced tensors: the tensors that they stand for, or the memory of those that are made
        with the nodes.
        """

    def holds(self) -> Iterable[Tensor | Node]:
        """What is held for them besides: tensors, and earlier nodes."""


class LazyNode(Node):
    """A node that is made when somebody asks for it: it stands in a tensor's ``_fn``, never behind an edge.

    ``graph.node(traced)`` gives the node; it is asked once.
    """

    folded = True

    def __init__(self, graph: FoldedGraph, traced: Node) -> None:
        #: None once the node is made
        self.graph: FoldedGraph | None = graph
        self.traced = traced
        self._node: Node | None = None

    def unfold(self) -> Node:
        """The node itself."""
        if self._node is None:
            assert self.graph is not None
            self._node, self.graph = self.graph.node(self.traced), None
        return self._node

    def name(self) -> str:
        """The node's name."""
        return self.unfold().name()


class AccumulateGrad(Node):
    """The end of the graph at a leaf: adds what arrives into ``variable.grad``."""

    _name = "torch::autograd::AccumulateGrad"
    leaf = True

    def __init__(self, variable: Tensor) -> None:
        self.priority = LAST
        self.variable = variable
        self.backend = variable.backend
        self.lock = threading.RLock()

    def waits(self, at: str) -> bool:
        """As for any node; hooks of a leaf stand at the tensor."""
        if at == GRADIENTS:
            return bool(self.variable._hooks)
        if at == ACCUMULATED:
            return bool(self.variable._post_hooks)
        return super().waits(at)

    def output_hooks(self) -> dict[int, list[Any]]:
        """The tensor hooks of the leaf."""
        return {0: self.variable._hooks or []}


def node_of(t: Tensor) -> Node | None:
    """The node of `t`; a lazy one is made now."""
    fn = t._fn
    if fn is not None and fn.folded:
        fn = t._fn = fn.unfold()
    return fn


def locate(t: Tensor, site: Any, since: int) -> None:
    """Say where the op stands that made `t`: at those nodes behind it whose numbers are at least `since`."""
    nodes = [] if t._fn is None or t._fn.folded else [t._fn]
    while nodes:
        node = nodes.pop()
        if not node.leaf and node.priority >= since and node.site is None:
            node.site = site
            nodes += [e.node for e in node.edges if e is not None]


def edge_of(t: Tensor) -> Edge | None:
    """Where the gradient of `t` goes; None when it needs none."""
    if t._stands is not None:
        return t._stands()
    fn = t._node() if t._base is not None else node_of(t)
    if fn is not None:
        return Edge(fn, t._nr)
    return Edge(accumulator(t), 0) if t._requires_grad else None


def detached(t: Tensor, version: VersionCounter | None = None) -> Tensor:
    """An alias of `t`'s memory without history; shares the version counter unless another is given."""
    out = t.backend.made(
        t.backend,
        t._storage,
        t._shape,
        t.strides,
        t.offset,
        t._dtype,
        t.array,
        t._vc if version is None else version,
    )
    if t._conj:
        out._conj = True
    return out


def carry(source: Tensor, alias: Tensor) -> Tensor:
    """`alias`, another tensor of the same values, with the tangents of `source`."""
    if source._tangents:
        for level, t in source._tangents.items():
            level.give(alias, t)
    return alias


def move_retainer(old: Node | None, nr: int, node: Node, at: int) -> None:
    """Let what retained the gradient of output `nr` of `old` retain that of output `at` of `node`."""
    if old is None or old.retainers is None:
        return
    ref = old.retainers.pop(nr, None)
    if ref is not None:
        node.retainers = {**(node.retainers or {}), at: ref}


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """The leaf's AccumulateGrad node; the same one as long as a graph holds it."""
    found = leaf._acc() if leaf._acc is not None else None
    if found is None:
        found = AccumulateGrad(leaf)
        leaf._acc = weakref.ref(found)
    return found


def remember_shape(t: Tensor) -> None:
    """Called before `t` takes another shape without autograd: its node keeps the shape it was made for.

    A leaf's does so that passes look at the shapes of its gradients. They are not refused for it, as PyTorch
    does with those of graphs that are made while an earlier one is alive: a caught error may be all that
    keeps the node.
    """
    node = t._node()
    if node is None and t._acc is not None:
        node = t._acc()
    if node is not None:
        Node.turned = True
        node.shapes = {t._nr: t.shape, **(node.shapes or {})}
