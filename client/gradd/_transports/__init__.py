"""How frames travel: `stream` (WebSocket, the default), `http` (a PUT a batch), `local` (this process).

Each is imported when the first session uses it.
"""

from __future__ import annotations

from .base import Dropped, Silent, Transport
from .waits import CLOSE, patience

__all__ = ["CLOSE", "Dropped", "Silent", "Transport", "abandon", "make", "patience", "revive"]


def make(url: str, session: str, transport: str, token: str | None) -> Transport:
    """The transport for a URL: ``local:`` runs the session in this process, http(s) URLs name a daemon.

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


def revive() -> None:
    """In a forked child: sessions of this process go on, on a thread of the child."""
    from . import local

    local.revive()


def abandon() -> None:
    """The process ends: give up what sessions of this process still compute."""
    from . import local

    local.abandon()
