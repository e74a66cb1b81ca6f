"""Nodes that are not made yet: those of ops that a trail answered.

A tensor of such an op has a `PendingNode`, which gives the node itself once somebody asks for it, as those do
that a plan leaves folded. Until then the graph keeps what the ops were called with. A pass that is known
frees it as it stands; then it keeps what a freed graph does: leaves, and how the nodes hang together.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.data import Meta, ambient
from gradd_engine.declare import execute
from gradd_engine.tensor import Node, Saved, Tensor, accumulator, next_priority, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, MutableMapping

    from .._exceptions import Site
    from .._mirror import MirrorBackend
    from .._program import Builder
    from .repeats import Repeat

#: the state of a thread in which the mirror runs an op that is recorded for backward
_RECORDS = {
    "grad": True, "inference": None, "depth": 1, "trail": None, "watcher": None, "packing": None,
    "packings": (), "anomaly": False, "casting": None, "vmaps": (), "task": None, "transform": False,
    "function": None,
}  # fmt: skip


class PendingNode(Node):
    """Stands in a tensor's ``_fn`` for the node of the output in a slot, never behind an edge. Of what that
    is a view of, made by the op as well, the slot is inverted.
    """

    folded = True

    def __init__(self, graph: PendingGraph, slot: int, name: str) -> None:
        self.graph, self.slot, self._called = graph, slot, name

    def unfold(self) -> Node:
        """The node itself."""
        return self.graph.node(self.slot)

    def name(self) -> str:
        """The node's name."""
        return self._called


class _Call(NamedTuple):
    """An op that was answered, and what it was called with. Of a freed graph, in place of tensors, its
    numbers.
    """

    repeat: Repeat
    inputs: Any
    attrs: dict[str, Any]
    outs: tuple[Any, ...]
    slot: int
    site: Site


class PendingGraph:
    """The nodes of consecutive answered ops of one batch."""

    def __init__(self, backend: MirrorBackend, building: Builder) -> None:
        self._backend, self._dtype = backend, building.dtype
        #: weak references to the tensors of the batch's slots
        self._outputs = building.outputs
        #: where the nodes are in the order of all: as if they were made at once
        self._first = next_priority()
        self.calls: list[_Call] = []
        self.made = False
        #: of a graph that a pass freed: the leaves by their slots
        self._leaves: dict[int, Tensor] | None = None
        self._nodes: MutableMapping[int, Node] = {}
        #: nodes of leaves that are there: as its own ones would, it keeps them, with the hooks on them
        self._kept: list[Node] = []

    def add(
        self, repeat: Repeat, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: tuple[Any, ...],
        slot: int, site: Site,
    ) -> None:  # fmt: skip
        """An op was answered; its outputs begin at `slot`."""
        for at, nr in repeat.requiring:
            leaf = inputs[at] if nr < 0 else inputs[at][nr]
            node = None if leaf._acc is None else leaf._acc()
            if node is not None:
                self._kept.append(node)
        self.calls.append(_Call(repeat, inputs, attrs, outs, slot, site))

    @property
    def stands(self) -> bool:
        """Whether it keeps tensors whose versions count."""
        return not self.made and self._leaves is None

    def keeps(self, changed: Iterable[Tensor]) -> bool:
        """Whether its nodes may save one of these, or what counts versions with it."""
        versions = {id(t._vc) for t in changed}
        return any(
            id(t._vc) in versions for call in self.calls for t in (*_flat(call.inputs), *_flat(call.outs))
        )

    def free(self, leaves: dict[int, Tensor]) -> None:
        """A pass from its end reached all of it, and freed it."""
        self._leaves = leaves
        self.calls = [
            call._replace(inputs=_numbers(call.inputs) if call.repeat.late else None, outs=())
            for call in self.calls
        ]

    def node(self, slot: int) -> Node:
        """The node of an output; the first call makes all of them."""
        with self._backend.session.lock:  # type: ignore[attr-defined]
            if not self.made:
                return self.make()[slot]
            return self._nodes[slot]

    def make(self) -> Mapping[int, Node]:
        """Make the nodes, by slot: run the ops on the mirror. What changes in place changes after this."""
        calls, self.calls, self.made = self.calls, [], True
        made: dict[int, Tensor] = {}
        new: list[Node] = []
        drawn = self._backend.drawn  # of the op that runs
        try:
            with ambient(backend=self._backend, dtype=self._dtype, **_RECORDS):
                for call in calls:
                    new += self._run(call, made)
        except BaseException:  # an interrupt: whoever asks again gets them
            self.calls, self.made = calls, False
            self._nodes.clear()
            raise
        finally:
            self._backend.drawn = drawn
        for number, node in enumerate(sorted(new, key=lambda node: node.priority)):
            node.priority = self._first + number
            if self._leaves is not None:
                node.release()
        found = self._nodes
        self._kept.clear()
        # Their tensors have them from now on: held here, they would live as long as any of these.
        self._nodes = weakref.WeakValueDictionary(found)
        for slot, node in found.items():
            ref = self._outputs[slot if slot >= 0 else ~slot]
            t: Any = None if ref is None else ref()
            t = t if slot >= 0 or t is None else t._base
            if t is not None and t._fn.__class__ is PendingNode and t._fn.graph is self:
                t._fn = node
        return found

    def _run(self, call: _Call, made: dict[int, Tensor]) -> set[Node]:
        """The nodes of one op. Those of a freed graph are made on tensors like those that it had."""
        repeat, begin = call.repeat, next_priority()
        inputs = call.inputs
        if self._leaves is not None:
            numbers = iter(inputs or ())
            inputs = tuple(
                self._stand_in(arg, geometry, made, numbers)
                for arg, geometry in zip(repeat.args, repeat.geometry, strict=True)
            )
        op = repeat.op
        if op.plain:  # whose nodes share what is the same
            found = op.call(**dict(zip(op.tensor_slots, inputs, strict=True)), **call.attrs)
        else:
            found = execute(op, self._backend, inputs, dict(call.attrs))
        outs = found if type(found) is tuple else (found,)
        own = {slot: t for slot, t in enumerate(outs, call.slot) if t is not None and t._fn is not None}
        new = _since([t._fn for t in own.values() if t._fn is not None], begin)
        for slot, t in own.items():
            node = self._nodes[slot] = t._fn
            if node.site is None:
                node.site = call.site
            base = t._base
            if base is not None and base._fn is not None:
                self._nodes[~slot] = base._fn
        if self._leaves is None:
            for mine, t in zip(call.outs, outs, strict=True):  # a node may save one that has none itself
                if t is not None:
                    _take_place(mine, t, new)
                    if t._base is not None and mine._base is not t._base:
                        _take_place(mine._base, t._base, new)
        made |= own
        return new

    def _stand_in(self, arg: Any, geometry: Any, made: dict[int, Tensor], numbers: Iterator[Any]) -> Any:
        """What stands for an argument of an op whose inputs are gone, or changed since."""
        if arg is None:
            return None
        kind = arg.__class__
        if kind is tuple:
            return [self._stand_in(a, g, made, numbers) for a, g in zip(arg, geometry, strict=True)]
        if kind is not int:
            return next(numbers)
        t = made.get(arg)
        if t is None:
            t = made[arg] = self._backend.empty(Meta(geometry.shape, geometry.dtype, geometry.strides))
            leaf = (self._leaves or {}).get(arg)
            if leaf is not None:
                t._fn = accumulator(leaf)
        return t


def _take_place(mine: Tensor, made: Tensor, nodes: set[Node]) -> None:
    """Let what nodes saved of `made`, a result, be of `mine`, which was there before it."""
    if mine is made:
        return
    for node in nodes:
        for _, _, saved in places(getattr(node, "saved", None) or {}):
            if type(saved) is not Saved:
                continue
            if saved.source() is made:
                saved.source = weakref.ref(mine)
            if saved.tensor is made:
                saved.tensor = mine
                continue
            if saved.tensor._storage is made._storage:
                saved.tensor._storage = mine._storage
            if saved.tensor._vc is made._vc:
                saved.tensor._vc = mine._vc


def _flat(given: Any) -> Iterator[Any]:
    """The tensors among inputs."""
    for x in given:
        if isinstance(x, Tensor):
            yield x
        elif x.__class__ is tuple or x.__class__ is list:
            yield from _flat(x)


def _numbers(given: Any) -> list[Any]:
    """The run-time numbers among inputs, in order."""
    found: list[Any] = []
    for x in given:
        if x.__class__ is tuple or x.__class__ is list:
            found += _numbers(x)
        elif x is not None and not isinstance(x, Tensor):
            found.append(x)
    return found


def _since(ends: list[Node], start: int) -> set[Node]:
    """The nodes behind these, themselves included, that were made since."""
    found: set[Node] = set()
    left = list(ends)
    while left:
        node = left.pop()
        if node not in found and not node.leaf and node.priority >= start:
            found.add(node)
            left += [e.node for e in node.edges if e is not None]
    return found
