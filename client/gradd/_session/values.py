"""Reading values: from a reply that already has them, else with a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT

from .._exceptions import ServerError
from .agreement import Agreeing

if TYPE_CHECKING:
    from .._wire import Fetch


class Fetching(Agreeing):
    """A session whose tensors have values."""

    def read(self, t: Any) -> np.ndarray[Any, Any]:
        """The current values of a tensor: from a reply that already has them, else with a batch."""
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

    def ask_for(self, tensors: list[Any]) -> None:
        """Send for the values of several tensors at once; `read` then finds them in one reply."""
        with self.lock:
            self.ready()
            recorder = self.recorder()
            for t in tensors:
                recorder.settle(t)
            there = [t for t in tensors if t._out is not None or t._id is not None]
            recorder.flush([t for t in there if t._fetch is None or not t._fetch.holds(t)])

    def _ask(self, t: Any) -> Fetch:
        """Send what is recorded, and fetch `t`."""
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
