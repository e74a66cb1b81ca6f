"""Batches in binary form, numbered by their writers: each is consumed once, and run or skipped."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.data import Halted
from gradd_engine.data.state import state
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT, MIB
from gradd_protocol.problems import ProtocolError

from ..batch import Outcome, frame_work, release
from ..program import broken, halted
from .perform import perform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradd_protocol.problems import Problem

    from ..program import Bound
    from .state import SessionState
    from .writers import Writer

#: of inline results in a reply, so that it fits a stream message
_INLINE_BYTES = MIB


def take_batch(session: SessionState, batch: m.Batch, buffers: Sequence[Any], frame: frames.Bytes) -> bytes:
    """The reply frame of a batch, stored if it was sent before. Raises ProtocolError if the batch is not
    consumed.
    """
    writer = session.writers.find(batch.writer, batch.epoch)
    digest = hashlib.blake2b(frame, digest_size=16).digest()
    stored = writer.stored(batch.seq, digest)
    if stored is not None:
        session.outcomes["replayed"] += 1
        reply, out = frames.decode_reply(stored)
        assert isinstance(reply, m.BatchReply)
        return frames.join(frames.encode(msgspec.structs.replace(reply, replayed=True), out))
    session.programs.expect(batch)
    awaited = [k for k in batch.uploads if isinstance(k, str)] if batch.uploads else ()
    stop = None
    for key in awaited:
        if key not in session.staged:
            stop = _called_off(session, batch)
            if stop is None:
                raise ProtocolError.of("upload-missing", f"upload {key!r} has not come")
            break
    writer.check_window(batch.seq, batch.ack)
    change, held = session.change, writer.held
    change.begun = True
    runs = writer.consume(batch.seq, batch.ack)
    outcome = Outcome()
    try:
        _turn(session, batch, writer)
        # From here on, staged uploads count as tensors or not at all.
        staged = {k: session.staged.pop(k) for k in awaited if k in session.staged} if awaited else {}
        bound, refusal = session.programs.find(batch, frame, session.profiler)
        if runs and stop is not None:
            outcome = Outcome(problem=halted(stop, None, 0))
        elif runs:
            if refusal is not None and refusal.slug == "quota-exceeded":
                release(batch, (), session.table)
                bound, refusal = session.programs.find(batch, frame, session.profiler)
            outcome = _run(session, batch, bound, refusal, buffers, staged)
        del staged
        reply = _reply(session, batch, writer, outcome, runs)
        data = frames.join(frames.encode(reply, outcome.inline))
    except Exception as error:
        # The number is consumed, so it needs a reply.
        reply = m.BatchReply(seq=batch.seq, position=session.position, problem=broken(session.name, error))
        data = frames.join(frames.encode(reply))
    if reply.problem is not None:
        writer.failed = batch.seq
    writer.position = session.position
    change.skipped, change.problem, change.reply = not runs, reply.problem, data
    change.keep = partial(_keep, session, writer, batch.seq, digest, data, held + outcome.copied)
    return data


def _keep(session: SessionState, writer: Writer, seq: int, digest: bytes, reply: bytes, held: int) -> None:
    """Store a reply in place of what was `held` for it and for those before."""
    writer.store(seq, digest, reply)
    session.settle(writer.held - held)


def _called_off(session: SessionState, batch: m.Batch) -> Halted | None:
    """Why the batch is not to begin, if it is not: then it does not wait for its uploads either."""
    try:
        session.orders.begin(session.account, batch.writer, batch.seq)
    except Halted as stop:
        return stop
    finally:
        session.account.heeds = False
    return None


def _turn(session: SessionState, batch: m.Batch, writer: Writer) -> None:
    """It is this batch's turn: what its writer has read is dropped."""
    if writer.pinned:
        for key in [k for k, seq in writer.pinned.items() if seq <= writer.ack]:
            del writer.pinned[key]
            session.pins.drop(key)
    session.table.turn(writer.id, session.position)
    session.position += 1
    session.counts["batches"] += 1
    if batch.fetch or batch.state:
        session.counts["round_trips"] += 1


def _run(
    session: SessionState,
    batch: m.Batch,
    bound: Bound | None,
    refusal: Problem | None,
    buffers: Sequence[Any],
    staged: Mapping[str, Any],
) -> Outcome:
    try:
        if refusal is not None or bound is None:
            return Outcome(problem=refusal)
        work = frame_work(batch, bound, session.table, buffers, staged)
        work.free = release(batch, work.keep.values(), session.table)
    except ProtocolError as error:
        return Outcome(problem=error.problem)
    state.dtype, state.tf32 = bound.dtype, bound.tf32  # for this request: see `Session.handle`
    outcome = perform(work, session, batch.writer, batch.seq)
    if batch.log:
        session.curves.take(batch.log, session.table)
    session.counts["steps"] += outcome.applied
    return outcome


def _reply(
    session: SessionState, batch: m.Batch, writer: Writer, outcome: Outcome, runs: bool
) -> m.BatchReply:
    others = session.position - writer.position > 1
    return m.BatchReply(
        seq=batch.seq, position=session.position, applied=outcome.applied, skipped=not runs,
        results=_results(session, outcome, writer, batch.seq), others=others,
        changed=session.table.changed_since(writer.position) if others else [],
        state=session.table.infos(batch.state, f"@{writer.id}.") if batch.state else [],
        problem=outcome.problem,
    )  # fmt: skip


def _results(session: SessionState, outcome: Outcome, writer: Writer, seq: int) -> list[m.Result]:
    """What was fetched: in the reply if there is room, also among those that wait to be acknowledged;
    otherwise pinned.
    """
    out: list[m.Result] = []
    left = min(DEFAULT.window_bytes - writer.held, _INLINE_BYTES)
    for k, (array, dtype, storage) in enumerate(outcome.results):
        if array is None:
            out.append(m.Result(absent=True))
        elif (nbytes := array.nbytes) <= DEFAULT.inline_result_bytes and nbytes <= left:
            left -= nbytes
            out.append(m.Result(dtype, list(array.shape), buffer=len(outcome.inline)))
            outcome.inline.append(array)
        else:
            key = f"{writer.id}.{seq}.{k}"
            session.pins.add(key, array, dtype, storage)
            writer.pinned[key] = seq
            out.append(m.Result(dtype, list(array.shape), pinned=key))
    return out
