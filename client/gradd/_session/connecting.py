"""`connect`, and which session is current."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gradd_engine.data import dtypes
from gradd_engine.data.state import set_tf32, state
from gradd_protocol.messages import SnapshotInfo

from .._wire import patience, seconds_of
from .managing import manage
from .session import SESSIONS, Session

if TYPE_CHECKING:
    from gradd_engine.data import Device, DType


def connect(
    url: str | None = None, session: str | None = None, token: str | None = None, transport: str = "stream",
    reconnect: float | None = None, from_snapshot: SnapshotInfo | str | os.PathLike[str] | None = None,
    timeout: float | None = None, device: str | Device | None = None,
) -> Session:  # fmt: skip
    """Connect to a session and make it current (also a context manager).

    `url`: default GRADD_URL, else ``local:`` (in this process); a daemon with several fronts has as many
    addresses, with commas between them, of which the first that answers is taken. `session`: its name;
    without one it is anonymous and ends at close(). `token`: an API key, default GRADD_API_KEY; the user who
    runs the daemon needs none on its machine. `transport`: "stream" (WebSocket) or "http". `reconnect`:
    seconds for which a daemon that went away is tried again, default GRADD_RECONNECT, else 300.
    `from_snapshot`: begin a new session, which needs a name, with what another one's names held: a file that
    `Session.snapshot` wrote, or what it returned. `timeout`: seconds for which the answer to one batch or
    request is waited for, default None, for ever; then TimedOut is raised, what was sent is called off, and
    the session goes on. `device`: the daemon's device that the session is to be on, as ``cuda:1``; by
    default, of several GPUs, the one with most memory left. Raises ConnectionFailed if no daemon answers,
    NotAllowed if it refuses the key, ServerError for a file that is no sound snapshot, a session that exists
    or is on another device, and a device that the daemon does not have.
    """
    made = opened(url, session, token, transport, reconnect, from_snapshot, timeout, device)
    SESSIONS.make_default(made)
    return made


def address(url: str | None) -> str:
    """The URL that was given, or where there is none, the default."""
    return url or os.environ.get("GRADD_URL") or "local:"


def opened(
    url: str | None, session: str | None, token: str | None, transport: str, reconnect: float | None,
    from_snapshot: SnapshotInfo | str | os.PathLike[str] | None, timeout: float | None,
    device: str | Device | None = None,
) -> Session:  # fmt: skip
    """See `connect`; the session is current nowhere."""
    url = address(url)
    token = token or os.environ.get("GRADD_API_KEY")
    timeout = seconds_of(timeout)
    if from_snapshot is not None:
        if session is None:
            raise ValueError("a session that begins at a snapshot needs a name: connect(..., session=...)")
        if device is not None:
            raise ValueError("a session that begins at a snapshot takes no device: it goes where room is")
        at = from_snapshot if isinstance(from_snapshot, SnapshotInfo) else Path(from_snapshot)
        with patience(timeout, lambda: False):
            manage(url, session, token, lambda transport: transport.snapshots.begin(at))
    where = None if device is None else str(device)
    return Session(url, session, transport, token, reconnect, timeout, where)


def delete_session(session: str, url: str | None = None, token: str | None = None) -> None:
    """End the session of that name, also a lost one; not an error if there is none. `url` and `token` as in
    `connect`. Raises ConnectionFailed if no daemon answers.
    """
    url = address(url)
    token = token or os.environ.get("GRADD_API_KEY")
    manage(url, session, token, lambda transport: transport.delete())


def current() -> Session:
    """The session of new tensors: the innermost with-block's, else the last connected, else a new one from
    `connect()`.
    """
    return SESSIONS.innermost() or connect()


def set_default_dtype(dtype: DType) -> None:
    """Set the floating dtype of Python floats and of promoted integers, for all sessions of this process
    (torch.set_default_dtype). TypeError for anything else.
    """
    _flush()
    dtypes.set_default_dtype(dtype)


def allow_tf32(allowed: bool) -> None:
    """Let GPUs round the operands of products of float32 to TF32, in all sessions of this process, or not."""
    if allowed is not state.tf32:
        _flush()
        set_tf32(allowed)


def _flush() -> None:
    """Send what all threads recorded: a program has only one default dtype, and only one precision."""
    for session in SESSIONS.all():
        with session.lock:
            for recorder in list(session.recorders):
                if recorder.building.steps:
                    recorder.flush()
