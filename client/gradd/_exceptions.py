"""The SDK's exceptions besides PyTorch's, with the common base `GraddError`."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

from gradd_engine.ops.linalg.linalg_common import LinAlgError
from gradd_protocol.messages import ProblemReply
from gradd_protocol.version import VERSION

if TYPE_CHECKING:
    from types import CodeType

    from gradd_protocol.messages import Reply
    from gradd_protocol.problems import Problem


class GraddError(Exception):
    """Base of the SDK's own errors."""


class ConnectionFailed(GraddError, ConnectionError):
    """The daemon cannot be reached, or the connection was lost and not restored."""


class TimedOut(GraddError, TimeoutError):
    """The daemon did not answer within the `timeout` of `connect`. What was sent by then is called off."""


class NotAllowed(GraddError, PermissionError):
    """The daemon does not know who asks, or does not let them. ``problem`` has the details (RFC 9457)."""

    problem: Problem

    @classmethod
    def of(cls, problem: Problem) -> NotAllowed:
        """The error of that problem, which says what to do."""
        # No __init__ of its own: an OSError that has one cannot be copied as `copy_of` does.
        made = cls(f"{problem.detail or problem.title}. {_HELP.get(problem.slug, '')}".rstrip())
        made.problem = problem
        return made


_HELP = {
    "unauthenticated": "Set GRADD_API_KEY, or pass token= to connect(): `gradd keys create`, run where the "
    "daemon runs, prints a key. The user who runs the daemon needs none on that machine.",
    **dict.fromkeys(
        ("malformed-frame", "op-not-found"),
        f"This is gradd {VERSION}; a daemon of another version may not know what it sends: `gradd doctor` "
        "compares them.",
    ),
}


class SessionLost(GraddError):
    """The session is gone: deleted, ended, taken over by another writer, or lost when its daemon
    restarted.
    """


class SessionClosed(GraddError):
    """The session was closed by this process."""


class ServerError(GraddError):
    """The server refused for a reason other than an operation's error. ``problem``: the details (RFC
    9457).
    """

    def __init__(self, problem: Problem) -> None:
        said = f"{problem.title}: {problem.detail}" if problem.detail else problem.title
        super().__init__(f"{said}. {_HELP[problem.slug]}" if problem.slug in _HELP else said)
        self.problem = problem


class LostWriteWarning(UserWarning):
    """A write to a tensor or an array that the other does not see: they share memory in PyTorch, not here."""


class RecordedHere(GraddError):
    """The cause of an error from the server: where the failing operation was recorded."""


class OutOfMemoryError(RuntimeError):
    """The session may not hold as much, or its daemon has not as much (torch.OutOfMemoryError)."""


class AcceleratorError(RuntimeError):
    """PyTorch's error for a device that failed (torch.AcceleratorError); here that is a `SessionLost`."""


def copy_of(error: Exception) -> Exception:
    """A copy to raise of a stored error: a raised one keeps its frames alive, with every tensor in them."""
    made: Exception = error.__class__.__new__(error.__class__, *error.args)
    made.__dict__.update(error.__dict__)
    if "__notes__" in made.__dict__:
        made.__notes__ = [*made.__notes__]
    made.__cause__ = error.__cause__
    return made


Site = tuple["CodeType", int]


def line_of(site: Site) -> tuple[str, int]:
    """File and line of a call site."""
    code, last = site
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= last < end and number is not None:
            line = number
    return code.co_filename, line


_CLASSES: dict[str, type[Exception]] = {
    c.__name__: c
    for c in (
        RuntimeError,
        TypeError,
        ValueError,
        IndexError,
        NotImplementedError,
        ZeroDivisionError,
        OverflowError,
        LinAlgError,
    )
}


#: problems that say that the session is not there any more, and what they mean to its client
_LOST = {
    "session-not-found": ": it was deleted or has ended, or its daemon was started again and had kept "
    "nothing of it (an anonymous session, or durability memory)",
    "writer-fenced": ": another client acquired the session, or deleted it and made one of the same name",
    "writer-unknown": ": it is another session of the same name",
    "device-lost": "",
}


def error_of(problem: Problem, site: Site | None, op: str | None) -> Exception:
    """The exception of a problem; for a failed step with PyTorch's class and message, and the user's line as
    its cause.
    """
    if problem.exception is None:
        hint = _LOST.get(problem.slug)
        if hint is not None and problem.retry_after is None:
            return SessionLost(f"{problem.detail or problem.title}{hint}")
        if problem.slug in ("unauthenticated", "forbidden", "read-only"):
            return NotAllowed.of(problem)
        error: Exception = ServerError(problem)
    else:
        kind = OutOfMemoryError if problem.slug == "quota-exceeded" else _CLASSES.get(problem.exception)
        error = (kind or RuntimeError)(problem.detail)
        if problem.node is not None:
            error.visited = problem.node  # type: ignore[attr-defined]
    if site is not None:
        path, line = line_of(site)
        text = linecache.getline(path, line).strip()
        where = f'File "{path}", line {line}' + (f"\n    {text}" if text else "")
        error.__cause__ = RecordedHere(f"{op or 'the operation'} was recorded here:\n  {where}")
        error.add_note(f"recorded at {path}:{line}")
    return error


def answered(answer: tuple[Reply, list[Any]]) -> tuple[Reply, list[Any]]:
    """An answer itself; a refusal is raised."""
    if isinstance(answer[0], ProblemReply):
        raise error_of(answer[0].problem, None, None)
    return answer
