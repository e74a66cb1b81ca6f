"""A session: frames in, frames out.

`Session.handle` is deterministic: it reads no clock, entropy or environment. Everything that happens has a
position in a total order, and everything that changes something has an entry in one record.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, BinaryIO

from gradd_engine.backends.array import NUMPY
from gradd_engine.data import EVERY, SEED, OutOfQuota, ambient, apart
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import ProtocolError
from msgspec import UNSET

from ..batch import json_tensor
from ..program import Profiler, broken, over_quota
from ..store import MemoryStore, failpoint, most_bytes, parts, read
from . import tensors
from .change import RECORDED, Change, unkept
from .fork import begin_at
from .frame_batches import take_batch
from .graphs import graph_reply
from .image import read_image, restore, take_image
from .json_batches import JsonDesk
from .json_hooks import Hooks
from .state import SessionState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.tensor import Backend

    from ..store import Store
    from .writers import Writer

_log = logging.getLogger("gradd.runtime")

#: requests that are no round trips, or say so themselves
_OTHERWISE_COUNTED = frozenset({m.Attach, m.Acquire, m.Batch})

#: latest batches and calls of kernels in an Activity
TOLD_BATCHES, TOLD_CALLS = DEFAULT.measured_batches, 4096


class Session(SessionState):
    """A session. `name`, `seed`, `limit` (bytes of tensors) and the first `epoch` come from `open`."""

    def __init__(
        self, name: str, *, seed: int = SEED, limit: int = DEFAULT.session_bytes, store: Store | None = None,
        backend: Backend = NUMPY, epoch: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(name, seed, limit, store, backend, epoch)
        self.desk = JsonDesk()
        self.hooks = Hooks()

    def close(self) -> None:
        """See SessionState.close."""
        self.desk, self.hooks = JsonDesk(), Hooks()
        super().close()

    def freeze(self, alone: bool = False) -> list[frames.Part]:
        """The whole state as a safetensors file, in parts that are the memory of tensors: to be written
        before the next frame. `alone`: what its names hold, and nothing of its clients. Raises CannotFreeze
        while a pass is under way.
        """
        with ambient(backend=self.backend, account=self.account, grad=True):
            return list(parts(take_image(self, None if alone else self.desk, self.hooks)))

    @classmethod
    def thaw(
        cls, file: BinaryIO, *, name: str | None = None, limit: int | None = None, store: Store | None = None,
        backend: Backend = NUMPY,
    ) -> Session:  # fmt: skip
        """A session from the file of a frozen one, which goes on to the bit; under another name or quota
        where they are given. Raises BadSnapshot for anything else than such a file.
        """
        snapshot = read(file)
        image = read_image(snapshot)
        session = cls(
            name or image.name, limit=image.limit if limit is None else limit, store=store, backend=backend
        )
        with ambient(backend=backend, account=session.account, grad=True):
            restore(session, session.desk, session.hooks, image, snapshot)
        return session

    @classmethod
    def fork(
        cls, file: BinaryIO, name: str, *, limit: int, room: int | None = None, epoch: int = 1,
        store: Store | None = None, backend: Backend = NUMPY,
    ) -> Session:  # fmt: skip
        """A new session that begins at the snapshot in `file`, which a stranger may have made, with what its
        names held, its curves and no clients. Raises BadSnapshot, and OutOfQuota where it would hold more
        than `limit`, or than there is `room` for.
        """
        size = file.seek(0, 2)
        file.seek(0)
        room = limit if room is None else min(limit, room)
        if size > (most := most_bytes(room)):
            raise OutOfQuota(size, 0, most)
        snapshot = read(file)
        session = cls(name, limit=limit, store=store, backend=backend, epoch=epoch)
        with ambient(backend=backend, account=session.account, grad=True):
            begin_at(session, session.hooks, snapshot, room)
        return session

    def submit(self, frame: frames.Bytes) -> bytes:
        """`answer`, joined."""
        return frames.join(self.answer(frame))

    def answer(self, frame: frames.Bytes) -> list[frames.Part]:
        """The reply frame to a request frame, in parts. Never raises for anything a client sends.

        A frame in writable memory belongs to the session from now on. Parts may share memory with tensors:
        send or copy them before the next frame.
        """
        try:
            message, buffers = frames.decode_request(frame)
            reply, out = self.handle(message, buffers, frame)
        except ProtocolError as error:
            reply, out = m.ProblemReply(error.problem), []
        parts: list[frames.Part] = [reply] if isinstance(reply, bytes) else frames.encode(reply, out)
        if self.profiler is not None:
            self.profiler.bytes(len(frame), frames.size(parts))
        return parts

    def handle(
        self, message: m.Request, buffers: Sequence[Any], frame: frames.Bytes
    ) -> tuple[Any, list[Any]]:
        """Handle a request; returns the reply and its buffers (or the stored frame of an earlier reply).

        What changed the session is recorded before its reply is stored or returned.
        """
        if self.fenced is not None:
            raise ProtocolError(self.fenced)
        self.counts["messages"] += 1
        kind = message.__class__
        if kind not in _OTHERWISE_COUNTED:
            self.counts["round_trips"] += 1
        new = {
            "grad": True,
            "backend": self.backend,
            "generator": self.generator,
            "account": self.account,
            "doubts": self.doubts,
            "ledger": self.account,
            "depth": 0,
            "below": EVERY,
            "tf32": False,
        }
        if kind in RECORDED:
            return apart(new, self._recorded, message, buffers, frame)
        return apart(new, self._read, message, buffers)

    def _recorded(
        self, message: m.Request, buffers: Sequence[Any], frame: frames.Bytes
    ) -> tuple[Any, list[Any]]:
        """Run, record, keep the reply, in this order. What fails after it began to change something is
        recorded as what it came to be; a refusal before that is not.
        """
        change = self.change = Change()
        if message.__class__ is not m.Batch:
            self.plans.unsettle()
        self.account.begin()
        failure: Exception | None = None
        answer: tuple[Any, list[Any]] = (None, [])
        failpoint("executing")
        try:
            answer = self._change(message, buffers, frame)
        except ProtocolError as refused:
            failure, change.problem = refused, refused.problem
        except Exception as error:
            failure, change.problem = error, broken(self.name, error)
        failpoint("executed")
        device: Any = self.backend
        device.verify()  # what it has not computed is in no record
        if (spoiled := self.plans.spoiled) is not None:
            self.plans.spoiled = None
            if not isinstance(self.store, MemoryStore):
                # It is made again as it was before.
                self.fenced = over_quota(spoiled, applied=0)
                raise ProtocolError(self.fenced)
        if change.begun:
            try:
                self.store.append(change.entry(self.entries + 1, frame, self.counts, self.account))
            except Exception as error:
                # What was done is in no record: nobody may see it.
                self.fenced = unkept(error)
                _log.error("session %s: no record could be kept", self.name, exc_info=error)
                raise ProtocolError(self.fenced) from None
            self.entries += 1
            if change.keep is not None:
                change.keep()
                change.keep = None  # it knows the session, which is in no cycle
        if change.problem is not None:
            self._count_outcome(message)
        if failure is not None:
            try:
                raise failure
            finally:
                del failure
        return answer

    def _count_outcome(self, message: m.Request) -> None:
        if isinstance(message, (m.Batch, m.JsonBatch, m.BackwardJson)):
            self.outcomes["failed" if self.change.begun else "refused"] += 1

    def _change(
        self, message: m.Request, buffers: Sequence[Any], frame: frames.Bytes
    ) -> tuple[Any, list[Any]]:
        """Run one of `RECORDED`."""
        match message:
            case m.Batch():
                return take_batch(self, message, buffers, frame), []
            case m.Attach():
                return self._attached(message.resume, message.epoch), []
            case m.Acquire():
                self.change.begun = True
                self.writers.fence()
                self.pins.clear()
                self.staged.clear()
                return self._attached(), []
            case m.JsonBatch():
                taken = self.desk.take(self, message, frames.text_of(buffers[0]))
                return (taken, []) if isinstance(taken, bytes) else taken
            case m.PutTensor():
                return tensors.put(self, message.name, buffers[0], message.requires_grad), []
            case m.PutJson():
                array, flag = json_tensor(frames.text_of(buffers[0]))
                return tensors.put(self, message.name, array, flag), []
            case m.DeleteTensor():
                return tensors.delete(self, message.name), []
            case m.BackwardJson():
                return self.desk.backward(self, message.name, frames.text_of(buffers[0]))
            case m.PutHook() | m.DeleteHook():
                return self.hooks.answer(self, message, buffers)
            case m.Stage():
                return tensors.stage(self, message.key, buffers[0]), []
            case _:
                raise TypeError(f"{type(message).__name__} is said to change sessions, and nothing runs it")

    def _read(self, message: m.Request, buffers: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Answer what changes nothing."""
        match message:
            case m.GetTensor():
                return tensors.get(self, message.name, message.most)
            case m.GetTensors():
                return tensors.get_many(self, message.names)
            case m.ListTensors():
                return m.Tensors(list(self.table.rows())), []
            case m.GetHook() | m.ListHooks():
                return self.hooks.answer(self, message, buffers)
            case m.GetGraph():
                return graph_reply(message, self.table)
            case m.GetSeries():
                return self.curves.answer()
            case m.GetMemory():
                return self.memory.answer(self)
            case m.GetActivity():
                return self._activity(), []
            case m.Measure():
                self._measure(message.batches)
                return m.Done(), []
            case m.GetResult():
                values, info = self.pins.read(message.key, message.begin, message.count)
                return m.TensorReply(info), [values]
            case m.GetReply():
                return self.writers.reply(message.writer, message.seq), []
            case m.Info():
                return m.SessionReply(self.info()), []
            case m.ProfileSwitch():
                return self._profile(message.on), []
            case _:
                raise TypeError(f"nothing answers {type(message).__name__}")

    def info(self) -> m.SessionInfo:
        """What `GET /v1/sessions/{name}` shows."""
        return m.SessionInfo(
            self.name,
            self.writers.epoch,
            self.position,
            len(self.table),
            self.account.used,
            writers=len(self.writers),
            messages=self.counts["messages"],
            batches=self.counts["batches"],
            round_trips=self.counts["round_trips"],
            steps=self.counts["steps"],
            restored=self.restored,
            device=UNSET if self.backend.device.type == "cpu" else self.backend.device.type,
        )

    def _attached(self, resume: int | None = None, epoch: int | None = None) -> m.Attached:
        """The reply to a new writer, or to one that resumes."""
        now = self.writers.epoch
        if resume is not None:
            writer: Writer = self.writers.find(resume, now if epoch is None else epoch)
        else:
            writer = self.writers.add(self.position)
            self.change.begun = True
            self.table.note_changes(self.position)  # it need not hear of earlier changes
        return m.Attached(writer.id, now, DEFAULT.window_batches, self.info())

    def _profile(self, on: bool) -> m.Profiled:
        report = m.Profiled() if self.profiler is None else self.profiler.report()
        self.profiler = self._profiler() if on else None
        return report

    def _profiler(self, batches: int | None = None) -> Profiler:
        backend: Any = self.backend
        return Profiler(backend.synchronize, batches)

    def _measure(self, batches: int) -> None:
        if self.profiler is None:
            self.profiler = self._profiler(batches)
        elif self.profiler.left is not None:
            self.profiler.left = max(self.profiler.left, batches)

    def _activity(self) -> m.Activity:
        counts, latest = self.plans.counts, self.profiler or self.measured
        return m.Activity(
            planned=counts["planned"],
            eager=counts["eager"],
            traced=counts["traced"],
            reasons=dict(self.plans.reasons.most_common()),
            measuring=self.profiler is not None,
            profile=m.Profiled() if latest is None else latest.report(TOLD_BATCHES, TOLD_CALLS),
        )
