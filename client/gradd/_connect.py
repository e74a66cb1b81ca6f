"""`connect`, the current session, and what happens to sessions at fork and at exit."""

from __future__ import annotations

import atexit
import os
import sys
import traceback
from typing import TYPE_CHECKING

from gradd_engine.data import dtypes
from gradd_protocol import names

from . import _registry, _transports
from ._exceptions import ConnectionFailed
from ._session import Session
from ._transports.base import Dropped

if TYPE_CHECKING:
    from gradd_engine.data import DType


def connect(
    url: str | None = None, session: str | None = None, token: str | None = None, transport: str = "stream"
) -> Session:
    """Connect to a session and make it current (also a context manager).

    `url`: argument, else GRADD_URL, else ``local:`` (in this process). `session`: its name; without one it is
    anonymous and ends at close(). `transport`: "stream" (WebSocket) or "http". Raises ConnectionFailed where
    no daemon answers.
    """
    made = Session(
        url or os.environ.get("GRADD_URL") or "local:",
        session,
        transport,
        token or os.environ.get("GRADD_TOKEN"),
    )
    _registry.make_default(made)
    return made


def delete_session(session: str, url: str | None = None, token: str | None = None) -> None:
    """End the session of that name with all it holds, also one that was lost. A missing one is as good as
    deleted. `url` and `token` as of `connect`. Raises ConnectionFailed where no daemon answers.
    """
    url = url or os.environ.get("GRADD_URL") or "local:"
    transport = _transports.make(url, names.session(session), "http", token or os.environ.get("GRADD_TOKEN"))
    try:
        transport.delete()
    except Dropped as e:
        raise ConnectionFailed(f"no gradd daemon answers at {url}: {e}") from e
    finally:
        transport.close()


def current() -> Session:
    """The session new tensors go to: the innermost with-block's, else the last connected, else one by
    `connect()`'s rule.
    """
    return _registry.innermost() or connect()


def set_default_dtype(dtype: DType) -> None:
    """Make `dtype`, a floating one, what Python floats become and integers are promoted to, for all sessions
    of this process (torch.set_default_dtype). TypeError for anything else.
    """
    for session in _registry.all_sessions():
        with session.lock:
            for recorder in list(session.recorders):
                if recorder.building.steps:
                    # A program has one default, that which its steps were recorded under.
                    recorder.flush()
    dtypes.set_default_dtype(dtype)


_forking: list[Session] = []


def _before_fork() -> None:
    for s in _registry.all_sessions():
        _forking.append(s)
        s.before_fork()


def _in_parent() -> None:
    while _forking:
        _forking.pop().lock.release()


def _in_child() -> None:
    from ._transports import local

    local.revive()
    while _forking:
        _forking.pop().forked()


def _at_exit() -> None:
    # Who pressed Ctrl-C does not wait for a batch that may take minutes, whether the script caught it or not.
    interrupted = left = getattr(sys, "last_type", None) is KeyboardInterrupt
    for s in _registry.all_sessions():
        try:
            if (interrupted or s.wire.interrupted) and s.wire.busy:
                left = True
                s.abandon()
            else:
                s.close()
        except ConnectionFailed as e:
            print(f"gradd: session {s.name}: {e}", file=sys.stderr)
        except Exception as e:
            text = "".join(traceback.format_exception_only(e)).rstrip()
            print(f"gradd: session {s.name} ended with an error that nobody saw:\n{text}", file=sys.stderr)
    if left:
        from ._transports import local

        local.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
atexit.register(_at_exit)
