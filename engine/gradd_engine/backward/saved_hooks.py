"""Saved-tensor hooks: user code packs what is saved for backward, and unpacks it there.

A server's node never runs a hook: it drops what it saved (`drop_saved`) and is given the unpacked tensors
when a pass comes by (`passes.py`).
Source: https://pytorch.org/docs/stable/autograd.html#saved-tensors-hooks-doc.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..data import ambient, state
from ..declare import flat_tensors, stateful
from ..graph import CopySlices, OpNode
from ..schema import Histories, Op
from ..tensor import Node, Packed, Saved, Tensor, detached, edge_of, places
from . import dry_run
from .anomaly import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
    "to backward through the graph a second time or if you need to access saved variables after calling "
    "backward."
)


def _owner(t: Tensor) -> OpNode | None:
    """The node that saved tensors when `t` came to be."""
    edge = edge_of(t)
    node: Any = None if edge is None else edge.node
    if isinstance(node, CopySlices):
        node = node.fn
    return node if isinstance(node, OpNode) else None


def _entries(t: Tensor) -> list[tuple[Any, Any, Any]]:
    node = _owner(t)
    if node is None or node.saved is None:
        raise RuntimeError("this tensor has no node that keeps anything")
    return list(places(node.saved))


def _entry(of: Tensor, at: int) -> tuple[Any, Any, Any]:
    entries = _entries(of)
    if not 0 <= at < len(entries):
        raise IndexError(f"the node keeps {len(entries)} tensors, there is no number {at}")
    return entries[at]


def _saved_at(of: Tensor, at: int) -> Tensor:
    entry = _entry(of, at)[2]
    if not isinstance(entry, Saved):
        raise RuntimeError("this saved tensor is packed")
    return detached(entry.tensor)


saved_at = stateful(
    "saved_at(Tensor of, *, int at) -> Tensor",
    body=_saved_at,
    traced=False,
    doc="A detached alias of the tensor number `at` among those that the node of `of` keeps for backward.",
    wide=False,
    histories=Histories.NONE,
)


def _drop(of: Tensor, at: int) -> None:
    where, key, entry = _entry(of, at)
    node = _owner(of)
    assert node is not None
    if not isinstance(entry, Saved):
        raise RuntimeError("this saved tensor is packed")
    where[key] = Packed(entry)
    node.packed = True


drop_saved = stateful(
    "drop_saved(Tensor(a!) of, *, int at) -> ()",
    body=_drop,
    traced=False,
    doc="Let go of the tensor number `at` that the node of `of` keeps: whoever runs a pass brings it again.",
    dry_run=dry_run.nothing,
    wide=False,
    histories=Histories.WRITTEN,
)


def _pack(
    of: Tensor, at: int, pack: Callable[[Any], Any], unpack: Callable[[Any], Any], known: list[Tensor]
) -> None:
    """Pack one saved tensor of the node of `of`."""
    entry = _entries(of)[at][2]
    source = entry.source()
    with ambient(grad=False, watcher=None, packing=None):
        given = source if any(source is t for t in known) else saved_at(of, at=at)
        version = given._version
        box = pack(given)
        if given._version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
                "pack hook cannot be modified by in-place operations as this can lead to unexpected "
                "side-effects. Please open an issue if you need to perform in-place operations on the "
                "input to a pack hook."
            )
        drop_saved(of, at=at)
    packed = _entries(of)[at][2]
    packed.box, packed.unpack = box, unpack
    Node.callables = True


class Packing(Watcher):
    """Packs what the operations of a thread save for backward."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        #: the watcher when the hooks were entered: it has to hear of all writes
        self._outer = state.watcher

    def begin(self, op: Op, inputs: tuple[Any, ...]) -> None:
        """An operation is about to run."""
        if self._outer is not None:
            self._outer.begin(op, inputs)

    def end(self) -> None:
        """It ran, or raised."""
        if self._outer is not None:
            self._outer.end()

    def inside(self) -> Any:
        """Hooks do not apply there."""
        return None if self._outer is None else self._outer.inside()

    def append(self, node: Node) -> None:
        """A node was made."""
        super().append(node)
        self._nodes.append(node)

    def opens(self, op: Op) -> bool:
        """Composites are recorded as the ops inside them, so that all that is saved can be named."""
        return op.composite is not None and not op.rules and not op.stateful

    def settle(self, inputs: tuple[Any, ...], outputs: Any) -> None:
        """The operation is done and recorded: pack what its nodes saved. Outer hooks see no nodes."""
        if self._outer is not None:
            self._outer.settle(inputs, outputs)
        nodes, self._nodes = self._nodes, []
        if not nodes or state.packing is None:
            return
        outs = outputs if isinstance(outputs, tuple) else (outputs,)
        made = list(flat_tensors(outs))
        known = [*flat_tensors(inputs), *made]
        made += [o._base for o in made if o._base is not None]
        for node in nodes:
            of = next((o for o in made if _owner(o) is node), None)
            if of is None or node.saved is None:
                continue
            for at, (_, _, entry) in enumerate(places(node.saved)):
                if isinstance(entry, Saved):
                    _pack(of, at, *state.packing, known)


def _check_callable(where: str, *hooks: Any) -> None:
    for hook in hooks:
        if not callable(hook):
            raise TypeError(f"{where}: incompatible function arguments. {hook!r} is not callable.")


class saved_tensors_hooks:
    """Context in which `pack_hook(tensor)` is kept in the place of each tensor saved for backward, and
    `unpack_hook` gives it back (torch.autograd.graph.saved_tensors_hooks). Only the innermost pair applies.

    RuntimeError on entering where hooks are disabled, and where `pack_hook` changes its input in place;
    TypeError on entering where one is not callable, and in backward where `unpack_hook` gives no tensor.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if state.unpackable is not None:
            raise RuntimeError(state.unpackable)
        _check_callable("_push_saved_tensors_default_hooks()", self.pack_hook, self.unpack_hook)
        # One stack for all, in the thread's state: what is entered within a pass ends with its callable.
        state.packings = (*state.packings, (state.packing, state.watcher))
        state.packing, state.watcher = (self.pack_hook, self.unpack_hook), Packing()

    def __exit__(self, *exc: object) -> None:
        if not state.packings:
            raise RuntimeError("no saved-tensor hooks are entered that could be left")
        *below, (state.packing, state.watcher) = state.packings
        state.packings = tuple(below)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context in which entering a pair of saved-tensor hooks raises RuntimeError with that message, as does
    entering it within such a pair (torch.autograd.graph.disable_saved_tensors_hooks).
    """
    if state.packing is not None:
        raise RuntimeError(error_message)
    with ambient(unpackable=error_message):
        yield


class SavedTensor:
    """A place where a node keeps a tensor for backward (``node._raw_saved_self``)."""

    _node: Any
    _key: str

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden")

    @classmethod
    def of(cls, node: Any, key: str) -> SavedTensor:
        """The place `key` of a node."""
        made = cls.__new__(cls)
        made._node, made._key = node, key
        return made

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Pack the tensor now, and unpack it in backward; RuntimeError where it was freed or has hooks."""
        _check_callable("register_hooks()", pack_hook, unpack_hook)
        saved = self._node.saved
        if saved is None:
            raise RuntimeError(_FREED)
        entry = saved.get(self._key)
        if isinstance(entry, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
                "pair of hooks is allowed at a time."
            )
        if not isinstance(entry, Saved):
            raise RuntimeError(f"{self._node.short_name()} keeps no single tensor there")
        at = next(i for i, (_, _, e) in enumerate(places(saved)) if e is entry)
        _pack(self._node._stand_in(), at, pack_hook, unpack_hook, [])
