"""Problems as frames, when there is no session to reply."""

from __future__ import annotations

from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.problems import Problem, ProtocolError, problem


def refusal(error: ProtocolError) -> bytes:
    """A problem as a frame."""
    return frames.join(frames.encode(m.ProblemReply(error.problem)))


def unknown(name: str) -> bytes:
    """The reply to a frame for an unknown session."""
    return refusal(ProtocolError.of("session-not-found", f"there is no session {names.own(name)!r}"))


def deleted() -> Problem:
    """Why batches stop whose session is deleted."""
    return problem("cancelled", "the session was deleted")


def failed(why: object) -> bytes:
    """The reply to a frame where the device has failed, of a process that nobody starts again."""
    return refusal(
        ProtocolError.of(
            "device-lost",
            f"{why}. Sessions run in this process itself, which cannot use the GPU any more: start it again. "
            "Sessions that are kept are then as they were before this batch; others are gone",
        )
    )


def recovering(name: str = "") -> bytes:
    """The reply to a frame whose engine process ended, where the session is made again from its store."""
    which = f"session {names.own(name)!r}" if name else "the session"
    return refusal(
        ProtocolError.of(
            "recovering",
            f"the engine process of {which} ended; {which} is made again from its store",
            retry_after=1,
        )
    )
