"""Transports: `stream` (WebSocket, the default), `http` (a PUT per batch), `local` (this process).

Each is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_protocol import advice

from .base import PROXIES, Dropped, Member, Overdue, Silent, Transport
from .tracing import trace_headers
from .waits import CLOSE, CLOSING, left, reconnect, silence, within

if TYPE_CHECKING:
    from .._exceptions import ConnectionFailed

__all__ = [
    "CLOSE", "CLOSING", "PROXIES", "Dropped", "Member", "Overdue", "Silent", "Transport", "abandon", "left",
    "make", "prepare_local", "reconnect", "revive", "silence", "trace_headers", "unreachable", "within",
]  # fmt: skip


def make(url: str, session: str, transport: str, token: str | None) -> Transport:
    """The transport for a URL: ``local:`` for a session in this process, or a daemon's http(s) URL, or with
    commas those of its fronts.

    `transport` is "stream" or "http"; ValueError for anything else.
    """
    if transport not in ("stream", "http"):
        raise ValueError(f"transport must be 'stream' or 'http', not {transport!r}")
    if url == "local:":
        from .local import LocalTransport

        return LocalTransport(session)
    if advice.mistake(url):
        raise ValueError(f"{advice.mistake(url)}, or local: for a session in this process")
    if transport == "http":
        from .http import HttpTransport

        return HttpTransport(url, session, token)
    from .stream import StreamTransport

    return StreamTransport(url, session, token)


def unreachable(url: str, error: BaseException) -> ConnectionFailed:
    """The error where no daemon answers at `url`, which says what to do; `error` is what was raised."""
    from .reaching import unreachable

    return unreachable(url, error)


def prepare_local() -> None:
    """Import what local sessions need, so that forked children need not."""
    from . import local

    local.prepare()


def revive() -> None:
    """In a forked child: continue local sessions on a thread of the child."""
    from . import local

    local.revive()


def abandon() -> None:
    """At the end of the process: abandon the work of local sessions."""
    from . import local

    local.abandon()
