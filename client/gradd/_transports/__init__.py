"""Transports: `stream` (WebSocket, the default), `http` (a PUT per batch), `local` (this process).

Each is imported on first use.
"""

from __future__ import annotations

from .base import Dropped, Overdue, Silent, Transport
from .waits import CLOSE, CLOSING, left, reconnect, silence, within

__all__ = [
    "CLOSE", "CLOSING", "Dropped", "Overdue", "Silent", "Transport", "abandon", "left", "make",
    "prepare_local", "reconnect", "revive", "silence", "within",
]  # fmt: skip


def make(url: str, session: str, transport: str, token: str | None) -> Transport:
    """The transport for a URL: ``local:`` for a session in this process, or a daemon's http(s) URL.

    `transport` is "stream" or "http"; ValueError for anything else.
    """
    if transport not in ("stream", "http"):
        raise ValueError(f"transport must be 'stream' or 'http', not {transport!r}")
    if url == "local:":
        from .local import LocalTransport

        return LocalTransport(session)
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"a url starts with http://, https:// or is local:, not {url!r}")
    if transport == "http":
        from .http import HttpTransport

        return HttpTransport(url, session, token)
    from .stream import StreamTransport

    return StreamTransport(url, session, token)


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
