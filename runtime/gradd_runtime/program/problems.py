"""Problems from PyTorch's exceptions in steps, quotas, and bugs in the engine."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from gradd_engine.data import Halted, OutOfQuota
from gradd_engine.graph import TooMuchWork
from gradd_engine.ops.index.dynamic import ShapeDependsOnValuesError
from gradd_protocol.problems import Problem, ProtocolError, problem

_log = logging.getLogger("gradd.runtime")


def class_of(error: BaseException) -> str:
    """The name that an exception's class has in PyTorch."""
    private = isinstance(error, ShapeDependsOnValuesError)
    return RuntimeError.__name__ if private else type(error).__name__


def over_quota(error: OutOfQuota | MemoryError, **members: Any) -> Problem:
    """The problem of exceeding the session's memory."""
    if isinstance(error, OutOfQuota):
        members |= {"requested": error.requested, "used": error.used, "limit": error.limit}
        if error.whose != "session":
            members["whose"] = error.whose
        if error.what != "bytes":
            members["what"] = error.what
    return problem("quota-exceeded", str(error) or "out of memory", exception="RuntimeError", **members)


def op_failed(error: BaseException, step: int | None, applied: int) -> Problem:
    """The problem of a step that raised: PyTorch's class and message. `step`: None where it is not known."""
    if isinstance(error, ProtocolError):
        return error.problem
    if isinstance(error, (OutOfQuota, MemoryError)):
        return over_quota(error, step=step, applied=applied)
    if isinstance(error, TooMuchWork):
        return problem(
            "work-exceeded",
            str(error),
            exception="RuntimeError",
            step=step,
            applied=applied,
            requested=min(error.requested, (1 << 63) - 1),
            limit=error.limit,
        )
    return problem(
        "op-failed",
        str(error),
        exception=class_of(error),
        step=step,
        applied=applied,
        node=getattr(error, "visited", None),
    )


def halted(stop: Halted, step: int | None, applied: int) -> Problem:
    """The problem of a run that was asked to stop, with the place where it did."""
    asked: Problem = stop.reason
    return msgspec.structs.replace(asked, step=step, applied=applied)


def invalid(step: int, detail: str, **members: Any) -> ProtocolError:
    """invalid-op (422) at a step."""
    return ProtocolError.of("invalid-op", detail, step=step, **members)


def broken(session: str, error: Exception) -> Problem:
    """The problem of an unexpected exception; the log has the details."""
    if isinstance(error, MemoryError):
        return problem("quota-exceeded", str(error) or "out of memory", exception="RuntimeError")
    _log.error("session %s failed on a batch", session, exc_info=error)
    return problem("internal", "the engine failed on this batch")
