"""Keeping mirror and server in agreement: what was lost is asked for, an error is raised once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._exceptions import SessionClosed
from .._mirror import Event, MirrorState, StepState
from .core import Core
from .reconcile import reconcile, rows

if TYPE_CHECKING:
    from gradd_protocol.messages import TensorInfo

    from .._wire import Sent


# Looked up wherever a gradient is read or a leaf is made.
_AGREES, _BEHIND, _NONE = MirrorState.AGREES, MirrorState.BEHIND, StepState.NONE


class Agreeing(Core):
    """A session that agrees with its server wherever somebody looks."""

    def ready(self) -> None:
        """Make the session usable: refuse a closed or lost one, attach anew after fork, ask for state that
        was lost.
        """
        recorder = self.recorder()
        state = self.knowledge.state
        # What other writers did is looked at between batches.
        agrees = state is _AGREES or (state is _BEHIND and recorder.building.steps)
        if agrees and recorder.step is _NONE and not (self._closed or self._forked or self.wire.ended):
            return
        with self.lock:
            if self._closed:
                raise SessionClosed(f"the session {self.name!r} is closed")
            if self._forked:
                self._begin_anew()
            if self.wire.ended is not None:
                self.check()
                raise self.wire.ended
            self._reconcile()

    def _reconcile(self) -> None:
        """Ask the server where the mirror cannot tell what became of the tensors."""
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
        """Make the mirror say what the server says."""
        self.knowledge.on(Event.ASKED)
        reconcile(self, self.knowledge.state is MirrorState.GRAPHS_LOST)
        self.knowledge.on(Event.TOLD)

    def check(self, upto: Sent | None = None) -> None:
        """Raise, once, the server's error that nobody saw, of batches up to `upto`; behind it was skipped."""
        wire = self.wire
        if wire.unseen is None or (upto is not None and wire.unseen_seq > upto.message.seq):
            return
        raise self._unseen_error()

    def _unseen_error(self) -> Exception:
        """The error that nobody saw, made here, so that who raises it holds it in no variable: its traceback
        would hold that. What stands is asked for.
        """
        wire = self.wire
        stand = wire.graphs_stand and not any(r.building.steps for r in self.recorders)
        for recorder in self.recorders:
            recorder.flush()
        wire.wait_all()
        error = wire.saw()
        self.knowledge.on(Event.STOPPED if stand else Event.FAILED)
        if wire.ended is None:
            try:
                self.ask_state()
            except ConnectionError as e:
                error.add_note(f"and what stands could not be asked for: {e}")
        return error

    def flush(self) -> None:
        """Send what was recorded and wait until the server applied it; raises what it found wrong."""
        with self.lock:
            self.ready()
            self.recorder().flush()
            self.wire.wait_all()
            self.check()

    def mirror(self) -> list[TensorInfo]:
        """What the SDK says of its live tensors, without asking where it need not."""
        with self.lock:
            self.flush()
            self.ready()
            return list(rows(self))

    def _begin_anew(self) -> None:
        """In a forked child: become a writer of one's own."""
        self.wire.begin_anew()
        self._forked = False
        self.outbox.begin_anew()
