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
from gradd_engine.dtypes import defaulting
from gradd_engine.memory import Account
from gradd_engine.rng import SEED, Generator
from gradd_engine.state import EVERY, ambient, quiet_kernels
from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import Problem, ProtocolError, problem
from gradd_protocol.program import validate
from gradd_protocol.values import decode_scalars

from . import graphs, jsonbatch
from .binding import Bound, bind_program, check_uploads
from .jsondesk import JsonDesk
from .jsonhooks import Hooks
from .pins import Pins, taken, values_of
from .plan import Plans
from .profile import Profile
from .refusals import broken
from .store import MemoryStore, Record
from .table import Table, describe, not_found
from .work import Outcome, Work, perform
from .writers import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.backends import Backend

    from .store import Store

PROGRAMS = 1024


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
        self.pinned = Pins()
        self.admitted: OrderedDict[Any, None] = OrderedDict()
        self.counts = {"messages": 0, "batches": 0, "round_trips": 0, "steps": 0}
        self._next_writer = 1
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
        self.staged_bytes = 0
        self.desk, self.hooks, self.plans = JsonDesk(), Hooks(), Plans()
        if self.account.used:
            gc.collect()

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
                    self.writers.clear()
                    self.pinned.clear()
                    self.staged.clear()
                    self.staged_bytes = 0
                    return self._attached(), []
                case m.JsonBatch():
                    taken = self.desk.take(self, message, frames.text_of(buffers[0]))
                    return (taken, []) if isinstance(taken, bytes) else taken
                case m.PutTensor():
                    return self._put(message.name, buffers[0], message.requires_grad), []
                case m.PutJson():
                    array, flag = jsonbatch.tensor(frames.text_of(buffers[0]))
                    return self._put(message.name, array, flag), []
                case m.GetTensor():
                    return self._get(message.name)
                case m.DeleteTensor():
                    return self._delete(message.name), []
                case m.ListTensors():
                    return m.Tensors(list(self.table.rows())), []
                case m.BackwardJson():
                    return self.desk.backward(self, message.name, frames.text_of(buffers[0]))
                case m.PutHook() | m.GetHook() | m.DeleteHook() | m.ListHooks():
                    return self.hooks.answer(self, message, buffers)
                case m.GetGraph():
                    return graphs.answer(message, self.table)
                case m.Stage():
                    return self._stage(message.key, buffers[0]), []
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
        bound, refusal = self._program(batch)
        missing = [k for k in batch.uploads if isinstance(k, str) and k not in self.staged]
        if missing:
            raise ProtocolError.of("upload-missing", f"upload {missing[0]!r} has not come")
        runs = writer.consume(batch.seq, batch.ack)
        for key in [k for k, seq in writer.pinned.items() if seq <= writer.ack]:
            del writer.pinned[key]
            self.pinned.drop(key)
        self.table.turn(writer.id, self.position)
        self.position += 1
        self.counts["batches"] += 1
        if batch.fetch or batch.state:
            self.counts["round_trips"] += 1
        try:
            outcome = self._run(batch, bound, refusal, buffers) if runs else Outcome()
            reply = self._reply(batch, writer, outcome, runs)
            data = frames.join(frames.encode(reply, outcome.inline))
        except Exception as error:
            # The number is consumed, so it has an answer.
            reply = m.BatchReply(seq=batch.seq, position=self.position, problem=broken(self.name, error))
            data = frames.join(frames.encode(reply))
        if reply.problem is not None:
            writer.failed = batch.seq
        for key in {k for k in batch.uploads if isinstance(k, str)}:
            self.staged_bytes -= self.staged.pop(key).nbytes
        writer.position = self.position
        writer.replies[batch.seq] = (digest, data)
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

    def _program(self, batch: m.Batch) -> tuple[Bound | None, Problem | None]:
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
            bound = bind_program(batch.definition, batch.program)
        except ProtocolError as error:
            return None, error.problem
        self.programs[bound.id] = bound
        if self.profile is not None and bound.calls:
            self.profile.new(bound.id, bound.definition)
        if len(self.programs) > PROGRAMS:
            self.programs.popitem(last=False)
        return bound, None

    def _run(
        self, batch: m.Batch, bound: Bound | None, refusal: Problem | None, buffers: Sequence[Any]
    ) -> Outcome:
        try:
            if refusal is not None or bound is None:
                return Outcome(problem=refusal)
            work = self._work(batch, bound, buffers)
        except ProtocolError as error:
            return Outcome(problem=error.problem)
        with defaulting(bound.dtype):
            outcome = perform(work, self)
        self.counts["steps"] += outcome.applied
        return outcome

    def _work(self, batch: m.Batch, bound: Bound, buffers: Sequence[Any]) -> Work:
        if len(batch.inputs) != bound.inputs:
            raise ProtocolError.of(
                "malformed-frame", f"the program has {bound.inputs} inputs, the batch {len(batch.inputs)}"
            )
        if len(batch.values) != len(bound.values):
            raise ProtocolError.of(
                "malformed-frame",
                f"the program has {len(bound.values)} values, the batch {len(batch.values)}",
            )
        if len(batch.uploads) != bound.uploads:
            raise ProtocolError.of(
                "malformed-frame", f"the program has {bound.uploads} uploads, the batch {len(batch.uploads)}"
            )
        for slot in (*batch.keep, *(f for f in (*batch.fetch, *batch.bind.values()) if isinstance(f, int))):
            if not 0 <= slot < bound.slots:
                raise ProtocolError.of("malformed-frame", f"the program has no slot {slot}")
        for name in batch.bind:
            names.tensor(name)
        if len(set(batch.uploads)) != len(batch.uploads):
            raise ProtocolError.of("malformed-frame", "an upload is named twice")
        uploads = []
        for key in batch.uploads:
            if isinstance(key, str):
                uploads.append(self.staged[key])
            elif key < len(buffers):
                uploads.append(np.array(buffers[key]))
            else:
                raise ProtocolError.of("malformed-frame", f"the frame has no buffer {key}")
        if uploads:
            check_uploads(bound, uploads)
        keep = {slot: f"@{batch.writer}.{batch.first + i}" for i, slot in enumerate(batch.keep)}
        binds: dict[int, list[str]] = {}
        late: list[tuple[str, str]] = []
        for name, where in batch.bind.items():
            if isinstance(where, int):
                binds.setdefault(where, []).append(name)
            else:
                late.append((name, where))
        return Work(
            bound, [self.table.find(i) for i in batch.inputs],
            decode_scalars(batch.values, bound.values),
            uploads, keep, binds, late, list(batch.fetch), list(batch.free), list(batch.unbind),
        )  # fmt: skip

    def _results(self, outcome: Outcome, writer: Writer, seq: int) -> list[m.Result]:
        out: list[m.Result] = []
        for k, (array, dtype) in enumerate(outcome.results):
            if array is None:
                out.append(m.Result(absent=True))
            elif array.nbytes <= DEFAULT.inline_result_bytes and outcome.room(array.nbytes):
                out.append(m.Result(dtype, list(array.shape), buffer=len(outcome.inline)))
                outcome.inline.append(array)
            else:
                key = f"{writer.id}.{seq}.{k}"
                self.pinned.add(key, array, dtype)
                writer.pinned[key] = seq
                out.append(m.Result(dtype, list(array.shape), pinned=key))
        return out

    # -- tensors, one at a time --------------------------------------------------------------------

    def _put(self, name: str, array: Any, requires_grad: bool) -> m.Done:
        ref = names.split(name)
        target = self.table.find(ref.name) if ref.grad else None
        if not ref.grad:
            names.tensor(name)
        self.table.turn(0, self.position)
        try:
            t = self.backend.from_array(taken(array))
            if requires_grad and not t.dtype.differentiable:
                raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
            t._requires_grad = requires_grad
            new = self.table.bind(name, t) if target is None else target._grad is None
            if target is not None:
                target.grad = t
        except (RuntimeError, TypeError) as error:
            raise ProtocolError(_failed(error)) from None
        self.position += 1
        return m.Done(created=new)

    def _get(self, name: str) -> tuple[m.TensorReply, list[Any]]:
        t = self.table.find_ref(name)
        if t is None:
            raise ProtocolError.of("tensor-not-found", f"{name!r}: the tensor has no gradient")
        named = self.table.name_of(t)
        return m.TensorReply(describe(t, name, named)), [values_of(t)]

    def _delete(self, name: str) -> m.Done:
        ref = names.split(name)
        t = self.table.find(ref.name)
        self.table.turn(0, self.position)
        if ref.grad:
            t._grad = None
        else:
            self.table.drop(name)
        self.position += 1
        return m.Done()

    def _stage(self, key: str, array: Any) -> m.Done:
        writer, _, n = key.partition(".")
        known = key.isascii() and writer.isdigit() and n.isdigit() and int(writer) in self.writers
        if not known:
            raise ProtocolError.of(
                "writer-unknown", f"{key!r} is not the key writer.n of a writer of this session"
            )
        if self.staged_bytes + array.nbytes > DEFAULT.staged_bytes:
            raise ProtocolError.of(
                "quota-exceeded", "too many staged bytes wait for their batches",
                limit=DEFAULT.staged_bytes, used=self.staged_bytes, requested=array.nbytes,
            )  # fmt: skip
        old = self.staged.get(key)
        self.staged_bytes += array.nbytes - (0 if old is None else old.nbytes)
        self.staged[key] = taken(array)
        return m.Done(created=old is None)


def _failed(error: Exception) -> Problem:
    return problem("op-failed", str(error), exception=type(error).__name__)


def _word(p: Problem | None, runs: bool) -> str:
    return "skipped" if not runs else "applied" if p is None else p.slug


__all__ = ["SEED", "Session", "not_found"]
