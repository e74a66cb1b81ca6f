"""Batches in flight, and the values they fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.backends import NUMPY
from gradd_engine.backward import forget_look
from gradd_engine.data import Meta, RandomStream, ambient

if TYPE_CHECKING:
    from gradd_engine.schema import Op
    from gradd_protocol.messages import Batch, Result, TensorInfo

    from .._exceptions import Site
    from .._program import Builder, CachedProgram
    from .lost import Lost


class Fetch:
    """A value that a batch fetches: the index of its result, and how often the tensor had been written to."""

    __slots__ = ("array", "index", "mark", "pinned", "sent", "slot")

    def __init__(self, sent: Sent, index: int, t: Any, slot: int | None) -> None:
        self.sent = sent
        self.index = index
        self.mark = (t._vc.n, t._storage.writes)
        self.slot = slot
        self.array: Any = None
        self.pinned: str | None = None

    def holds(self, t: Any) -> bool:
        """Whether `t` still has the fetched value."""
        return self.mark == (t._vc.n, t._storage.writes) and not t._storage.aliased and not self.sent.failed


class Known:
    """The values that a tensor was made of, in a `Fetch`'s place: nothing was sent for them."""

    __slots__ = ("array", "mark")
    slot = pinned = None

    def __init__(self, t: Any, array: Any) -> None:
        self.mark = (t._vc.n, t._storage.writes)
        self.array = array

    def holds(self, t: Any) -> bool:
        """Whether `t` is as it was made, and only this writer can have written to it."""
        if t._storage.aliased or t._lost is not None or t._session.shared:
            return False
        return self.mark == (t._vc.n, t._storage.writes)


class KnownDraw(Known):
    """The values that a random step draws, made here when they are read."""

    __slots__ = ("_attrs", "_key", "_made", "_meta", "_op")

    def __init__(self, t: Any, op: Op, attrs: dict[str, Any], key: tuple[int, int]) -> None:
        self._made: Any = None
        self.mark = (t._vc.n, t._storage.writes)
        self._op, self._attrs, self._key, self._meta = op, attrs, key, Meta(tuple(t.shape), t.dtype)

    @property
    def array(self) -> Any:
        """The values."""
        if self._made is None:
            stream = RandomStream(self._key[0])
            stream.step = self._key[1]
            with ambient(generator=stream):
                (t,) = NUMPY.run(self._op, (self._meta,), (), self._attrs)
            self._made = NUMPY.to_numpy(t)
        return self._made


class Sent:
    """A sent batch: what is needed to send it again, and to handle its reply."""

    __slots__ = (
        "answered", "beside", "buffers", "built", "counted", "failed", "fetches", "message", "program",
        "read", "size", "state",
    )  # fmt: skip

    def __init__(
        self, message: Batch, program: CachedProgram, buffers: list[Any], built: Builder,
        beside: bool = False,
    ) -> None:  # fmt: skip
        self.message = message
        self.program = program
        self.buffers = buffers
        self.built: Builder | None = built
        #: whether it only makes tensors that no other batch in flight knows
        self.beside = beside
        self.fetches: list[Fetch] = []
        #: output slots whose values were read before the next batch was sent
        self.read: set[int] = set()
        self.state: list[TensorInfo | None] = []
        self.size = 0
        self.answered = self.counted = self.failed = False

    def spell_out(self, sites: bool) -> None:
        """Include the program in the message from now on, and with `sites` the lines of its steps."""
        program = self.program
        told = program.sites if sites else None
        self.message = msgspec.structs.replace(self.message, definition=program.definition, sites=told)

    def where(self, step: int | None) -> tuple[Site | None, str | None]:
        """The call site and op of a step, if known."""
        built = self.built
        if built is None or step is None or not 0 <= step < len(built.steps):
            return None, None
        return built.sites[step], built.steps[step].op

    def ends_at(self, step: int | None) -> bool:
        """Whether that step is the last."""
        return self.built is not None and step == len(self.built.steps) - 1

    def deliver(self, results: list[Result], arrays: list[Any]) -> None:
        """Pass the results to their fetches."""
        for f in self.fetches:
            r = results[f.index]
            if r.buffer is not None:
                f.array = arrays[r.buffer]
            f.pinned = r.pinned

    def lose(self, applied: int, error: Exception, lost: Lost) -> None:
        """Mark the outputs of steps that did not run as lost; `lost` takes note of the steps."""
        self.failed = True
        if self.built is not None:
            lose(self.built, applied, error, lost)

    def done(self) -> None:
        """It is answered, or never will be: it is not sent again."""
        self.answered = True
        self.buffers = []

    def note_read(self, t: Any) -> None:
        """Note that a value was read right after this program, to fetch it along the next time."""
        if self.built is not None:
            self.read.update(k for k, ref in enumerate(self.built.outputs) if ref is not None and ref() is t)

    def forget(self) -> None:
        """Drop the recorded steps, once call sites and reads are no longer needed."""
        self.built = None


def lose(built: Builder, applied: int, error: Exception, lost: Lost) -> None:
    """Mark the outputs of steps that did not run as lost; `lost` takes note of the steps."""
    if applied >= len(built):
        return
    lost.add(built, applied, error)
    for ref in built.outputs[built.first_output(applied) :]:
        t: Any = ref() if ref is not None else None
        if t is not None:
            t._lost = error
            forget_look(t)
