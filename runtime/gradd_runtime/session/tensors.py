"""Requests for single tensors: put, read, delete, stage for a later batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import OutOfQuota
from gradd_protocol import frames, jsondata, names
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError, problem

from ..program import class_of, over_quota
from ..tensors import describe, own_memory, taken, values_of

if TYPE_CHECKING:
    from .state import SessionState

#: a larger reply is copied once more on its way out
_LARGE = 1 << 20


def put(session: SessionState, name: str, array: Any, requires_grad: bool) -> m.Done:
    """Bind a name to a new leaf, or set a gradient. The tensor takes over the array's memory."""
    table = session.table
    ref = names.split(name)
    target = table.find(ref.name) if ref.grad else None
    if not ref.grad:
        names.tensor(name)
    session.change.begun = True
    table.turn(0, session.position)
    try:
        if not ref.grad and name not in table.named:
            session.account.allow("tensors", 1, len(table), DEFAULT.session_tensors)
        t = session.backend.from_array(taken(array))
        if requires_grad and not t.dtype.differentiable:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._requires_grad = requires_grad
        new = table.bind(name, t) if target is None else target._grad is None
        if target is not None:
            target.grad = t
    except OutOfQuota as error:
        raise ProtocolError(over_quota(error)) from None
    except (RuntimeError, TypeError) as error:
        raise ProtocolError(problem("op-failed", str(error), exception=type(error).__name__)) from None
    session.position += 1
    session.settle()
    return m.Done(created=new)


def get(session: SessionState, name: str, most: int | None = None) -> tuple[m.TensorReply, list[Any]]:
    """A tensor's info and values; of more than `most` bytes the info only."""
    t = session.table.find_ref(name)
    if t is None:
        raise ProtocolError.of("tensor-not-found", f"{name!r}: the tensor has no gradient")
    reply = m.TensorReply(describe(t, name, session.table.name_of(t)))
    if most is not None and t.nbytes > most:
        return reply, [frames.text_buffer(b"")]
    _expect_good(session)
    try:
        if t.nbytes > _LARGE:
            session.account.afford(t.nbytes if own_memory(t) else 2 * t.nbytes)
        values = values_of(t, session.account)
    except OutOfQuota as error:
        raise ProtocolError(over_quota(error)) from None
    return reply, [values]


def get_many(session: SessionState, wanted: list[str]) -> tuple[m.TensorsReply, list[Any]]:
    """Several tensors, None for a gradient that is None; not-acceptable (406) if too much for JSON."""
    found = [session.table.find_ref(name) for name in wanted]
    some = [t for t in found if t is not None]
    if sum(jsondata.least_text(t.dtype.name, t.numel()) for t in some) > DEFAULT.json_bytes:
        raise jsondata.too_large()
    _expect_good(session)
    try:
        session.account.afford(sum(t.nbytes for t in some))
        values = [values_of(t) for t in some]
    except OutOfQuota as error:
        raise ProtocolError(over_quota(error)) from None
    named = zip(found, wanted, strict=True)
    infos = [None if t is None else describe(t, name, session.table.name_of(t)) for t, name in named]
    return m.TensorsReply(infos), values


def _expect_good(session: SessionState) -> None:
    """Raise ProtocolError for what a device found wrong: a batch that fetches will be told as well."""
    try:
        session.doubts.settle(close=False)
    except Exception as error:
        raise ProtocolError(problem("op-failed", str(error), exception=class_of(error))) from None


def delete(session: SessionState, name: str) -> m.Done:
    """Release a name, or clear a gradient."""
    table = session.table
    ref = names.split(name)
    t = table.find(ref.name)
    session.change.begun = True
    table.turn(0, session.position)
    if ref.grad:
        t._grad = None
    else:
        table.drop(name)
    session.position += 1
    session.settle()
    return m.Done()


def stage(session: SessionState, key: str, array: Any) -> m.Done:
    """Hold an upload for a later batch."""
    writer, _, n = key.partition(".")
    known = key.isascii() and writer.isdigit() and n.isdigit() and int(writer) in session.writers
    if not known:
        raise ProtocolError.of(
            "writer-unknown", f"{key!r} is not the key writer.n of a writer of this session"
        )
    new = session.staged.add(key, array)
    session.change.begun = True
    return m.Done(created=new)
