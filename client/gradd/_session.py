"""A session as the SDK sees it: what is recorded, read, named, closed (docs/design.md, 1 and 6)."""

from __future__ import annotations

import secrets
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import Meta
from gradd_protocol import messages as m
from gradd_protocol import names
from gradd_protocol.limits import DEFAULT

from . import _registry, _state
from ._exceptions import GraddError, ServerError, SessionClosed, copy_of
from ._graph import graph_of
from ._live import Live
from ._mirror import MirrorBackend, adopt
from ._outbox import Outbox
from ._profile import Profile
from ._program import Builder
from ._recorder import Recorder, lend
from ._tensor import Tensor
from ._transports.waits import CLOSE
from ._wire import Wire

if TYPE_CHECKING:
    from gradd_engine.schema import Op

    from ._pending import Fetch, Sent


class Session:
    """A session as the SDK sees it. Made by `gradd.connect`; also a context manager that makes it current."""

    def __init__(
        self, url: str, name: str | None, transport: str = "stream", token: str | None = None
    ) -> None:
        self.name = names.session(name or f"anon-{secrets.token_hex(16)}")
        self.url = url
        #: held while an op runs on the mirror and is recorded, while a batch is sent, while a reply is waited
        #: for
        self.lock = threading.RLock()
        self.backend = MirrorBackend(self, Tensor)
        self.recorders: list[Recorder] = []
        self._thread = threading.local()
        #: tensors with a shared name
        self.named: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._shares = False
        #: the mirror cannot tell what became of its tensors; nor of its graphs
        self.doubt = self.graphs_lost = False
        #: the pass that is running walks a graph that the mirror cannot see
        self.blind_pass = False
        self._closed = self._forked = False
        self._ends_session = name is None
        self.wire = Wire(url, self.name, transport, token)
        self.dead = self.wire.dead
        #: tensors with an id
        self.live = Live(self.dead)
        self.outbox = Outbox(self)
        self.send, self.stage = self.outbox.send, self.outbox.stage
        _registry.add(self)

    # -- recording (the backend's listener) --------------------------------------------------------

    def recorder(self) -> Recorder:
        """This thread's recorder."""
        found: Recorder | None = getattr(self._thread, "recorder", None)
        if found is None:
            for other in [r for r in self.recorders if not r.thread.is_alive()]:
                other.flush()
                self.recorders.remove(other)
            found = self._thread.recorder = Recorder(self)
            self.recorders.append(found)
        return found

    def before(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """An op is about to run on the mirror."""
        recorder: Recorder | None = getattr(self._thread, "recorder", None)
        wire = self.wire
        away = self._closed or self._forked or wire.ended is not None
        if away or recorder is None or recorder.open or self.doubt or wire.news:
            self.ready()
            recorder = self.recorder()
        recorder.open = True

    def record(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outputs: Any) -> Any:
        """An op ran on the mirror. Returns its outputs: the server's where the mirror could not see the
        graph.
        """
        recorder: Recorder = self._thread.recorder
        if self.blind_pass:
            self.blind_pass = False
            if op.name == "grad":
                return self._blind_grad(recorder, op, inputs, attrs)
        recorder.record(op, inputs, attrs, outputs)
        recorder.open = False
        return outputs

    def _blind_grad(
        self, recorder: Recorder, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Only the server knows which of the gradients there are: a sync point."""
        batch = tuple(inputs[2][0].shape[:1]) if attrs["is_grads_batched"] else ()
        stand_ins: tuple[Any, ...] = tuple(
            self.backend.empty(Meta((*batch, *t.shape), t.dtype)) for t in inputs[1]
        )
        recorder.record(op, inputs, attrs, stand_ins)
        recorder.open = False
        recorder.flush()
        sent = self.send(Builder(), [], state=[t._id for t in stand_ins])
        assert sent is not None
        self.wire.wait(sent)
        self.check()
        return tuple(_state.take_place(self, t, info) for t, info in zip(stand_ins, sent.state, strict=True))

    knows = staticmethod(_state.knows)
    graph, lend = graph_of, lend

    def failed(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """A pass raised midway: the server runs it too, for what it did before it raised."""
        recorder = self.recorder()
        self.blind_pass = False
        recorder.record(op, inputs, attrs, None, raises=True)
        recorder.open = False

    def refused(self) -> None:
        """An op raised before it changed anything."""
        self.blind_pass = False
        self.recorder().open = False

    def ready(self) -> None:
        """Make the session usable: refuse a closed or lost one, attach anew after fork, ask for state that
        was lost.
        """
        recorder = self.recorder()
        news = self.wire.news and not recorder.building.steps
        if not (self.doubt or recorder.open or news or self._closed or self._forked or self.wire.ended):
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
            if recorder.open:
                recorder.building.mend()
                recorder.open = False
                self.doubt = self.graphs_lost = True
            recorder.flush()
        self.wire.wait_all()
        self.check()
        if self.doubt or (self.wire.news and self._shares):
            self.ask_state()
            self.check()
        self.doubt = self.wire.news = False

    def ask_state(self) -> None:
        """Make the mirror say what the server says."""
        self.doubt, self.wire.news = True, False
        _state.reconcile(self, self.graphs_lost)
        self.doubt = self.graphs_lost = False

    def check(self, upto: Sent | None = None) -> None:
        """Raise, once, the server's error that nobody saw, of batches up to `upto`; behind it was skipped."""
        wire = self.wire
        if wire.unseen is None or (upto is not None and wire.unseen_seq > upto.message.seq):
            return
        raise _state.unseen_error(self)

    def lose(self, id: str, t: Any) -> None:
        """The server has no tensor of that id: it never came to be."""
        self.live.pop(id)
        t._id = None
        t._lost = t._lost or GraddError("this tensor is not in its session any more")

    def refuse_lost(self, t: Any) -> None:
        """A tensor that never came to be raises the error that prevented it."""
        lost = t._lost or GraddError("this tensor has no value in its session: what made it was interrupted")
        raise copy_of(lost)

    def step_done(self) -> None:
        """An optimizer's step() returned: the batch ends here (rule b), but for the middle of a function."""
        recorder = self.recorder()
        if recorder.tape is None:
            recorder.flush()

    def flush(self) -> None:
        """Send what was recorded and wait until the server applied it; raises what it found wrong."""
        with self.lock:
            self.ready()
            self.recorder().flush()
            self.wire.wait_all()
            self.check()

    # -- values ------------------------------------------------------------------------------------

    def read(self, t: Any) -> np.ndarray[Any, Any]:
        """The values of a tensor as of now: from a reply that brings them already, else by a batch of their
        own.
        """
        with self.lock:
            self.ready()
            while True:
                found: Fetch | None = t._fetch
                if found is None or not found.holds(t):
                    found = self._ask(t)
                if found.slot is not None:
                    found.sent.read.add(found.slot)
                self.wire.wait(found.sent)
                self.check(found.sent)
                if found.sent.failed:
                    self.refuse_lost(t)
                value = self._value(found)
                if value is not None:
                    return value
                t._fetch = None

    def _ask(self, t: Any) -> Fetch:
        """Send what is recorded, and bring back `t`."""
        latest, recorder = self.outbox.latest, self.recorder()
        recorder.settle(t)
        if t._out is None and t._id is None:
            self.check()
            self.refuse_lost(t)
        if t._out is None and latest is not None:
            latest.note_read(t)
        recorder.flush([t])
        found: Fetch = t._fetch
        return found

    def _value(self, found: Fetch) -> np.ndarray[Any, Any] | None:
        """The array of an answered fetch; None where it has to be asked for again."""
        if found.array is not None or found.pinned is None:
            return found.array if found.array is None else np.asarray(found.array)
        try:
            _, (array,) = self.wire.request(m.GetResult(found.pinned))
        except ServerError as e:
            if e.problem.slug != "result-not-found":
                raise
            return None
        if array.nbytes <= DEFAULT.inline_result_bytes:
            found.array = array
        return np.asarray(array)

    # -- names -------------------------------------------------------------------------------------

    def __setitem__(self, name: str, t: Tensor) -> None:
        """Bind a shared name, so that other clients find the tensor."""
        with self.lock:
            self.ready()
            if t._session is not self:
                raise RuntimeError("the tensor belongs to another session")
            names.tensor(name)
            recorder = self.recorder()
            recorder.settle(t)
            if t._id is None and t._out is None:
                self.refuse_lost(t)
            self._shares = True
            recorder.flush(bind={name: t})
            # What held the name may have another one that was given elsewhere.
            self.doubt = self.doubt or self.named.get(name, t) is not t
            self.named[name] = t
            self.wire.wait_all()
            self.check()

    def __getitem__(self, name: str) -> Tensor:
        """The tensor of a shared name, the same object as long as it is held; KeyError when there is none."""
        with self.lock:
            self.ready()
            names.tensor(name)
            recorder = self.recorder()
            recorder.flush()
            sent = self.send(Builder(), [], state=[name, f"{name}.grad"])
            assert sent is not None
            self.wire.wait(sent)
            self.check()
            info, grad = sent.state
            if info is None:
                raise KeyError(name)
            self._shares = True
            t: Any = self.live.get(info.id)
            if t is None:
                t = adopt(self.backend, info)
                if grad is not None:
                    t._grad = self.live.get(grad.id) or adopt(self.backend, grad)
                recorder.adopt(name, t)
                recorder.flush()
            self.named[name] = t
            if info.name is not None:
                self.named[info.name] = t
            return t  # type: ignore[no-any-return]

    def __delitem__(self, name: str) -> None:
        """Unbind a shared name."""
        with self.lock:
            self.ready()
            self.recorder().flush()
            self.send(Builder(), [], unbind=[name])
            self.doubt = self.named.pop(name, None) is not None or self.doubt
            self.wire.wait_all()
            self.check()

    # -- what there is -----------------------------------------------------------------------------

    def tensors(self) -> list[m.TensorInfo]:
        """What the server has: one entry a tensor of the session."""
        with self.lock:
            self.flush()
            reply, _ = self.wire.request(m.ListTensors())
        assert isinstance(reply, m.Tensors)
        return reply.tensors

    def mirror(self) -> list[m.TensorInfo]:
        """What the SDK says of its live tensors, without asking where it need not."""
        with self.lock:
            self.flush()
            self.ready()
            return list(_state.rows(self))

    def info(self) -> m.SessionInfo:
        """What the server says of the session, its own counts among it."""
        with self.lock:
            self.flush()
            reply, _ = self.wire.request(m.Info())
        assert isinstance(reply, m.SessionReply)
        return reply.session

    def stats(self) -> dict[str, int]:
        """Counts since connecting: batches, steps, bytes, round_trips (messages whose reply was waited for).

        The server counts a round trip for each message that asks for something (`info()`); a mere wait, as in
        `flush()`, counts here only.
        """
        return dict(self.wire.counts)

    def profile(self) -> Profile:
        """Measure what the session does from here on: ``with session.profile() as p: ...; print(p)``."""
        with self.lock:
            self.ready()
            return Profile(self)

    def clear(self) -> None:
        """Drop all tensors of this client; the session goes on."""
        with self.lock:
            self.ready()
            self.recorder().flush()
            for i, t in list(self.live.items()):
                self.dead.append(i)
                t._id, t._fetch, t._lost = None, None, GraddError("the session was cleared")
            self.live.clear()
            self.flush()

    # -- life --------------------------------------------------------------------------------------

    def __enter__(self) -> Session:
        self.ready()
        _registry.enter(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _registry.leave(self)
        try:
            if exc[0] is KeyboardInterrupt and self.wire.busy:
                self.abandon()
            else:
                self.close()
        except Exception as e:
            if exc[0] is None:
                raise
            print(f"gradd: closing {self.name}: {e}", file=sys.stderr)

    def close(self) -> None:
        """Send what is left, raise an error nobody saw, disconnect; an anonymous session ends.

        A named session goes on, with what has a name; what only this client held is freed.
        """
        with self.lock:
            if self._closed:
                return
            wire = self.wire
            try:
                if not self._forked:
                    for recorder in self.recorders:
                        recorder.flush()
                    if not self._ends_session and wire.ended is None:
                        wire.dead.extend(self.live)
                        self.send(Builder(), [])
                    wire.wait_all()
            finally:
                self._closed = True
                if not self._forked:
                    wire.disconnect(self._ends_session)
                _registry.closed(self)
            if wire.unseen is not None and not self._forked:
                raise wire.saw()

    def abandon(self) -> None:
        """Disconnect and wait for nothing, nor for the lock; what was not sent is dropped. Ctrl-C ends so."""
        if not self._closed:
            self._closed = True
            if not self._forked:
                self.wire.disconnect(self._ends_session, CLOSE)
            _registry.closed(self)

    def before_fork(self) -> None:
        """Send what is recorded, so that the child finds it; keeps the lock until the fork is done."""
        self.lock.acquire()
        self._shares = True
        if not (self._closed or self._forked):
            for recorder in self.recorders:
                recorder.flush()
            self.wire.wait_all()

    def forked(self) -> None:
        """In a forked child: this process is not yet a writer. The parent's tensors stay the parent's to
        free.
        """
        self.lock = threading.RLock()
        self._forked = not self._closed
        self._ends_session = False

    def _begin_anew(self) -> None:
        self.wire.begin_anew()
        self._forked = False
        self.outbox.begin_anew()
