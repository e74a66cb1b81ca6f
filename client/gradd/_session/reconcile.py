"""The mirror's state of every tensor, and correcting it from the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.tensor import node_of
from gradd_protocol.messages import TensorInfo

from .._mirror import Extent, adopt, correct, doubtful
from .._program import Builder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradd_engine.tensor import Node

    from .._mirror import Remains
    from .._wire import Lost
    from .core import Core


def rows(session: Core) -> Iterator[TensorInfo]:
    """The mirror's state of each live tensor, in order of ids."""
    names: dict[int, str] = {}
    for name, t in sorted(session.named.items(), reverse=True):
        names[id(t)] = name
    for i, t in sorted(session.live.items(), key=lambda item: (len(item[0]), item[0])):
        yield TensorInfo(
            i, names.get(id(t)), list(t._shape), list(t.strides), t._dtype.name, t.requires_grad,
            t._leaf, t._vc.n,
            t._grad is not None, t._vc.inference, t._conj,
            t._fn is not None, t._requires_grad,
        )  # fmt: skip


def knows(t: Any) -> bool:
    """Whether steps can refer to the tensor."""
    owner = t._owner() if t._owner is not None else None
    return t._id is not None or t._out is not None or (owner is not None and owner._grad is t)


def reconcile(session: Core, extent: Extent, lost: Lost) -> None:
    """Ask for the state of every live tensor and its gradient, and correct the mirror.

    `extent` says which of the mirror's graphs are not reliable, `lost` what did not run.
    """
    for i in lost.passes:
        _abandon(session, i, lost)
    # Bases before their views.
    held: dict[str, Any] = dict(sorted(session.live.items(), key=lambda item: item[1]._base is not None))
    names = dict(session.named.items())
    wanted = [name for i in held for name in (i, f"{i}.grad")] + list(names)
    sent = session.send(Builder(), [], state=wanted)
    if sent is None:
        return
    session.wire.wait(sent)
    if sent.failed:
        return
    found = dict(zip(wanted, sent.state, strict=True))
    if extent is Extent.SHOWN and not held.keys() >= lost.touched:
        # Of a tensor that died it is not known what shares its memory.
        extent = Extent.ALL
    storages = {id(held[i]._storage) for i in lost.touched} if extent is Extent.SHOWN else set()
    family = {t for t in held.values() if id(t._storage) in storages}
    touched = {node for t in family for node in _nodes(t)}
    # Shared by all that lose their graphs, so that each node is visited once.
    known: dict[Node, Remains] = {}
    stand: dict[str, Any] = {}
    for i, t in held.items():
        info = found[i]
        t._fetch = None
        if info is None:
            session.lose(i, t)
            continue
        stand[i] = t
        correct(t, info, extent is Extent.ALL or t in family, known)
        if info.name is not None:
            session.named[info.name] = t
    if extent is Extent.SHOWN:
        # Now that versions are the server's, nodes tell which of their saved values changed.
        doubts = doubtful([n for t in stand.values() for n in _nodes(t)], touched, lost.passed)
        for i, t in stand.items():
            info = found[i]
            if info is not None and not doubts.isdisjoint(_nodes(t)):
                correct(t, info, True, known)
    for name in names:
        info = found[name]
        t = None if info is None else session.live.get(info.id)
        if t is None:
            session.named.pop(name, None)
        else:
            session.named[name] = t
    for i, t in held.items():
        if t._id is not None:
            t._grad = _gradient(session, t._grad, found[f"{i}.grad"], extent is not Extent.NONE, known)


def _abandon(session: Core, id: str, lost: Lost) -> None:
    """The mirror ran this pass further than the server did: it cannot go on."""
    token = session.live.get(id)
    if token is not None:
        token._lost = token._lost or lost.error
        session.lose(id, token)
        session.wire.dead.append(id)


def _nodes(t: Any) -> Iterator[Node]:
    """The node of a tensor, and that of the edge that it stands for."""
    node = node_of(t)
    if node is not None:
        yield node
    edge = None if t._stands is None else t._stands()
    if edge is not None:
        yield edge.node


def _gradient(
    session: Core, mine: Any, info: TensorInfo | None, graphs_lost: bool, known: dict[Node, Remains]
) -> Any:
    """The mirror's tensor for a gradient: the live one of that id, else the current one without an id, else a
    new one.
    """
    if info is None:
        return None
    held = session.live.get(info.id)
    if held is not None:
        return held
    if mine is None or mine._id is not None or mine._out is not None or mine._lost is not None:
        return adopt(session.backend, info)
    correct(mine, info, graphs_lost, known)
    return mine


def take_place(session: Core, t: Any, info: TensorInfo | None) -> Any:
    """The server's tensor for the placeholder `t`, or None."""
    session.live.pop(t._id)
    id, t._id = t._id, None
    if info is None:
        return None
    known = session.live.get(info.id)
    if known is not None:
        session.wire.dead.append(id)
        return known
    found: Any = adopt(session.backend, info)
    found._id = id
    session.live[id] = found
    return found
