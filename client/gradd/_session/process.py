"""Handles forks and the end of the process."""

from __future__ import annotations

import atexit
import os
import sys
import traceback

from .._exceptions import ConnectionFailed
from .._transports import abandon, revive
from .connecting import connect
from .session import SESSIONS, Session

_forking: list[Session] = []


def _before_fork() -> None:
    for s in SESSIONS.all():
        _forking.append(s)
        s.before_fork()


def _in_parent() -> None:
    while _forking:
        _forking.pop().lock.release()


def _in_child() -> None:
    revive()
    while _forking:
        _forking.pop().forked()


def begin_alone() -> None:
    """In a worker process: new tensors are of a session in this process, whatever the parent's are of."""
    SESSIONS.forget()
    connect("local:")


def close_all() -> None:
    """Close every session, as at the end of the process; what goes wrong is printed."""
    # After Ctrl-C do not wait for a batch that may take minutes, even if the script caught it.
    interrupted = left = getattr(sys, "last_type", None) is KeyboardInterrupt
    for s in SESSIONS.all():
        s.wire.presence.hurry.begin()  # all of them together
    for s in SESSIONS.all():
        try:
            if (interrupted or s.wire.interrupted) and s.wire.busy:
                left = True
                s.abandon()
            else:
                s.close()
        except ConnectionFailed as e:
            print(f"gradd: session {s._name}: {e}", file=sys.stderr)
        except Exception as e:
            text = "".join(traceback.format_exception_only(e)).rstrip()
            print(f"gradd: session {s._name} ended with an error that nobody saw:\n{text}", file=sys.stderr)
    if left:
        abandon()


def watch() -> None:
    """Register the handlers, once."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
    atexit.register(close_all)
