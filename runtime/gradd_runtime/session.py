"""One session: tensors, writers, programs, random stream, staged uploads, stored replies. Frames in, frames
out.

`Session.handle` is deterministic: it reads no clock, entropy or environment. Everything that happens has a
position in one order.
"""

from __future__ import annotations

import gc
import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from gradd_engine.backends.numpy import NUMPY
from gradd_engine.data import EVERY, SEED, Account, Generator, OutOfQuota, ambient, defaulting, quiet_kernels
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import Problem, ProtocolError
from gradd_protocol.program import validate

from . import graphs, jsonbatch, single
from .binding import Bound, bind_program
from .executor import over_quota
from .framebatch import release, work_of
from .jsondesk import JsonDesk
from .jsonhooks import Hooks
from .pins import Pins
from .plan import Plans
from .profile import Profile
from .refusals import broken
from .store import MemoryStore, Record
from .table import Table, not_found
from .work import Outcome, perform
from .writers import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradd_engine.tensor import Backend
    from gradd_protocol.program import Program

    from .store import Store

PROGRAMS = 1024
#: bytes of programs that a session keeps: the least recently used go
PROGRAM_BYTES = 64 << 20
#: what a step of a bound program takes, and an octet of the JSON that says it; a writer; an entry of a table
#: or of what was admitted, about (measured with tracemalloc)
STEP_BYTES, OCTET_BYTES, WRITER_BYTES, ENTRY_BYTES = 400, 4, 1000, 120


class Session:
    """A named graph session. `name`, `seed` and `limit` (bytes of tensors) come with `open`."""

    def __init__(
        self, name: str, *, seed: int = SEED, limit: int = DEFAULT.session_bytes, store: Store | None = None,
        backend: Backend = NUMPY,
    ) -> None:  # fmt: skip
        self.name = name
        self.backend = backend
        self.epoch = 1
        self.position = 0
        self.table = Table()
        self.account = Account(limit)
        self.generator = Generator(seed)
        self.store: Store = store or MemoryStore()
        self.programs: OrderedDict[str, Bound] = OrderedDict()
        self.writers: dict[int, Writer] = {}
        self.staged: dict[str, np.ndarray[Any, Any]] = {}
        self.staged_bytes = 0
        self.pinned = Pins(self.account)
        self.admitted: OrderedDict[Any, None] = OrderedDict()
        self.counts = {"messages": 0, "batches": 0, "round_trips": 0, "steps": 0}
        self._next_writer = 1
        self._program_bytes: dict[str, int] = {}
        #: bytes counted for tables and plans, as of the last `settle`
        self._settled = 0
        self.desk = JsonDesk()
        self.hooks = Hooks()
        self.plans = Plans()
        #: what is measured, while somebody asked for it
        self.profile: Profile | None = None

    def close(self) -> None:
        """Let go of everything, at once: also of what tensors in a cycle hold (a gradient whose graph leads
        back to its leaf).
        """
        self.table.clear()
        for held in (self.programs, self.writers, self.staged, self.pinned, self.admitted):
            held.clear()
        self._program_bytes.clear()
        self.staged_bytes = self.account.other = self._settled = 0
        self.desk, self.hooks, self.plans = JsonDesk(), Hooks(), Plans()
        if self.account.used:
            gc.collect()

    def settle(self, more: int = 0) -> None:
        """Count what tables and plans take by now, and `more` bytes."""
        beside = ENTRY_BYTES * (len(self.table) + len(self.admitted)) + self.plans.counts["bytes"]
        self.account.charge(beside - self._settled + more)
        self._settled = beside

    # -- frames ------------------------------------------------------------------------------------

    def submit(self, frame: frames.Bytes) -> bytes:
        """`answer`, joined."""
        return frames.join(self.answer(frame))

    def answer(self, frame: frames.Bytes) -> list[frames.Part]:
        """One request frame in, its reply frame out, in parts. Never raises for what a client sent.

        A frame in writable memory is the session's from now on. Parts may be the memory of tensors: they are
        to be sent or copied before the next frame.
        """
        try:
            message, buffers = frames.decode_request(frame)
            reply, out = self.handle(message, buffers, frame)
        except ProtocolError as error:
            reply, out = m.ProblemReply(error.problem), []
        parts: list[frames.Part] = [reply] if isinstance(reply, bytes) else frames.encode(reply, out)
        if self.profile is not None:
            self.profile.bytes(len(frame), frames.size(parts))
        return parts

    def handle(
        self, message: m.Request, buffers: Sequence[Any], frame: frames.Bytes
    ) -> tuple[Any, list[Any]]:
        """Decide and do; returns the reply and its buffers (or, for a replay, the stored frame)."""
        self.counts["messages"] += 1
        if not isinstance(message, (m.Attach, m.Acquire, m.Batch)):
            self.counts["round_trips"] += 1
        with (
            quiet_kernels(),
            ambient(
                grad=True,
                backend=self.backend,
                generator=self.generator,
                account=self.account,
                ledger=self.account,
                depth=0,
                below=EVERY,
            ),
        ):
            match message:
                case m.Batch():
                    return self._batch(message, buffers, frame), []
                case m.Attach():
                    if message.resume is not None:
                        return self._resumed(message.resume, message.epoch), []
                    return self._attached(), []
                case m.Acquire():
                    self.epoch += 1
                    self.account.charge(-sum(w.held + WRITER_BYTES for w in self.writers.values()))
                    self.writers.clear()
                    self.pinned.clear()
                    for key in list(self.staged):
                        single.unstage(self, key)
                    return self._attached(), []
                case m.JsonBatch():
                    taken = self.desk.take(self, message, frames.text_of(buffers[0]))
                    return (taken, []) if isinstance(taken, bytes) else taken
                case m.PutTensor():
                    return single.put(self, message.name, buffers[0], message.requires_grad), []
                case m.PutJson():
                    array, flag = jsonbatch.tensor(frames.text_of(buffers[0]))
                    return single.put(self, message.name, array, flag), []
                case m.GetTensor():
                    return single.get(self, message.name)
                case m.GetTensors():
                    return single.get_many(self, message.names)
                case m.DeleteTensor():
                    return single.delete(self, message.name), []
                case m.ListTensors():
                    return m.Tensors(list(self.table.rows())), []
                case m.BackwardJson():
                    return self.desk.backward(self, message.name, frames.text_of(buffers[0]))
                case m.PutHook() | m.GetHook() | m.DeleteHook() | m.ListHooks():
                    return self.hooks.answer(self, message, buffers)
                case m.GetGraph():
                    return graphs.answer(message, self.table)
                case m.Stage():
                    return single.stage(self, message.key, buffers[0]), []
                case m.GetResult():
                    values, info = self.pinned.read(message.key, message.begin, message.count)
                    return m.TensorReply(info), [values]
                case m.GetReply():
                    return self._stored(message.writer, message.seq), []
                case m.Info():
                    return m.SessionReply(self.info()), []
                case m.Profile():
                    return self._profile(message.on), []

    def _profile(self, on: bool) -> m.Profiled:
        report = m.Profiled() if self.profile is None else self.profile.report()
        backend: Any = self.backend
        self.profile = Profile(backend.synchronize) if on else None
        return report

    def info(self) -> m.SessionInfo:
        """What `GET /v1/sessions/{name}` shows."""
        return m.SessionInfo(
            self.name,
            self.epoch,
            self.position,
            len(self.table),
            self.account.used,
            writers=len(self.writers),
            **self.counts,
        )

    # -- writers and batches -----------------------------------------------------------------------

    def _attached(self) -> m.Attached:
        try:
            self.account.admit(WRITER_BYTES)
        except OutOfQuota as error:
            raise ProtocolError(over_quota(error)) from None
        self.table.note_changes(self.position)  # what was before is no news to it
        writer = Writer(self._next_writer, position=self.position)
        self._next_writer += 1
        self.writers[writer.id] = writer
        return m.Attached(writer.id, self.epoch, DEFAULT.window_batches, self.info())

    def _resumed(self, writer_id: int, epoch: int | None) -> m.Attached:
        writer = self.writer(writer_id, self.epoch if epoch is None else epoch)
        return m.Attached(writer.id, self.epoch, DEFAULT.window_batches, self.info())

    def writer(self, writer_id: int, epoch: int) -> Writer:
        """A writer of this epoch; writer-fenced or writer-unknown (409) else."""
        if epoch != self.epoch:
            raise ProtocolError.of(
                "writer-fenced",
                f"the session is at epoch {self.epoch}, the writer at {epoch}",
                epoch=self.epoch,
            )
        writer = self.writers.get(writer_id)
        if writer is None:
            raise ProtocolError.of("writer-unknown", f"the session has no writer {writer_id}")
        return writer

    def _stored(self, writer_id: int, seq: int) -> bytes:
        writer = self.writers.get(writer_id)
        if writer is None:
            raise ProtocolError.of("writer-unknown", f"the session has no writer {writer_id}")
        found = writer.replies.get(seq)
        if found is None:
            slug = "reply-expired" if seq <= writer.last else "batch-not-found"
            raise ProtocolError.of(slug, f"writer {writer_id} has no stored reply to batch {seq}")
        return found[1]

    def _batch(self, batch: m.Batch, buffers: Sequence[Any], frame: frames.Bytes) -> bytes:
        writer = self.writer(batch.writer, batch.epoch)
        digest = hashlib.blake2b(frame, digest_size=16).digest()
        stored = writer.stored(batch.seq, digest)
        if stored is not None:
            reply, out = frames.decode_reply(stored)
            assert isinstance(reply, m.BatchReply)
            return frames.join(frames.encode(msgspec.structs.replace(reply, replayed=True), out))
        bound, refusal = self._program(batch, frame)
        for k in batch.uploads:
            if isinstance(k, str) and k not in self.staged:
                raise ProtocolError.of("upload-missing", f"upload {k!r} has not come")
        writer.check_window(batch.seq, batch.ack)
        held = writer.held
        runs = writer.consume(batch.seq, batch.ack)
        if writer.pinned:
            for key in [k for k, seq in writer.pinned.items() if seq <= writer.ack]:
                del writer.pinned[key]
                self.pinned.drop(key)
        self.table.turn(writer.id, self.position)
        self.position += 1
        self.counts["batches"] += 1
        if batch.fetch or batch.state:
            self.counts["round_trips"] += 1
        # What was staged is counted as a tensor from here on, or not at all.
        staged = {
            k: single.unstage(self, k) for k in batch.uploads if isinstance(k, str) and k in self.staged
        }
        outcome = Outcome()
        try:
            if runs:
                if refusal is not None and refusal.slug == "quota-exceeded":
                    release(batch, (), self.table)
                    bound, refusal = self._program(batch, frame)
                outcome = self._run(batch, bound, refusal, buffers, staged)
            reply = self._reply(batch, writer, outcome, runs)
            data = frames.join(frames.encode(reply, outcome.inline))
        except Exception as error:
            # The number is consumed, so it has an answer.
            reply = m.BatchReply(seq=batch.seq, position=self.position, problem=broken(self.name, error))
            data = frames.join(frames.encode(reply))
        del staged
        if reply.problem is not None:
            writer.failed = batch.seq
        writer.position = self.position
        writer.store(batch.seq, digest, data)
        self.settle(writer.held - held - outcome.copied)
        self.store.append(
            Record(self.position, writer.id, batch.seq, digest, bytes(frame), _word(reply.problem, runs))
        )
        return data

    def _reply(self, batch: m.Batch, writer: Writer, outcome: Outcome, runs: bool) -> m.BatchReply:
        others = self.position - writer.position > 1
        return m.BatchReply(
            seq=batch.seq, position=self.position, applied=outcome.applied, skipped=not runs,
            results=self._results(outcome, writer, batch.seq), others=others,
            changed=self.table.changed_since(writer.position) if others else [],
            state=self.table.infos(batch.state, f"@{writer.id}."), problem=outcome.problem,
        )  # fmt: skip

    def _program(self, batch: m.Batch, frame: frames.Bytes) -> tuple[Bound | None, Problem | None]:
        """The batch's program, and why it is refused if it is; program-unknown is not consumed, so it is
        raised.
        """
        bound = self.programs.get(batch.program)
        if bound is not None:
            self.programs.move_to_end(batch.program)
            if self.profile is not None and bound.calls:
                self.profile.known(bound.id, bound.definition)
            return bound, None
        if batch.definition is None:
            raise ProtocolError.of("program-unknown", f"the session does not know program {batch.program!r}")
        try:
            validate(batch.definition)
            if batch.definition.id() != batch.program:
                raise ProtocolError.of(
                    "malformed-frame", "the program's id is not the digest of its definition"
                )
            nbytes = _bytes_of(batch.definition, frame)
            bound = bind_program(batch.definition, batch.program)
            if bound.calls:
                self.account.admit(nbytes)
            else:
                self.account.charge(nbytes)  # what frees and reads must do so where there is no room left
        except ProtocolError as error:
            return None, error.problem
        except OutOfQuota as error:
            return None, over_quota(error)
        self.programs[bound.id] = bound
        self._program_bytes[bound.id] = nbytes
        if self.profile is not None and bound.calls:
            self.profile.new(bound.id, bound.definition)
        held = sum(self._program_bytes.values())
        while len(self.programs) > PROGRAMS or (held > PROGRAM_BYTES and len(self.programs) > 1):
            nbytes = self._program_bytes.pop(self.programs.popitem(last=False)[0])
            self.account.charge(-nbytes)
            held -= nbytes
        return bound, None

    def _run(
        self,
        batch: m.Batch,
        bound: Bound | None,
        refusal: Problem | None,
        buffers: Sequence[Any],
        staged: Mapping[str, Any],
    ) -> Outcome:
        try:
            if refusal is not None or bound is None:
                return Outcome(problem=refusal)
            work = work_of(batch, bound, self.table, buffers, staged)
            work.free = release(batch, work.keep.values(), self.table)
        except ProtocolError as error:
            return Outcome(problem=error.problem)
        with defaulting(bound.dtype):
            outcome = perform(work, self)
        self.counts["steps"] += outcome.applied
        return outcome

    def _results(self, outcome: Outcome, writer: Writer, seq: int) -> list[m.Result]:
        out: list[m.Result] = []
        for k, (array, dtype, storage) in enumerate(outcome.results):
            if array is None:
                out.append(m.Result(absent=True))
            elif array.nbytes <= DEFAULT.inline_result_bytes and outcome.room(array.nbytes):
                out.append(m.Result(dtype, list(array.shape), buffer=len(outcome.inline)))
                outcome.inline.append(array)
            else:
                key = f"{writer.id}.{seq}.{k}"
                self.pinned.add(key, array, dtype, storage)
                writer.pinned[key] = seq
                out.append(m.Result(dtype, list(array.shape), pinned=key))
        return out


def _bytes_of(program: Program, frame: frames.Bytes) -> int:
    """What a program takes once it is bound, about: of the frame it came in, the JSON header (which says
    nothing of a program without steps).
    """
    steps = len(program.steps)
    return STEP_BYTES * steps + OCTET_BYTES * frames.header_bytes(frame) if steps else ENTRY_BYTES


def _word(p: Problem | None, runs: bool) -> str:
    return "skipped" if not runs else "applied" if p is None else p.slug


__all__ = ["SEED", "Session", "not_found"]
