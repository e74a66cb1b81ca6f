"""Reading values: from a reply that already has them, else with a batch."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT

from .._exceptions import ServerError
from .._program import covers, deduce, part_of
from .._wire import Known
from .agreement import Agreeing

if TYPE_CHECKING:
    from .._recording import Recorder
    from .._wire import Fetch

#: bytes of a tensor that is brought whole for a part of it, at once and at most
_SMALL, _LARGE = 1 << 12, 1 << 22
#: numbers brought along with one
_ALIKE = 1024


def _holds(t: Any) -> bool:
    found: Fetch | Known | None = t._fetch
    return found is not None and found.holds(t)


def _whole(t: Any) -> Any:
    """The tensor that `t` is a part of, if the server has it and it has t's values; else None."""
    for whole in (t._whole, t._base):
        if (
            whole is not None
            and whole._lost is None
            and (whole._id is not None or whole._out is not None)
            and whole._storage is t._storage
            and not whole._storage.aliased
            and covers(whole, t)
        ):
            return whole
    return None


def _worth(whole: Any) -> bool:
    """Whether to bring all of a tensor of which a part is read: the larger it is, the more often."""
    limit = _SMALL << 2 * min(whole._asked, 8)
    whole._asked += 1
    return bool(whole.nbytes <= min(limit, _LARGE))


class Fetching(Agreeing):
    """A session whose tensors have values."""

    #: the number of steps sent when a number was last read without one
    _read_at = -1

    def read(self, t: Any) -> np.ndarray[Any, Any]:
        """The current values of a tensor: from a reply that already has them, else with a batch."""
        with self.lock:
            recorder = self.ready()
            recorder.trail.peeked = True
            near = self._nearby(t, recorder)
            if near is not None:
                return near
            if recorder.tape is not None:
                recorder.tape.spoil("it reads a value")
            while True:
                found: Fetch | Known | None = t._fetch
                if found is None or not found.holds(t):
                    found = self._ask(t, recorder)
                elif isinstance(found, Known):
                    if self.sharing.taken:
                        self.sharing.check()
                    return np.asarray(found.array)
                sent = found.sent
                if found.slot is not None:
                    sent.read.add(found.slot)
                if not sent.answered and recorder.ahead is not None:
                    recorder.ahead.look()
                self.wire.wait(sent)
                self.check(sent)
                if sent.failed:
                    self.refuse_lost(t)
                value = self._value(found)
                if value is not None:
                    return value
                t._fetch = None

    def begin_read(self, t: Any) -> tuple[np.ndarray[Any, Any] | None, Any, Fetch | Known | None]:
        """As `read`, but waiting for nothing: the values, if they can be told; else a tensor that has them
        (`t` or one that it is a part of), and what brings them.
        """
        recorder = self.recorder()
        if recorder.tape is not None:
            recorder.tape.spoil("it reads a value")
        source = t
        if not _holds(t):
            whole = _whole(t)
            if whole is not None and (_holds(whole) or _worth(whole)):
                source = whole
            elif (values := deduce(recorder.building, t, self._at_hand)) is not None:
                return values, t, None
        found: Fetch | Known | None = source._fetch
        if found is None or not found.holds(source):
            found = self._ask(source, recorder)
        if self.sharing.taken:
            self.sharing.check()
        if found.slot is not None:
            found.sent.read.add(found.slot)
        return None, source, found

    def end_read(self, t: Any, found: Fetch) -> np.ndarray[Any, Any]:
        """The values of what `begin_read` found, which was answered."""
        with self.lock:
            self.check(found.sent)
            if found.sent.failed:
                self.refuse_lost(t)
            values = self._value(found)
        return self.read(t) if values is None else values

    def _at_hand(self, t: Any) -> np.ndarray[Any, Any] | None:
        """As `_here`, but of what was answered."""
        for each in (t, _whole(t)):
            found = None if each is None else each._fetch
            if found is not None and (isinstance(found, Known) or found.sent.answered):
                return self._here(t)
        return None

    def _nearby(self, t: Any, recorder: Recorder) -> np.ndarray[Any, Any] | None:
        """The values of `t`, unless they are here themselves or have to be asked for alone: from a tensor
        that it is a part of, or deduced from values that are here.
        """
        # What a traced function reads ends the trace, wherever it comes from.
        if recorder.tape is not None or _holds(t):
            return None
        whole = _whole(t)
        if whole is not None and (_holds(whole) or _worth(whole)):
            values = self.read(whole)
            if whole._fetch is not None and whole._fetch.array is None:
                whole._fetch.array = values
            return part_of(whole, values, t)
        return deduce(recorder.building, t, self._here)

    def has(self, t: Any) -> bool:
        """Whether `read` waits for nothing. It may have found the values out."""
        with self.lock:
            self.ready()
            found: Fetch | Known | None = t._fetch
            if found is not None and found.holds(t):
                return isinstance(found, Known) or found.sent.answered
            whole = _whole(t)
            if whole is not None:
                return _holds(whole)
            return deduce(self.recorder().building, t, self._here) is not None

    def _here(self, t: Any) -> np.ndarray[Any, Any] | None:
        """The values of a small tensor, if nothing needs to be sent for them."""
        if t.nbytes <= _SMALL:
            if _holds(t):
                return self.read(t)
            whole = _whole(t)
            if whole is not None and _holds(whole):
                return part_of(whole, self.read(whole), t)
        return None

    def ask_for(self, tensors: list[Any]) -> None:
        """Send for the values of several tensors at once; `read` then finds them in one reply."""
        with self.lock:
            recorder = self.ready()
            for t in tensors:
                recorder.settle(t)
            there = [t for t in tensors if t._out is not None or t._id is not None]
            recorder.flush([t for t in there if t._fetch is None or not t._fetch.holds(t)])

    def _ask(self, t: Any, recorder: Recorder) -> Fetch:
        """Send what is recorded, and fetch `t`."""
        latest = self.outbox.latest
        recorder.settle(t)
        if t._out is None:
            if t._id is None:
                self.check()
                self.refuse_lost(t)
            if latest is not None:
                latest.note_read(t)
        recorder.flush([t, *self._alike(t, recorder)])
        found: Fetch = t._fetch
        return found

    def _alike(self, t: Any, recorder: Recorder) -> list[Any]:
        """The session's other numbers like `t`, if the script reads number after number and computes nothing
        between.
        """
        if t._shape or recorder.building.steps:
            self._read_at = -1
            return []
        steps = self.wire.counts["steps"]
        again, self._read_at = steps == self._read_at, steps
        if not again or len(self.recorders) > 1:
            return []
        others = (x for _, x in self.live.items() if not x.shape and x.dtype is t.dtype and x is not t)
        return list(islice((x for x in others if x._lost is None and not _holds(x)), _ALIKE))

    def _value(self, found: Fetch) -> np.ndarray[Any, Any] | None:
        """The array of an answered fetch; None if it must be fetched again."""
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
