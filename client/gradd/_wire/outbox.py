"""Turns recorded steps into a batch: program identity, what to keep, what to fetch, what to free."""

from __future__ import annotations

from collections import OrderedDict
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_protocol import messages as m
from gradd_protocol.fields import Logged
from gradd_protocol.limits import DEFAULT
from gradd_protocol.values import encode_real, encode_scalars

from .._exceptions import GraddError
from .._mirror import Event
from .._program import Builder, CachedProgram
from .._transports import trace_headers
from .pending import Fetch, Sent, lose
from .staged import StagedUpload, begin, stage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .._mirror import Machine, MirrorState
    from .._program import Recorded
    from .live import Live
    from .wire import Wire

#: values up to so many bytes are fetched if they were read the last time
_PREDICT = 1 << 16
#: how many numbers come along with what is read after a program for the first time
_NUMBERS = 64
_REMEMBERED = 1024


class Outbox:
    """Creates the batches of a session. Callers hold the session's lock.

    `named` returns the ids in recorded steps that were not sent yet.
    """

    def __init__(
        self, wire: Wire, live: Live, knowledge: Machine[MirrorState], named: Callable[[], Collection[str]]
    ) -> None:
        self._wire, self._live, self._knowledge, self._named = wire, live, knowledge, named
        #: the last batch that had steps
        self.latest: Sent | None = None
        self._programs: OrderedDict[Any, CachedProgram] = OrderedDict()
        #: first step -> the program that probably follows
        self._habits: dict[Recorded, CachedProgram] = {}
        self._predicted: OrderedDict[str, frozenset[int]] = OrderedDict()
        self._next_id = 1
        #: points of curves that are not sent: name, number or tensor, step
        self._logged: list[tuple[str, Any, int | None]] = []
        #: uploads that may still be under way
        self._staging: list[StagedUpload] = []

    def log(self, name: str, value: Any, step: int | None) -> None:
        """Send a point with the next batch that has its tensor, or that follows it."""
        self._logged.append((name, value, step))

    def _take_logged(self) -> list[Logged]:
        """The points whose values the session has after this batch."""
        taken, left = [], []
        for name, value, step in self._logged:
            if isinstance(value, float):
                taken.append(Logged(name, encode_real(value), step))
            elif value._id is not None:
                taken.append(Logged(name, value._id, step))
            elif value._lost is None:
                left.append((name, value, step))
        self._logged = left
        return taken

    def begin_anew(self) -> None:
        """Start again after the session became another writer."""
        self.latest = None
        self._next_id = 1
        self._logged = []
        self._staging = []

    def send(
        self, built: Builder, fetch: list[Any], state: list[str] | None = None,
        bind: dict[str, Any] | None = None,
        unbind: list[str] | None = None,
    ) -> Sent | None:  # fmt: skip
        """Send one batch without waiting; None if there is nothing to send.

        Tensors in `fetch` get a `Fetch`; names in `bind` are bound.
        """
        wire = self._wire
        self._settle(built)
        if not (built.steps or fetch or state or bind or unbind or wire.dead or self._logged):
            return None
        recording = self._recording(built)
        wire.make_room()
        try:
            return self._send(built, recording, fetch, state or [], bind or {}, unbind or [])
        except BaseException:
            # An interrupt before the batch is sent leaves tensors with ids that the server does not know.
            self._knowledge.on(Event.INTERRUPTED)
            raise

    def _settle(self, built: Builder) -> None:
        """Have its staged uploads there. RuntimeError where there is no room: then its steps are lost."""
        try:
            for data in built.uploads:
                if not isinstance(data, StagedUpload):
                    continue
                try:
                    data.settle()
                except RuntimeError:
                    self._free(built)
                    data.settle()
        except BaseException as e:
            error = e if isinstance(e, Exception) else GraddError("the upload of this tensor was interrupted")
            lose(built, 0, error, self._wire.lost)
            self._knowledge.on(Event.INTERRUPTED)
            raise

    def _free(self, built: Builder) -> None:
        """Free what is dead and no input of steps that are not sent yet, and wait until that is done."""
        free = self._frees(built.slots)
        if free:
            self._wire.make_room()
            self._send(Builder(), 0.0, [], [], {}, [], free=free)
        self._wire.wait_all()

    def send_beside(self, built: Builder) -> None:
        """Send a batch of its own that makes tensors which no recorded step knows yet. It frees nothing, and
        what was read after the latest batch stays that one's.
        """
        if built.steps:
            for data in built.uploads:
                if isinstance(data, StagedUpload):
                    data.settle()
            recording = self._recording(built)
            self._wire.make_room()
            self._send(built, recording, [], [], {}, [], beside=True)

    def _recording(self, built: Builder) -> float:
        """For how long its steps were recorded (s), 0 if it has none or the daemon takes no such number."""
        told = built.steps and "recording" in self._wire.transport.extensions
        return int(1e6 * (perf_counter() - built.began)) / 1e6 if told else 0.0

    def _send(
        self, built: Builder, recording: float, fetch: list[Any], state: list[str], bind: dict[str, Any],
        unbind: list[str], beside: bool = False, free: list[str] | None = None,
    ) -> Sent:  # fmt: skip
        wire = self._wire
        known = self.program(built)
        program = known.id
        new = program not in wire.known
        outputs = [r() if r is not None else None for r in built.outputs]
        first, inputs = self._next_id, len(built.inputs)
        keep = self._keep(outputs, inputs)
        reads = [] if beside else self._reads(fetch, outputs, program)
        # Inputs that die now are freed by this batch, after its last step.
        built.tensors = []
        uploads: list[int | str] = []
        buffers: list[Any] = []
        for data in built.uploads:
            if isinstance(data, StagedUpload):
                uploads.append(data.key)
            else:
                uploads.append(len(buffers))
                buffers.append(data)
        message = m.Batch(
            writer=wire.writer, epoch=wire.epoch, seq=wire.seq + 1, ack=wire.ack, program=program,
            definition=known.definition if new else None,
            sites=known.sites if new and "sites" in wire.transport.extensions else None, inputs=built.inputs,
            values=built.encoded or (encode_scalars(built.values) if built.values else []),
            uploads=uploads, keep=keep, first=first,
            fetch=[t._id if k is None else inputs + k for t, k in reads] if reads else [],
            free=[] if beside else self._frees() if free is None else free,
            bind={name: t._id for name, t in bind.items()} if bind else {}, unbind=unbind, state=state,
            log=[] if beside or not self._logged else self._take_logged(),
            # A program counts for the bytes of the message that defines it, which no clock may change.
            recording=0.0 if new else recording,
        )  # fmt: skip
        if traced := trace_headers():
            message = msgspec.structs.replace(message, **traced)
        sent = Sent(message, known, buffers, built, beside)
        for index, (t, k) in enumerate(reads):
            t._fetch = Fetch(sent, index, t, k)
            sent.fetches.append(t._fetch)
        if built.steps and not beside:
            if self.latest is not None and self.latest.answered:
                self.latest.forget()
            self.latest = sent
        wire.counts["steps"] += len(built.steps)
        wire.post(sent)
        return sent

    def _keep(self, outputs: list[Any], inputs: int) -> list[int]:
        """Give every output that is still alive an id; returns their slots, in order."""
        keep = []
        for k, t in enumerate(outputs):
            if t is not None and t._id is None:
                t._id = f"{self._wire.prefix}{self._next_id}"
                self._next_id += 1
                t._out = None
                keep.append(inputs + k)
                self._live[t._id] = t
        return keep

    def habit(self, first: Recorded) -> CachedProgram | None:
        """The last sent program that begins with this step."""
        return self._habits.get(first)

    def program(self, built: Builder) -> CachedProgram:
        """The program of these steps."""
        known = built.known
        if known is not None and (len(known.steps), known.inputs, known.dtype, known.tf32) == (
            len(built.steps),
            len(built.inputs),
            built.dtype,
            built.tf32,
        ):
            return known
        key = built.key()
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = CachedProgram(built)
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
        """What to fetch: what was requested, and what was read after this program the last time."""
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
        if predicted is None and fetch:
            # It is not known yet what of it is read: the numbers among its results come along.
            numbers = [k for k, t in enumerate(outputs) if t is not None and not t._shape]
            predicted = frozenset(numbers[-_NUMBERS:])
        if not predicted:
            return reads
        asked = {k for _, k in reads}
        for k in sorted(predicted):
            t = outputs[k] if k < len(outputs) and k not in asked else None
            if t is not None and t.nbytes <= _PREDICT:
                reads.append((t, k))
        return reads

    def stage(self, array: Any) -> StagedUpload:
        """Upload a large array ahead of its batch; RuntimeError if there is no room."""
        return stage(self._wire, array, self._staging)

    def begin_stage(self, array: Any) -> StagedUpload:
        """Begin to upload a large array that nobody writes to; see `staged.begin`."""
        return begin(self._wire, array)

    def _frees(self, besides: Collection[str] = ()) -> list[str]:
        """The ids to free, but for those in steps that are not sent, and `besides`."""
        out: list[str] = []
        dead, own = self._wire.dead, self._wire.prefixes
        if not dead:
            return out
        # Unsent steps of other threads may name dead tensors.
        named = self._named()
        for _ in range(min(len(dead), DEFAULT.batch_ids)):
            i = dead.popleft()
            if i in named or i in besides:
                dead.append(i)
                continue
            self._live.forget(i)
            if i.startswith(own):
                out.append(i)
        return out
