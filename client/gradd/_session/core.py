"""A session's parts: its wire, its mirror, its tensors, a recorder for each thread."""

from __future__ import annotations

import gc
import secrets
import threading
import weakref
from typing import TYPE_CHECKING, Any

from gradd_engine.freezing import Doubling
from gradd_protocol import names

from .._exceptions import GraddError, copy_of
from .._mirror import MIRROR, Machine, MirrorState
from .._recording import Draws, Recorder, Sharing
from .._wire import AttentiveWire, Live, Outbox, patience
from .managing import manage

if TYPE_CHECKING:
    from .._mirror import MirrorBackend
    from .._program import Builder, CachedProgram, Recorded
    from .._wire import Sent


#: for scripts that make large graphs
_doubling = Doubling(250_000)


class _Thread(threading.local):
    """What a session has for each thread."""

    recorder: Recorder | None = None


class Core:
    """The parts of a session; its behaviour is in the derived classes."""

    backend: MirrorBackend

    def __init__(
        self, url: str, name: str | None, transport: str = "stream", token: str | None = None,
        reconnect: float | None = None, timeout: float | None = None, device: str | None = None,
    ) -> None:  # fmt: skip
        own = self._name = names.session(name or f"anon-{secrets.token_hex(16)}")
        if device is not None:
            with patience(timeout, lambda: False):
                manage(url, own, token, lambda transport: transport.place(device))
        self.url = url
        #: held while an op runs on the mirror and is recorded, a batch is sent, or a reply awaited
        self.lock = threading.RLock()
        #: what the mirror knows
        self.knowledge: Machine[MirrorState] = Machine(MIRROR, MirrorState.AGREES)
        self.recorders: list[Recorder] = []
        #: where its random stream is; nobody else knows the name of a session without one
        self.stream = Draws(self.knowledge, name is None)
        #: arrays that its tensors gave and took
        self.sharing = Sharing()
        self._thread = _Thread()
        #: tensors with a shared name
        self.named: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        #: whether other writers may change this one's named tensors
        self._shares = False
        self._closed = self._forked = False
        self._ends_session = name is None
        self.wire = AttentiveWire(url, self._name, transport, token, self.knowledge, reconnect, timeout)
        #: tensors with an id
        self.live = Live(self.wire.dead)
        self.outbox = Outbox(self.wire, self.live, self.knowledge, self._recorded_ids)
        if _doubling not in gc.callbacks:
            gc.callbacks.append(_doubling)

    @property
    def name(self) -> str:
        """Its name. Whoever knows it can attach, and draw random numbers too: values of `randint` and its kin
        are then asked for, as those of all other ops.
        """
        self.stream.share()
        return self._name

    @property
    def shared(self) -> bool:
        """Whether other writers may change what this one made."""
        return self._shares

    @property
    def away(self) -> bool:
        """Whether it is closed, lost, or a forked child's."""
        return self._closed or self._forked or self.wire.ended is not None

    def recorder(self) -> Recorder:
        """This thread's recorder."""
        found = self._thread.recorder
        if found is None:
            for other in [r for r in self.recorders if not r.thread.is_alive()]:
                other.flush()
                if other.ahead is not None:
                    other.ahead.send()
                self.recorders.remove(other)
            found = self._thread.recorder = Recorder(self)
            self.recorders.append(found)
        return found

    def _recorded_ids(self) -> set[str]:
        """The ids in recorded steps that another batch may overtake: those of other threads, and of a script
        whose data are made ahead.
        """
        recorders = self.recorders
        if len(recorders) == 1 and recorders[0].ahead is None:
            return set()
        scripts = [r.ahead.script for r in recorders if r.ahead is not None and r.ahead.script is not None]
        if len(recorders) > 1 or scripts:
            return {i for built in (*(r.building for r in recorders), *scripts) for i in built.slots}
        return set()

    def send(self, built: Builder, fetch: list[Any], **more: Any) -> Sent | None:
        """Send one batch without waiting; see `Outbox.send`."""
        return self.outbox.send(built, fetch, **more)

    def send_beside(self, built: Builder) -> None:
        """Send a batch that makes tensors which no recorded step knows yet; see `Outbox.send_beside`."""
        self.outbox.send_beside(built)

    def habit(self, first: Recorded) -> CachedProgram | None:
        """The last sent program that begins with this step."""
        return self.outbox.habit(first)

    def name_gradient(self, owner: Any, g: Any) -> None:
        """Give a gradient that only passes know a slot."""
        self.recorder().name_gradient(owner, g)

    def lose(self, id: str, t: Any) -> None:
        """The server has no tensor of that id."""
        self.live.pop(id)
        t._id = None
        t._lost = t._lost or GraddError("this tensor is not in its session any more")

    def refuse_lost(self, t: Any) -> None:
        """For a tensor that the server does not have, raise the error that was the reason."""
        lost = t._lost or GraddError("this tensor has no value in its session: what made it was interrupted")
        raise copy_of(lost)
