"""Refusals as frames, for those who have no session to ask."""

from __future__ import annotations

import logging

from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.problems import Problem, ProtocolError, problem

_log = logging.getLogger("gradd.runtime")


def refusal(error: ProtocolError) -> bytes:
    """A problem as a frame."""
    return frames.join(frames.encode(m.ProblemReply(error.problem)))


def broken(session: str, error: Exception) -> Problem:
    """What to answer where running raised what it should not have; the log has the rest."""
    if isinstance(error, MemoryError):
        return problem("quota-exceeded", str(error) or "out of memory", exception="RuntimeError")
    _log.error("session %s failed on a batch", session, exc_info=error)
    return problem("internal", "the engine failed on this batch")


def unknown(name: str) -> bytes:
    """The reply to a frame for a session that is not there."""
    return refusal(ProtocolError.of("session-not-found", f"there is no session {name!r}"))
