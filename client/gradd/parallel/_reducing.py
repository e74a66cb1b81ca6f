"""Tensors of several sessions are added, or copied, from session to session."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

from gradd_engine.data import ambient
from gradd_engine.data.state import state
from gradd_engine.graph import no_grad
from gradd_protocol import advice

from .._session import Session
from .._surface import strided
from .._tensor import Tensor
from .._transports import Member
from ..nn import Module
from ._buckets import gather, scatter, split
from ._mapping import distinct, outside

#: one tensor, some, or a module's parameters and buffers
Replica = Tensor | Module | Iterable[Tensor | None]

#: keys whose uploads no batch has named, since what asked for them failed: the next ones replace them
_spare: weakref.WeakKeyDictionary[Session, list[str]] = weakref.WeakKeyDictionary()


def all_reduce(tensors: Sequence[Replica], op: Literal["mean", "sum"] = "mean") -> None:
    """Write into tensors of several sessions their mean, or sum, over the sessions.

    `tensors` has for each session a tensor or a list of them, as ``[p.grad for p in model.parameters()]``: at
    each place the same shape, of any dimensions, and dtype in all sessions. A place that is None in all of
    them is left out. They are added in the order given, in their dtype, floats of 16 bits in float32, at the
    daemon, and written as by ``copy_`` under ``no_grad``. Waits until what all sessions had to do is done.

    A mean of gradients of means is that of the whole batch where the parts are equally large; for others,
    weight the losses (``loss * len(part) / len(whole)``) and take the sum.

    Raises ValueError for shapes, dtypes or lengths that differ, a place that is None in some sessions, two
    tensors of one session, and sessions of several daemons; TypeError for what is no tensor; RuntimeError for
    a mean of integers, a sum of booleans, sparse tensors, and in a call of `map`. A session's error that
    nobody saw yet is raised, and nothing was written.

    As https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce
    """
    outside("all_reduce")
    if op not in ("mean", "sum"):
        raise ValueError(f"op is 'mean' or 'sum', not {op!r}")
    sessions, lists = _alike([_listed(one, f"tensors[{at}]") for at, one in enumerate(tensors)])
    for t in lists[0] if lists else ():
        if op == "mean" and not (t.is_floating_point() or t.is_complex()):
            raise RuntimeError(
                "mean(): could not infer output dtype. Input dtype must be either a floating point or "
                f"complex dtype. Got: {t.dtype}"
            )
        if t.dtype.name == "bool":
            raise RuntimeError("all_reduce: booleans have no sum")
    if len(sessions) > 1:
        _move(sessions, lists, [*range(len(sessions))], [*range(len(sessions))], op == "mean")


def broadcast(replicas: Sequence[Replica], src: int = 0) -> None:
    """Write the tensors of one session into those of others.

    `replicas` has for each session a tensor, a list of them, or a module, whose parameters and buffers are
    meant: at each place the same shape, of any dimensions, and dtype. `src` is the place of the one that the
    others become like, to the bit. They are written as by ``copy_`` under ``no_grad``. Raises as
    `all_reduce`, IndexError for a `src` that is not there.

    As https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast
    """
    outside("broadcast")
    sessions, lists = _alike([_listed(one, f"replicas[{at}]") for at, one in enumerate(replicas)])
    if not 0 <= src < len(sessions):
        raise IndexError(f"src is {src}, and there are {len(sessions)} replicas")
    if len(sessions) > 1:
        _move(sessions, lists, [src], [at for at in range(len(sessions)) if at != src], mean=False)


def _listed(replica: Any, name: str) -> list[Tensor | None]:
    if isinstance(replica, Tensor):
        return [replica]
    if isinstance(replica, Module):
        return [*replica.parameters(), *replica.buffers()]
    found = list(replica)
    for at, t in enumerate(found):
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(f"{name}[{at}] is a {type(t).__name__}, and no tensor")
        if t is not None and t.layout is not strided:
            raise RuntimeError(f"{name}[{at}] is sparse: dense tensors alone are moved between sessions")
    return found


def _alike(lists: list[list[Any]]) -> tuple[list[Session], list[list[Any]]]:
    """The sessions of the lists, and the lists without places that are None. Raises ValueError."""
    kept: list[list[Any]] = [[] for _ in lists]
    for at, each in enumerate(lists):
        if len(each) != len(lists[0]):
            raise ValueError(f"input {at} has {len(each)} tensors, and input 0 has {len(lists[0])}")
    for at, row in enumerate(zip(*lists, strict=True)):
        first = row[0]
        for number, t in enumerate(row):
            if (t is None) is not (first is None):
                none, some = (number, 0) if t is None else (0, number)
                raise ValueError(f"tensor {at} of input {none} is None, and that of input {some} is not")
            if t is None or first is None:
                continue
            which = f"tensor {at} of input {number}"
            if t.shape != first.shape:
                got, expected = _size(t), _size(first)
                raise ValueError(f"{which} has invalid size: got {got}, but expected {expected}")
            if t.dtype is not first.dtype:
                raise ValueError(f"{which} has invalid dtype: got {t.dtype}, but expected {first.dtype}")
            kept[number].append(t)
    if not kept or not kept[0]:
        return [], []
    sessions: list[Any] = []
    for number, each in enumerate(kept):
        of = {id(t._session): t._session for t in each}
        if len(of) > 1:
            raise ValueError(f"input {number} has tensors of several sessions")
        sessions.extend(of.values())
    urls = {",".join(sorted(advice.addresses(session.url))) for session in distinct(sessions)}
    if len(urls) > 1:
        raise ValueError(f"the sessions are of several daemons: {', '.join(sorted(urls))}")
    return sessions, kept


def _size(t: Tensor) -> str:
    return "x".join(map(str, t.shape)) or "()"


def _move(
    sessions: list[Session], lists: list[list[Any]], givers: list[int], takers: list[int], mean: bool
) -> None:
    """Write the sum or mean of what the `givers` have into the tensors of the `takers`."""
    buckets = split(lists[0])
    if not buckets:
        return
    given: dict[int, list[Any]] = {}
    for at in givers:
        with _recording(sessions[at]):
            given[at] = gather(lists[at], buckets)
            recorder = sessions[at].recorder()
            for t in given[at]:
                recorder.settle(t)
            recorder.flush()
            if recorder.ahead is not None:
                recorder.ahead.send()
    for at in givers:
        session = sessions[at]
        with session.lock:
            session.wire.wait_all()
            session.check()
            for t in given[at]:
                if t._id is None:
                    session.refuse_lost(t)
    keys = {at: _keys(sessions[at], len(buckets)) for at in takers}
    members = [
        Member(session._name, [t._id for t in given.get(at, ())], keys.get(at, []))
        for at, session in enumerate(sessions)
    ]
    first = sessions[0]
    try:
        with first.lock:
            first.ready()
            if "reduce" not in first.wire.transport.extensions:
                raise RuntimeError(f"the daemon at {first.url} is older than this client, and adds nothing")
            first.wire.ask(lambda transport: transport.reduce(mean, members))
    except BaseException:
        for at, some in keys.items():
            _spare.setdefault(sessions[at], []).extend(some)
        raise
    for at in takers:
        with _recording(sessions[at]):
            scatter(sessions[at], lists[at], buckets, keys[at])


@contextmanager
def _recording(session: Session) -> Iterator[None]:
    """What is done in it to tensors of the session is no part of a graph."""
    with ExitStack() as stack:
        stack.enter_context(session.lock)
        trail = session.ready().trail
        stack.enter_context(no_grad())
        stack.enter_context(ambient(casting=None))
        if trail.on:
            state.trail = trail
        yield


def _keys(session: Session, count: int) -> list[str]:
    """Keys of uploads, those first whose uploads are to be replaced."""
    with session.lock:
        own = f"{session.wire.writer}."
        spare = [key for key in _spare.pop(session, ()) if key.startswith(own)]
        found = spare[:count]
        if spare[count:]:
            _spare[session] = spare[count:]
        return found + [session.wire.upload_key() for _ in range(count - len(found))]
