"""Which pages in browsers may call the daemon: its own, and those of the origins that it allows (CORS).

A browser's own credentials, cookies for one, are never asked for: a page shows a key as every client does.
"""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Scope

from gradd_server.errors import Refused

ANY = "*"

METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
ASKED = (
    "Accept", "Authorization", "Content-Type", "Gradd-Ack", "Gradd-Dtype", "Gradd-Epoch",
    "Gradd-Requires-Grad", "Gradd-Shape", "Idempotency-Key", "If-None-Match", "Request-Timeout",
    "Traceparent",
)  # fmt: skip
"""Headers that a page may send."""
TOLD = (
    "Allow", "Content-Disposition", "ETag", "Gradd-Dtype", "Gradd-Extensions", "Gradd-Replayed",
    "Gradd-Shape", "Retry-After", "Server-Timing", "WWW-Authenticate", "X-Request-Id",
)  # fmt: skip
"""Headers that a page may read, beside those that it always may."""

PREFLIGHT = Response(
    status_code=204,
    headers={
        "access-control-allow-methods": ", ".join(METHODS),
        "access-control-allow-headers": ", ".join(ASKED),
        "access-control-max-age": "600",
    },
)
"""The answer to a browser that asks what a page may do. It is the same everywhere: what is there it does not
tell.
"""


class Origins:
    """Those that are allowed beside the daemon's own, in lower case; `*` for any. Where none is, there is no
    CORS: not a header of it.
    """

    def __init__(self, allowed: frozenset[str]) -> None:
        self._allowed = allowed

    def check(self, said: list[bytes], own: bytes) -> str | None:
        """The origin of the page that asks, by its Origin headers; None for one of the daemon's `own` and for
        a request of no page. Raises Refused (403) for any other.
        """
        if all(origin.lower() == own for origin in said):
            return None
        origin = said[0].decode("latin-1").lower()
        if len(said) == 1 and not self._allowed.isdisjoint((ANY, origin)):
            return origin
        raise Refused(
            "origin-refused",
            "pages of another origin may not call this daemon; `gradd serve --allow-origin ORIGIN` lets them",
        )

    def headers(self, origin: str | None) -> list[tuple[bytes, bytes]]:
        """What an answer to a page of that origin says beside."""
        if not self._allowed:
            return []
        varies = [(b"vary", b"Origin")]
        if origin is None:
            return varies
        allowed = ANY if ANY in self._allowed else origin
        return [
            *varies,
            (b"access-control-allow-origin", allowed.encode("latin-1")),
            (b"access-control-expose-headers", ", ".join(TOLD).encode()),
        ]


def is_preflight(scope: Scope) -> bool:
    """Whether a browser asks what a page of another origin, which is allowed, may do."""
    return (
        scope["type"] == "http"
        and scope["method"] == "OPTIONS"
        and scope["origin"] is not None
        and any(name == b"access-control-request-method" for name, _ in scope["headers"])
    )
