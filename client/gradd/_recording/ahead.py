"""Data made before a script asks for it: its bytes travel while the session computes the batch before."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._exceptions import GraddError
from .._mirror import BatchState, MirrorState
from .._program import Builder

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from gradd_engine.tensor import Tensor

    from .._mirror import Machine
    from .recorder import Recorder


class AheadHost(Protocol):
    """What `Ahead` needs of its session."""

    knowledge: Machine[MirrorState]

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held while anything is recorded or sent."""

    def recorder(self) -> Recorder:
        """This thread's recorder."""

    def ready(self) -> object:
        """Make the session usable, and have the mirror agree with it."""

    def send_beside(self, built: Builder) -> None:
        """Send a batch that makes tensors which no recorded step knows yet."""


class Ahead:
    """What one thread makes ahead. A loader's iterator makes its data here, so that their uploads are batches
    of their own, whenever they come: the programs of the script's steps are the same.
    """

    def __init__(self, session: AheadHost, recorder: Recorder) -> None:
        self._session, self._recorder = session, recorder
        self._makers: list[weakref.WeakMethod[Callable[[], None]]] = []
        #: uploads whose bytes are still under way
        self._unsent: list[Builder] = []
        #: whether data is being made; the script's steps meanwhile, and batches that this took already
        self.making = False
        self.script: Builder | None = None
        self._parts: list[Builder] = []
        self._looking = False

    @classmethod
    def of(cls, session: AheadHost) -> Ahead:
        """That of this thread."""
        recorder = session.recorder()
        if recorder.ahead is None:
            recorder.ahead = cls(session, recorder)
        return recorder.ahead

    def call(self, maker: Callable[[], None]) -> None:
        """Call a bound method after each batch that this thread sends, as long as its object lives. It is to
        make what can be made without waiting.
        """
        ref = weakref.WeakMethod(maker)
        if ref not in self._makers:
            self._makers.append(ref)

    def look(self) -> None:
        """A batch was sent, and the script may wait for it."""
        recorder = self._recorder
        busy = self.making or self._looking or recorder.tape is not None
        if (
            busy
            or not (self._makers or self._unsent)
            or self._session.knowledge.state is not MirrorState.AGREES
        ):
            return
        self._looking = True
        try:
            self.send()
            for ref in self._makers:
                maker = ref()
                if maker is not None:
                    maker()
            self._makers = [ref for ref in self._makers if ref() is not None]
        finally:
            self._looking = False

    def make(self, make: Callable[[], Any]) -> Made:
        """What `make` returns, whose tensors are uploaded from now on."""
        return Made(self._session, self, make)

    def cut(self, built: Builder, alone: bool) -> bool:
        """What is being made is more than one batch holds, or was read. Whether it was sent: `alone`, it may
        be sent beside others.
        """
        self._parts.append(built)
        if alone:
            self._session.send_beside(built)
        return alone

    def record(self, make: Callable[[], Any]) -> tuple[Any, list[Builder]]:
        """What `make` returns, and the steps that it recorded. They are sent at once, or when all bytes of
        large uploads are there.
        """
        session, recorder = self._session, self._recorder
        with session.lock:
            self.making = True
            try:
                session.ready()
                self._parts = parts = []
                script, batch = recorder.building, recorder.batch
                self.script, recorder.building, recorder.batch = script, Builder(), BatchState.NARROW
                try:
                    data = make()
                finally:
                    built, recorder.building, recorder.batch = recorder.building, script, batch
                    self.script = None
                    built.mend()
                    self._unsent.append(built)
                    parts.append(built)
            finally:
                self.making = False
            if all(isinstance(upload, np.ndarray) for upload in built.uploads):
                self.send(built)
            return data, parts

    def send(self, only: Builder | None = None) -> None:
        """Send what was made, also for those who will not take it: it is freed then."""
        with self._session.lock:
            for built in [*self._unsent] if only is None else [only]:
                if built not in self._unsent:
                    continue
                self._unsent.remove(built)
                try:
                    self._session.send_beside(built)
                except (GraddError, RuntimeError) as error:
                    _lose(built, error)  # it is made again where it is taken, and refused there
                except BaseException:
                    _lose(built, GraddError("the upload of this tensor was interrupted"))
                    raise


class Made:
    """Data that was made ahead."""

    def __init__(self, session: AheadHost, ahead: Ahead, make: Callable[[], Any]) -> None:
        self._session, self._ahead, self._make = session, ahead, make
        self.data: Any = None
        self._parts: list[Builder] | None = None
        with contextlib.suppress(Exception):  # it is raised where it is taken
            self.data, self._parts = ahead.record(make)

    def take(self, session: AheadHost) -> Any:
        """The data. What could not be made ahead, or was lost since, is made now: an error of that comes
        here.
        """
        parts = self._parts
        if parts is None or session is not self._session:
            return self._make()
        self._ahead.send(parts[-1])
        return self._make() if any(_lost(ref) for built in parts for ref in built.outputs) else self.data


def _lose(built: Builder, error: Exception) -> None:
    """None of its tensors came to be."""
    for ref in built.outputs:
        t: Any = None if ref is None else ref()
        if t is not None:
            t._lost = error


def _lost(ref: weakref.ref[Tensor] | None) -> bool:
    t: Any = None if ref is None else ref()
    return t is not None and t._lost is not None
