"""Records one thread's ops in one session, and decides where a batch ends (docs/design.md, section 1).

A batch ends depending on what the script does, never on time: when a value is needed (a), after an
optimizer's step (b), at the first op that creates a node after a pass that freed its graph (c), at flush,
naming and close (d), and at 4,096 steps (e).
"""

from __future__ import annotations

import threading
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from gradd_engine.data import mode
from gradd_engine.data.state import state
from gradd_engine.declare import flat_tensors, written
from gradd_engine.schema import Histories, Pass
from gradd_engine.tensor import Tensor
from gradd_protocol.limits import DEFAULT

from .._mirror import BATCH, STEP, BatchState, Event, StepState, after
from .._program import LATE, Builder, Cut, Grad, Recorded, RuntimeSlot, attrs_of, kind_of, phase
from .._wire import KnownDraw
from .sharing import written_to
from .sites import call_site, repeated_site
from .trail import Trail

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from gradd_engine.schema import Op

    from .._exceptions import Site
    from .._mirror import Machine, MirrorBackend, MirrorState
    from .._program import CachedProgram
    from .._wire import Sent
    from .ahead import Ahead
    from .sharing import Sharing
    from .stream import Draws
    from .tape import Tape

_recorded = partial(tuple.__new__, Recorded)
_gradient = partial(tuple.__new__, Grad)
# Looked up for every op, or a few times a step of training.
_FREED = BatchState.FREED
_TOUCHED, _SENT = after(Event.TOUCHED, BATCH), after(Event.SENT, BATCH)
_PASSED = {False: after(Event.PASS_FREED, BATCH), True: after(Event.PASS_KEPT, BATCH)}
#: steps in one batch
STEPS = DEFAULT.batch_steps
#: bytes of the largest result of a random step that is made here where it is read
_TOLD = 1 << 16
#: total bytes of uploads in one batch
_UPLOADS = 3 * DEFAULT.client_message_bytes // 4


class RecorderHost(Protocol):
    """What a recorder needs of its session."""

    backend: MirrorBackend
    #: of all threads
    recorders: list[Recorder]
    sharing: Sharing
    #: where the random stream is
    stream: Draws
    knowledge: Machine[MirrorState]

    @property
    def away(self) -> bool:
        """Whether it is closed, lost, or a forked child's."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held while an op is recorded, and while a batch is sent."""

    def habit(self, first: Recorded) -> CachedProgram | None:
        """The last sent program that begins with this step."""

    def send(self, built: Builder, fetch: list[Any], **more: Any) -> Sent | None:
        """Send one batch without waiting."""

    def refuse_lost(self, t: Any) -> None:
        """Raise the error because of which the server does not have a tensor."""


class Recorder:
    """What one thread has recorded and not yet sent. All methods but `flush` and `settle` require the
    session's lock.
    """

    def __init__(self, session: RecorderHost) -> None:
        self.session = session
        self.thread = threading.current_thread()
        self.step = StepState.NONE
        self.batch = BatchState.NARROW
        self.building = Builder()
        #: set while a function is traced
        self.tape: Tape | None = None
        #: what the thread makes before the script asks for it, if anything
        self.ahead: Ahead | None = None
        self.trail = Trail(self)

    def on(self, event: Event) -> None:
        """An event of the step being recorded."""
        self.step = STEP[self.step][event]

    def record(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outputs: Any, raises: bool = False
    ) -> None:
        """Add the step of an op that the mirror just ran."""
        outs: tuple[Any, ...]
        outs = outputs if outputs.__class__ is tuple else () if outputs is None else (outputs,)
        if (
            self.batch is _FREED
            and state.grad
            and self.tape is None
            and any(isinstance(o, Tensor) and o._fn is not None for o in outs)
        ):
            self.flush()
        drawn = self.session.backend.drawn
        if len(self.session.recorders) > 1:
            # Of random steps, the number counts.
            self._order(op.effects.wide or drawn > 0)
        self.widen(op)
        building = self.building
        args = self._args(inputs)
        kept = attrs_of(op, attrs, building.values) if attrs else ()
        step = _recorded((op.name, args, kept, len(outs), state.grad or mode(), raises))
        if not building.steps:
            building.begin(self.session.habit(step))
        if self.tape is not None:
            self.tape.add(op, args, inputs, attrs)
            if raises or not op.effects.traced or op.effects.aliases:
                self.tape.spoil(f"it uses {op.name}()" if not raises else "a pass in it raised")
        # Skips the frames of the listener and of what called the op.
        at, known = len(building.steps), building.known
        hints = [] if known is None else known.hints
        site = repeated_site(hints, at) if at < len(hints) else call_site(5)
        slot = building.append(step, site)
        self._name(outs, slot, site)
        if op.acts:
            self.acted(op, inputs, attrs, outs, site)
        self.trail.ran(op, inputs, attrs, outs, outputs is outs, at, step, slot)
        if drawn:
            self.drew(op, attrs, outs, drawn)
        if len(building.steps) >= STEPS:
            self.cut()

    def drew(self, op: Op, attrs: dict[str, Any], outs: tuple[Any, ...], steps: int) -> None:
        """The op of the step that was just added drew from the random stream."""
        stream = self.session.stream
        if self.ahead is not None and self.ahead.making:
            stream.move(None)  # its batch may be sent before the script's
        key = stream.advance(steps)
        if self.tape is not None:
            self.tape.drawn += steps
        elif key is not None and op.effects.exact and outs[0].nbytes <= _TOLD:
            outs[0]._fetch = KnownDraw(outs[0], op, attrs, key)

    def widen(self, op: Op) -> None:
        """Note whether the step of an op touches more than the storages of its arguments."""
        if op.effects.wide:
            self.batch = _TOUCHED[self.batch]

    def _name(self, outs: tuple[Any, ...], slot: int, site: Site | None) -> None:
        """Give results their slots, from `slot` on, and new nodes the place of their op."""
        building = self.building
        for o in outs:
            if o is not None:
                storage = o._storage
                if storage.recorder is None:
                    storage.recorder = self
                elif storage.recorder is not self:
                    self._touch(storage)
                if o._id is None and o._out is None:
                    o._out = (building, slot)
                    building.outputs[slot] = weakref.ref(o)
                fn = o._fn
                if fn is not None and fn.site is None:
                    fn.site = site
            slot += 1

    def acted(
        self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: tuple[Any, ...], site: Site
    ) -> None:
        """Note what the op of the step that was just added did besides making its outputs."""
        effects, building = op.effects, self.building
        building.settled = len(building.steps)
        if op.base is not None:
            base = inputs[0]._base
            if base is not None and base._fn is not None:
                base._fn.site = site
        for t in inputs[:1] if op.base is not None else written(op, inputs):
            storage: Any = t._storage
            storage.writes += 1
            if storage.given is not None:
                written_to(storage)
        if not op.stateful:
            return
        if effects.stream is not None:
            self.session.stream.used(effects.stream, inputs, attrs, outs)
        if not effects.keeps_inputs and self.tape is None:
            # Inspecting a node must not keep a tensor alive.
            building.release(inputs[0]._id)
        if effects.histories is Histories.WRITTEN and not outs:
            for t in flat_tensors(inputs):
                if t._fn is not None and t._fn.site is None:
                    t._fn.site = site
        if effects.backward_pass is not None:
            self._follow(effects.backward_pass, inputs, attrs)
        elif effects.aliases:
            outs[0]._storage.aliased = True

    def _follow(self, way: Pass, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """A pass may have ended."""
        if way is Pass.BACKWARD or way is Pass.GRAD:
            keep = attrs.get("retain_graph")
            self._passed(attrs.get("create_graph") if keep is None else keep)
        elif way is Pass.RESUME and not attrs["at"]:
            self._passed(inputs[0]._holds.keep)

    def _passed(self, keep: Any) -> None:
        """A pass ended."""
        self.batch = _PASSED[bool(keep)][self.batch]

    def _step(
        self, op: str, args: tuple[Any, ...], attrs: tuple[Any, ...], out: Tensor, uploads: list[Any]
    ) -> None:
        """Add a step that is not an op of the mirror."""
        self._order(False)
        self.on(Event.BEGIN)
        building = self.building
        building.uploads.extend(uploads)
        if self.tape is not None:
            if op == "get_grad":
                self.tape.add(op, args, None, None)
            else:
                self.tape.spoil("it makes tensors of Python data")
        step = Recorded(op, args, attrs, 1, mode(), False)
        if not building.steps:
            building.begin(self.session.habit(step))
        self._name((out,), building.append(step, call_site()), None)
        self.on(Event.END)
        if len(self.building) >= STEPS:
            self.cut()

    def upload(self, t: Tensor, data: Any, requires_grad: bool) -> None:
        """Record a tensor created from bytes; `data` is an array that we own, or a staged upload."""
        attrs: list[tuple[str, Any]] = [("dtype", t.dtype.name)]
        if requires_grad:
            attrs.append(("requires_grad", True))
        attrs.append(("shape", tuple(t.shape)))
        with self.session.lock:
            if (
                sum(getattr(u, "nbytes", 0) for u in self.building.uploads) + getattr(data, "nbytes", 0)
                > _UPLOADS
            ):
                self.flush()
            self._step("upload", (), tuple(attrs), t, [data])

    def name_gradient(self, owner: Tensor, g: Tensor) -> None:
        """Give a gradient that only passes know a slot."""
        with self.session.lock:
            self._step("get_grad", (self._slot(owner),), (), g, [])

    def adopt(self, name: str, t: Any) -> None:
        """Give the tensor of a shared name an id of this writer."""
        self._step("share", (self.building.input(name, t),), (), t, [])

    def settle(self, t: Any) -> None:
        """Before `t` is read or named, send other threads' steps on it, and give a gradient a slot."""
        self._order(False)
        self._flush_holder(t)
        self._touch(t._storage)
        owner = t._owner() if t._owner is not None else None
        if t._out is None and t._id is None and owner is not None and owner._grad is t:
            self.name_gradient(owner, t)

    def _flush_holder(self, t: Any) -> None:
        """Send the step that creates `t`, if another thread's recorder has it."""
        for other in self.session.recorders:
            if other is not self and t._out is not None and t._out[0] is other.building:
                other.flush()

    def _order(self, wide: bool) -> None:
        """Send what other threads recorded before a pass, which reaches tensors that are not its
        arguments.
        """
        others = self.session.recorders
        if len(others) > 1:
            for other in others:
                if other is self or not len(other.building):
                    continue
                if wide or other.batch is not BatchState.NARROW:
                    other.flush()

    def _args(self, inputs: Iterable[Any]) -> tuple[Any, ...]:
        """The inputs of a step as it has them; run-time numbers among them go to the batch's values."""
        building = self.building
        args: list[Any] = []
        for x in inputs:
            if isinstance(x, Tensor):
                t: Any = x
                out = t._out
                if out is None:
                    slot = building.slots.get(t._id) if t._storage.recorder is self else None
                else:
                    slot = out[1] if out[0] is building else None
                args.append(self._tensor(t) if slot is None else slot)
            elif x is None:
                args.append(None)
            elif type(x) is list or type(x) is tuple:
                args.append(self._args(x))
            else:
                late = LATE.get(type(x))
                if late is None:
                    x = x.item() if hasattr(x, "item") else x
                    late = RuntimeSlot(kind_of(x))
                building.values.append(x)
                args.append(late)
        return tuple(args)

    def _tensor(self, t: Any) -> Any:
        """A tensor as an argument, which may be a gradient that has no slot."""
        if t._id is None and t._out is None:
            owner = t._owner
            holder = owner() if owner is not None else None
            if holder is not None and holder._grad is t and t._lost is None:
                slot = self.building.slots.get(holder._id) if holder._storage.recorder is self else None
                return _gradient((self._slot(holder) if slot is None or holder._out else slot, "g"))
        return self._slot(t)

    def _slot(self, t: Any) -> int:
        out = t._out
        if out is not None:
            if out[0] is self.building:
                slot: int = out[1]
                return slot
            self._flush_holder(t)
        if t._storage.recorder is not self:
            self._touch(t._storage)
        if t._id is None:
            self.session.refuse_lost(t)
        return self.building.input(t._id, t)

    def _touch(self, storage: Any) -> None:
        other = storage.recorder
        if other is not self:
            if other is not None and len(other.building):
                other.flush()
            storage.recorder = self

    def flush(self, fetch: list[Any] | None = None, **more: Any) -> Any:
        """Send what is recorded, and fetch the tensors `fetch`; does not wait. Returns the sent batch or
        None.
        """
        with self.session.lock:
            if self.tape is not None:
                self.tape.spoil("it reads a value, or has more steps than a batch holds")
            if self.session.sharing.taken:
                self.session.sharing.check()
            self.trail.end(self.building)
            built, self.building = self.building, Builder()
            self.batch = _SENT[self.batch]
            ahead = self.ahead
            if ahead is not None and ahead.script is not None and ahead.cut(built, not (fetch or more)):
                return None
            return self.session.send(built, fetch or [], **more)

    def cut(self) -> None:
        """At 4,096 steps: send up to the latest step like the first (`phase`), so that a loop's programs
        repeat.
        """
        if self.tape is not None:
            self.tape.spoil("it has more steps than a batch holds")
        self.trail.end(self.building)
        built = self.building
        at = phase(built)
        if at is None:
            self.flush()
            return
        head, tail = Cut(built, at, self.session.backend), Builder()
        self.building = tail
        self.session.send(head.built, [])
        head.carry_over(tail)
