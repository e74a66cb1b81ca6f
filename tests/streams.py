"""Whether a session's random stream is where its client takes it to be."""

from __future__ import annotations

import sys
from typing import Any

import gradd
from gradd import Session
from gradd_engine.data import ambient


def agrees(session: Any) -> bool:
    """Whether the session draws next what its client tells; True if it can tell nothing."""
    if session.stream.place is None:
        return True
    with ambient(backend=session.backend), gradd.no_grad():
        t = gradd.randint(1 << 40, (2,))
        told = t.tolist()
        # a step of its own, whose values only the session has
        return bool(gradd.stack([t, t])[0].tolist() == told)


def check_all() -> None:
    """Ask each session for that before it is closed."""
    close = Session.close

    def checked(self: Any) -> None:
        if not self.away and self.wire.unseen is None and sys.exc_info()[0] is None:
            assert agrees(self), f"the stream is not at {self.stream.place}"
        close(self)

    Session.close = checked  # type: ignore[method-assign]
