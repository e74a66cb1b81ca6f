"""From recorded steps to a batch: program identity, what to keep, what to bring back, what to free."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT
from gradd_protocol.values import encode_scalar

from ._pending import Fetch, Sent
from ._program import Known

if TYPE_CHECKING:
    from ._program import Builder, Recorded
    from ._session import Session

#: values up to so many bytes are brought along where they were read the last time
_PREDICT = 1 << 16
_REMEMBERED = 1024


class Staged:
    """An upload that went ahead: its key. The session holds its bytes until a batch names it."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key


class Outbox:
    """Makes batches of one session. Callers hold the session's lock, but for `stage`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        #: the last batch that had steps
        self.latest: Sent | None = None
        self._programs: OrderedDict[Any, Known] = OrderedDict()
        #: by its first step, the program that is likely to come
        self._habits: dict[Recorded, Known] = {}
        self._predicted: OrderedDict[str, frozenset[int]] = OrderedDict()
        self._next_id = 1

    def begin_anew(self) -> None:
        """The session has become another writer."""
        self.latest = None
        self._next_id = 1

    def send(
        self, built: Builder, fetch: list[Any], state: list[str] | None = None,
        bind: dict[str, Any] | None = None,
        unbind: list[str] | None = None,
    ) -> Sent | None:  # fmt: skip
        """Send one batch and do not wait; None where there is nothing to say.

        Tensors in `fetch` get a `Fetch`; names in `bind` are bound.
        """
        session, wire = self.session, self.session.wire
        if not (built.steps or fetch or state or bind or unbind or wire.dead):
            return None
        wire.make_room()
        # Until the batch is on its way an interrupt leaves tensors with ids that no one knows.
        before = session.doubt, session.graphs_lost
        session.doubt = session.graphs_lost = True
        known = self.program(built)
        program, definition = known.id, known.definition
        outputs = [r() if r is not None else None for r in built.outputs]
        first = self._next_id
        keep = self._keep(outputs, len(built.inputs))
        reads = self._reads(fetch, outputs, program)
        # Inputs that nobody holds any more are freed by this very batch, after its last step.
        built.tensors = []
        uploads: list[int | str] = []
        buffers: list[Any] = []
        for data in built.uploads:
            if isinstance(data, Staged):
                uploads.append(data.key)
            else:
                uploads.append(len(buffers))
                buffers.append(data)
        message = m.Batch(
            writer=wire.writer, epoch=wire.epoch, seq=wire.seq + 1, ack=wire.ack, program=program,
            definition=None if program in wire.known else definition, inputs=built.inputs,
            values=built.encoded or [encode_scalar(v) for v in built.values],
            uploads=uploads, keep=keep, first=first,
            fetch=[t._id if k is None else len(built.inputs) + k for t, k in reads], free=self._frees(),
            bind={name: t._id for name, t in (bind or {}).items()}, unbind=unbind or [], state=state or [],
        )  # fmt: skip
        sent = Sent(message, definition, buffers, built)
        for index, (t, k) in enumerate(reads):
            t._fetch = Fetch(sent, index, t, k)
            sent.fetches.append(t._fetch)
        if built.steps:
            if self.latest is not None and self.latest.answered:
                self.latest.forget()
            self.latest = sent
        wire.counts["steps"] += len(built.steps)
        wire.post(sent)
        session.doubt, session.graphs_lost = before
        return sent

    def _keep(self, outputs: list[Any], inputs: int) -> list[int]:
        """Give every output that someone still holds an id; returns their slots, in order."""
        keep = []
        for k, t in enumerate(outputs):
            if t is not None and t._id is None:
                t._id = f"{self.session.wire.prefix}{self._next_id}"
                self._next_id += 1
                t._out = None
                keep.append(inputs + k)
                self.session.live[t._id] = t
        return keep

    def habit(self, first: Recorded) -> Known | None:
        """The program that was sent last of those that begin with this step."""
        return self._habits.get(first)

    def program(self, built: Builder) -> Known:
        """The program of these steps."""
        known = built.known
        if known is not None and (len(known.steps), known.inputs, known.dtype) == (
            len(built.steps),
            len(built.inputs),
            built.dtype,
        ):
            return known
        key = built.key()
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = Known(built)
            if len(self._programs) > _REMEMBERED:
                self._programs.popitem(last=False)
        else:
            self._programs.move_to_end(key)
        if built.steps:
            self._habits[built.steps[0]] = found
            if len(self._habits) > _REMEMBERED:
                self._habits.pop(next(iter(self._habits)))
        return found

    def _reads(self, fetch: list[Any], outputs: list[Any], program: str) -> list[tuple[Any, int | None]]:
        """What to bring back: what was asked for, and what was read after this program the last time."""
        reads: list[tuple[Any, int | None]] = []
        if fetch:
            place = {id(t): k for k, t in enumerate(outputs) if t is not None}
            reads = [(t, place.get(id(t))) for t in fetch]
        last = self.latest
        if last is not None:
            self._predicted[last.message.program] = frozenset(last.read)
            self._predicted.move_to_end(last.message.program)
            if len(self._predicted) > _REMEMBERED:
                self._predicted.popitem(last=False)
        predicted = self._predicted.get(program)
        if not predicted:
            return reads
        asked = {id(t) for t, _ in reads}
        for k in sorted(predicted):
            t = outputs[k] if k < len(outputs) else None
            if t is not None and id(t) not in asked and t.nbytes <= _PREDICT:
                reads.append((t, k))
        return reads

    def stage(self, array: Any) -> Staged:
        """Upload a large array ahead of the batch that names it. Where the session has no room for it, what
        is dead is freed first, which goes with a batch; then RuntimeError.
        """
        wire = self.session.wire
        with self.session.lock:
            try:
                return Staged(wire.stage(array))
            except RuntimeError:
                self.session.flush()
                return Staged(wire.stage(array))

    def _frees(self) -> list[str]:
        out: list[str] = []
        dead, prefix = self.session.wire.dead, self.session.wire.prefix
        recorders = self.session.recorders
        # What another thread has recorded and not sent may name what is dead.
        named = {i for r in recorders for i in r.building.slots} if len(recorders) > 1 else ()
        for _ in range(min(len(dead), DEFAULT.batch_ids)):
            i = dead.popleft()
            if i in named:
                dead.append(i)
                continue
            self.session.live.forget(i)
            if i.startswith(prefix):
                out.append(i)
        return out
