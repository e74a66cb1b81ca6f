"""The audit log: who was refused, and who changed what; and at level `debug` the log of all requests and
batches. One line each in the daemon's log.

No tensor's data, no body and no key is in it: a key stands there by its id.
"""

from __future__ import annotations

import logging
from typing import Any

from starlette.types import Scope

from gradd_server.keyring import ANYONE
from gradd_server.keys import Key

logger = logging.getLogger("gradd.audit")
requests = logging.getLogger("gradd.requests")

ROUTE_CHARS = 256
READS = frozenset({"GET", "HEAD", "OPTIONS"})


def request(scope: Scope, status: int, seconds: float) -> None:
    """Note a request that was refused for who asked, or that was to change something; and any in the log of
    requests, with the `seconds` that it took.
    """
    if requests.isEnabledFor(logging.DEBUG):
        members = {**who(scope), "status": status, "ms": round(1e3 * seconds, 3)}
        requests.debug("%s %d", members["route"], status, extra={"members": members})
    if status in (401, 403):
        _note("refused", scope, status=status)
    elif scope["type"] == "http" and scope["method"] not in READS and scope.get("key") is not None:
        _note("changed", scope, status=status, bytes=_length(scope))


def stream(what: str, scope: Scope, **members: Any) -> None:
    """Note that a stream was opened, or ended: its batches are counted, not listed."""
    _note(f"stream {what}", scope, **members)


def shared(scope: Scope, share: str, hours: int) -> None:
    """Note that a session is shared, for so many hours."""
    _note("shared", scope, share=share, hours=hours)


def _note(what: str, scope: Scope, **members: Any) -> None:
    if not logger.isEnabledFor(logging.INFO):
        return
    if scope.get("key") is ANYONE:
        return
    logger.info("%s", what, extra={"members": {"audit": what, **who(scope), **members}})


def batch(scope: Scope, id: dict[str, str], status: int, nbytes: int, seconds: float) -> None:
    """Note a batch of a stream in the log of requests; `nbytes` are those of its frame."""
    members = {**who(scope), **id, "status": status, "ms": round(1e3 * seconds, 3), "bytes": nbytes}
    requests.debug("batch %s %d", id.get("batch"), status, extra={"members": members})


def who(scope: Scope) -> dict[str, Any]:
    """Whose request it is, and what for."""
    key: Key | None = scope.get("key")
    client = scope.get("client")
    return {
        "request_id": scope.get("request_id"),
        "client": client[0] if client else None,
        "tenant": key.tenant if key else None,
        "key": key.id if key else None,
        "session": scope.get("path_params", {}).get("name"),
        "route": f"{scope.get('method', 'STREAM')} {scope['path'][:ROUTE_CHARS]}",
    }


def _length(scope: Scope) -> int | None:
    """Bytes of the request's body, where it said so before it came."""
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), None)
