"""Keeps mirror and server in agreement: asks for unknown state, raises each error once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._exceptions import SessionClosed, copy_of
from .._mirror import EXTENT, Event, Extent, MirrorState, StepState
from .core import Core
from .reconcile import reconcile, rows

if TYPE_CHECKING:
    from gradd_protocol.messages import TensorInfo

    from .._recording import Recorder
    from .._wire import Sent


#: what a failed batch means for the mirror's graphs, by what its steps that did not run left of them
_UNDONE = {Extent.NONE: Event.STOPPED, Extent.SHOWN: Event.UNDONE, Extent.ALL: Event.FAILED}

# Looked up whenever a gradient is read or a leaf is created.
_AGREES, _BEHIND, _NONE = MirrorState.AGREES, MirrorState.BEHIND, StepState.NONE


class Agreeing(Core):
    """A session whose mirror agrees with its server."""

    def settled(self) -> bool:
        """Whether `ready` has nothing to do."""
        return self._settled(self.recorder())

    def _settled(self, recorder: Recorder) -> bool:
        if recorder.step is not _NONE or self.away:
            return False
        state = self.knowledge.state
        # Other writers' changes are checked between batches.
        return state is _AGREES or (state is _BEHIND and bool(recorder.building.steps))

    def ready(self) -> Recorder:
        """Make the session usable: refuse a closed or lost one, attach again after a fork, ask for lost
        state. Returns this thread's recorder.
        """
        recorder = self.recorder()
        if self._settled(recorder):
            return recorder
        with self.lock:
            if self._closed:
                raise SessionClosed(f"the session {self._name!r} is closed")
            if self._forked:
                self._begin_anew()
            if self.wire.ended is not None:
                self.check()
                raise self.wire.ended
            self._reconcile()
            return self.recorder()

    def _reconcile(self) -> None:
        """Ask the server if the mirror cannot tell the tensors' state."""
        for recorder in self.recorders:
            if recorder.step is not StepState.NONE:
                recorder.building.mend()
                recorder.on(Event.INTERRUPTED)
                self.knowledge.on(Event.INTERRUPTED)
            recorder.flush()
        self.wire.wait_all()
        self.check()
        state = self.knowledge.state
        if state is not MirrorState.AGREES and (state is not MirrorState.BEHIND or self._shares):
            self.ask_state()
            self.check()
        else:
            self.knowledge.on(Event.TOLD)

    def ask_state(self) -> None:
        """Update the mirror from the server's state."""
        self.knowledge.on(Event.ASKED)
        reconcile(self, EXTENT[self.knowledge.state], self.wire.lost)
        self.wire.lost.forget()
        self.knowledge.on(Event.TOLD)

    def check(self, upto: Sent | None = None) -> None:
        """Raise, once, the server's unseen error of batches up to `upto`; later batches were skipped. That
        the user stopped one with Ctrl-C is no error, unless `upto` is among those that failed.
        """
        wire = self.wire
        if wire.unseen is None or (upto is not None and wire.unseen_seq > upto.message.seq):
            return
        ahead = self.recorder().ahead
        if ahead is not None and ahead.making:
            # It ends what is made ahead, which no script asked for, and is told where the script waits.
            raise copy_of(wire.unseen)
        if wire.called_off and (upto is None or not upto.failed):
            self._unseen_error()
            return
        raise self._unseen_error()

    def _unseen_error(self) -> Exception:
        """The unseen error, created here so that the caller has it in no variable, which its traceback would
        keep alive. Also asks for the current state.
        """
        wire = self.wire
        stand = wire.graphs_stand and not any(r.building.steps for r in self.recorders)
        for recorder in self.recorders:
            recorder.flush()
        wire.wait_all()
        self.knowledge.on(Event.STOPPED if stand else self._undone())
        error = wire.saw()
        if wire.ended is None:
            try:
                self.ask_state()
            except ConnectionError as e:
                error.add_note(f"and what stands could not be asked for: {e}")
        return error

    def _undone(self) -> Event:
        """What the steps that did not run make of the mirror's graphs."""
        extent = self.wire.lost.extent
        if extent is Extent.SHOWN and self._shares:
            # What others wrote since may hide what shows.
            return Event.FAILED
        return _UNDONE[extent]

    def flush(self) -> None:
        """Send what was recorded and wait until the server applied it; raises its errors."""
        with self.lock:
            recorder = self.ready()
            recorder.flush()
            if recorder.ahead is not None:
                recorder.ahead.send()
            self.wire.wait_all()
            self.check()

    def mirror(self) -> list[TensorInfo]:
        """The mirror's state of all live tensors; asks the server only if it must."""
        with self.lock:
            self.flush()
            self.ready()
            return list(rows(self))

    def _begin_anew(self) -> None:
        """In a forked child: become a separate writer."""
        self.wire.begin_anew()
        self._forked = False
        self.outbox.begin_anew()
        for recorder in self.recorders:
            recorder.ahead = None
