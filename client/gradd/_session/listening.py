"""The session as the mirror's listener, which records each outermost op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import Meta
from gradd_engine.declare import flat_tensors
from gradd_engine.schema import Pass
from gradd_protocol.limits import DEFAULT

from .._mirror import STEP, Event, Extent, MirrorState, StepState, after
from .._program import Builder
from .._wire import Known
from .agreement import Agreeing
from .reconcile import knows, take_place

if TYPE_CHECKING:
    from gradd_engine.schema import Op

    from .._recording import Recorder


#: bytes of an upload that is also kept here, to be read without asking for it
_KNOWN = 1 << 12

# Looked up for every op.
_AGREES, _NONE, _BLIND = MirrorState.AGREES, StepState.NONE, StepState.BLIND
_BEGUN, _ENDED = after(Event.BEGIN, STEP), after(Event.END, STEP)


class Listening(Agreeing):
    """A session that records what runs on its mirror (`gradd_engine.backends.Listener`)."""

    def before(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """An op is about to run on the mirror."""
        recorder = self._thread.recorder
        if self.away or recorder is None or recorder.step is not _NONE or self.knowledge.state is not _AGREES:
            recorder = self.ready()
        recorder.trail.before(op, inputs)
        self.backend.drawn = 0
        recorder.step = _BEGUN[recorder.step]

    def record(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outputs: Any) -> Any:
        """An op ran on the mirror. Returns its outputs, the server's if the mirror does not know the
        graph.
        """
        recorder: Recorder = self._thread.recorder  # type: ignore[assignment]
        if recorder.step is _BLIND and op.effects.backward_pass is Pass.GRAD:
            return self._blind_grad(recorder, op, inputs, attrs)
        try:
            recorder.record(op, inputs, attrs, outputs)
        except Exception:
            self._refused(recorder, op, inputs)
            raise
        recorder.step = _ENDED[recorder.step]
        return outputs

    def _refused(self, recorder: Recorder, op: Op, inputs: tuple[Any, ...]) -> None:
        """A step was not recorded. Where an input never came to be, all that is left is what it did to the
        mirror.
        """
        if all(t._lost is None for t in flat_tensors(inputs)):  # type: ignore[attr-defined]
            return
        recorder.building.mend()
        recorder.on(Event.END)
        self.wire.lost.refuse(op)
        if self.wire.lost.extent is not Extent.NONE:
            self.knowledge.on(self._undone())

    def _blind_grad(
        self, recorder: Recorder, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Only the server knows which gradients exist, so this waits for it."""
        batch = tuple(inputs[2][0].shape[:1]) if attrs["is_grads_batched"] else ()
        stand_ins: tuple[Any, ...] = tuple(
            self.backend.empty(Meta((*batch, *t.shape), t.dtype)) for t in inputs[1]
        )
        recorder.record(op, inputs, attrs, stand_ins)
        recorder.on(Event.END)
        recorder.flush()
        sent = self.send(Builder(), [], state=[t._id for t in stand_ins])
        assert sent is not None
        self.wire.wait(sent)
        self.check()
        return tuple(take_place(self, t, info) for t, info in zip(stand_ins, sent.state, strict=True))

    def failed(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """A pass raised midway: the server runs it too, for its partial effect."""
        recorder = self.recorder()
        recorder.record(op, inputs, attrs, None, raises=True)
        recorder.on(Event.END)

    def refused(self) -> None:
        """An op raised before it changed anything."""
        self.recorder().on(Event.END)

    knows = staticmethod(knows)

    def blind(self) -> None:
        """The running pass reached a graph that the mirror does not know."""
        self.knowledge.on(Event.BLIND_PASS)
        self.recorder().on(Event.BLIND_PASS)

    def upload(self, t: Any, array: Any, requires_grad: bool) -> None:
        """Record that `t` is created from the bytes of `array`: copied if few, sent ahead if many."""
        recorder = self.recorder()
        data: Any
        if array.nbytes <= DEFAULT.inline_upload_bytes:
            data = np.array(array, order="C", copy=True)
            if data.nbytes <= _KNOWN:
                t._fetch = Known(t, data)
        elif recorder.ahead is not None and recorder.ahead.making:
            data = self.outbox.begin_stage(array)
        else:
            data = self._stage(array)
        recorder.upload(t, data, requires_grad)

    def _stage(self, array: Any) -> Any:
        """Send a large array ahead of its batch. If the session has no room, first free dead tensors, with a
        batch; then RuntimeError.
        """
        with self.lock:
            try:
                return self.outbox.stage(array)
            except RuntimeError:
                self.flush()
                return self.outbox.stage(array)

    def step_done(self) -> None:
        """An optimizer's step() returned: the batch ends (rule b), unless within a function."""
        recorder = self.recorder()
        if recorder.tape is None:
            recorder.flush()
            if recorder.ahead is not None:
                recorder.ahead.look()
