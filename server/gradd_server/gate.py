"""Checks on all requests before any route, for HTTP and WebSocket handshakes.

Whoever asks must show a key; only the probes and the files of the dashboard need none. A page in a browser
can reach a daemon on localhost (DNS rebinding, cross-site requests), so Host must name this machine, and an
Origin must be the daemon's own or one that it allows.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import secrets
from contextlib import ExitStack
from urllib.parse import parse_qsl

from gradd_protocol.limits import DEFAULT as LIMITS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradd_server import audit
from gradd_server.audit import READS
from gradd_server.errors import Refused, draining, other_wire, send_problem
from gradd_server.front import Front
from gradd_server.keyring import ANYONE
from gradd_server.keys import Key
from gradd_server.media import CHARSETS, REQUEST_TYPES, media_type
from gradd_server.origins import PREFLIGHT, Origins, is_preflight
from gradd_server.pages import PATHS
from gradd_server.shares import Share
from gradd_server.timing import Timing, current
from gradd_server.traffic import Load

MAX_PATH_BYTES = 16 * 1024
PROBES = frozenset({"/livez", "/readyz", "/health"})
"""What is answered without a key, beside the files of the dashboard."""

_SECRETS = frozenset({"token", "access_token", "api_key", "apikey", "key"})
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/\s]+)(?::[0-9]{1,5})?")
_LENGTH = re.compile(rb"[0-9]{1,18}")

logger = logging.getLogger("gradd.server")


class Gate:
    """Pure ASGI middleware around `app`; must be the outermost.

    Refuses (as problem+json): a Host that is not this machine (421), a foreign Origin (403), too many or too
    large headers (431), all but probes and the dashboard's files without a valid key (401), from a share all
    that it may not read (403), a key in the URL (400), an overlong path (414), an encoded slash in a path
    (400), a body of unknown type or encoding (415), and while draining all but probes and reads (503).
    Answers 500, without details, if the app fails. Counts the front's unanswered requests, notes in the audit
    log who changed what, and adds `X-Request-Id` and `Server-Timing` to replies. `scope["key"]` is whose
    request it is; None where none is needed and none came. `scope["load"]` is what it holds, and
    `scope["turn"]` waits for its tenant's turn, see Attention. `scope["send"]` is the server's own, for a
    WebSocket that is open. `scope["origin"]` is that of the page that asks, where it is another than the
    daemon's, see Origins.
    """

    open_paths = PROBES | PATHS
    """What is answered without a key."""

    def __init__(self, app: ASGIApp, front: Front) -> None:
        self.app = app
        self.front = front
        self._hosts = front.settings.hosts
        self._origins = Origins(front.settings.origins)
        self._root = front.settings.root_path
        self._patterns = {route.endpoint: route.path for route in getattr(app, "routes", ())}
        self._ids = map("{}-{:x}".format, itertools.repeat(secrets.token_hex(4)), itertools.count(1))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        request_id = scope["request_id"] = next(self._ids)
        scope["origin"] = None
        started = complete = False
        status = 500
        timing = Timing()
        current.set(timing)
        counts = self.front.counts
        over_http = scope["type"] == "http"

        async def receive_counted() -> Message:
            message = await receive()
            counts.received["http"] += len(message.get("body", b""))
            return message

        async def send_with_id(message: Message) -> None:
            nonlocal started, complete, status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                started = True
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                    (b"server-timing", timing.header().encode()),
                    *self._origins.headers(scope["origin"]),
                ]
            elif message["type"] == "websocket.accept":
                started = True
            elif message["type"] == "http.response.body":
                complete = not message.get("more_body", False)
                counts.sent["http"] += len(message.get("body", b""))
            elif message["type"] == "websocket.close" and not started:
                raise Refused("not-found", "no stream is at this path", supported=other_wire(scope["path"]))
            await send(message)

        self.front.unanswered += over_http
        counts.active += over_http
        held = ExitStack()
        try:
            self.admit(scope)
            if (key := scope["key"]) is not None:
                load = scope["load"] = Load(self.front.traffic, key.tenant)
                held.callback(load.release)
                if not over_http:
                    held.enter_context(self.front.connected.stream(key.tenant))
                    scope["send"] = send
                    held.callback(scope.pop, "send")  # what sends has the scope
                elif (connection := scope.get("connection")) is not None:
                    self.front.connected.claim(connection, key.tenant)
                lane = self.front.attention.lane(key.tenant, "requests" if over_http else "streams")
                scope["turn"] = lane.turn
                await lane.turn()
            app = PREFLIGHT if is_preflight(scope) else self.app
            work = app(scope, receive_counted if over_http else receive, send_with_id)
            await (lane.timed(work) if over_http and key is not None else work)
        except Refused as refused:
            counts.refused[refused.problem.slug] += 1
            await send_problem(scope, receive, send_with_id, refused)
        except asyncio.CancelledError:
            if not self.front.draining.is_set():
                raise
            # Abandoned after the drain timeout.
            if scope["type"] == "http" and not started:
                await send_problem(scope, receive, send_with_id, draining())
        except Exception:
            logger.exception(
                "request %s failed: %s", request_id, scope["path"], extra={"members": audit.who(scope)}
            )
            if complete:
                return
            if started:
                raise  # the reply has begun, so only cut the connection
            await send_problem(scope, receive, send_with_id, Refused("internal", request_id=request_id))
        finally:
            held.close()
            self.front.unanswered -= over_http
            counts.active -= over_http
            if over_http:
                route = self._patterns.get(scope.get("endpoint"), "")
                counts.answered(scope["method"], route, status, timing.seconds)
                if self.front.traces is not None:
                    self.front.traces.request(scope, route, status, timing)
            audit.request(scope, status, timing.seconds)

    def admit(self, scope: Scope) -> None:
        """Raise Refused unless the request may reach a route. Does not read the body."""
        if self._root:
            _strip(scope, self._root)
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        size = sum(len(name) + len(value) for name, value in headers)
        if len(headers) > LIMITS.http_headers or size > LIMITS.http_header_bytes:
            raise Refused(
                "headers-too-large",
                f"at most {LIMITS.http_headers} headers and {LIMITS.http_header_bytes} bytes of them",
                limit=LIMITS.http_header_bytes,
                used=size,
            )
        own = b"https://" if scope.get("scheme") in ("https", "wss") else b"http://"
        own += self._check_host(headers).lower()
        scope["origin"] = self._origins.check(_values(headers, b"origin"), own)
        if is_preflight(scope):  # browsers send no key with it
            scope["key"] = None
            return
        _check_query(scope.get("query_string", b""))
        scope["key"] = key = self._identify(scope["path"], headers)
        if isinstance(key, Share) and scope["path"] not in self.open_paths:
            key.check(scope.get("method", "STREAM"), scope["path"])
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        if len(raw_path) > MAX_PATH_BYTES:
            raise Refused("bad-request", f"a path has at most {MAX_PATH_BYTES} bytes", limit=MAX_PATH_BYTES)
        if b"%2f" in raw_path.lower():
            raise Refused("invalid-name", "a name holds no slash, encoded or not")
        if scope["type"] == "http":
            _check_body_type(headers)
        if self.front.draining.is_set() and scope["path"] not in PROBES and scope.get("method") not in READS:
            raise draining()

    def _identify(self, path: str, headers: list[tuple[bytes, bytes]]) -> Key | None:
        keys = self.front.keys
        if keys is None:
            return ANYONE
        try:
            return keys.identify(headers)
        except Refused:
            if path in self.open_paths:
                return None
            raise

    def _check_host(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        hosts = _values(headers, b"host")
        named = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if named is None or not ("*" in self._hosts or named[1].decode("latin-1").lower() in self._hosts):
            raise Refused(
                "host-refused",
                f"Host must be one of {', '.join(sorted(self._hosts))}; "
                "`gradd serve --allowed-hosts NAME` takes another",
            )
        return hosts[0]


def _strip(scope: Scope, root: str) -> None:
    """Take the path under which a proxy serves the daemon off the request's, where the proxy left it."""
    path: str = scope["path"]
    if path == root or path.startswith(root + "/"):
        scope["path"] = path[len(root) :] or "/"
        raw: bytes = scope.get("raw_path") or path.encode()
        if raw.startswith(root.encode()):
            scope["raw_path"] = raw[len(root) :] or b"/"


def _check_query(query: bytes) -> None:
    # A URL ends up in logs, histories and Referer headers.
    if query and any(name.lower() in _SECRETS for name, _ in parse_qsl(query.decode("latin-1"), True)):
        raise Refused("bad-request", "a key never stands in a URL: send Authorization: Bearer KEY")


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def _check_body_type(headers: list[tuple[bytes, bytes]]) -> None:
    for encoding in _values(headers, b"content-encoding"):
        if encoding.strip().lower() != b"identity":
            raise Refused("unsupported-media-type", "a body must come without Content-Encoding")
    lengths = _values(headers, b"content-length")
    if len(lengths) > 1 or (lengths and not _LENGTH.fullmatch(lengths[0])):
        raise Refused("bad-request", "Content-Length must be one number of bytes")
    has_body = bool(_values(headers, b"transfer-encoding")) or bool(lengths and int(lengths[0]))
    if not has_body:
        return
    types = _values(headers, b"content-type")
    kind, charset = media_type(types[0].decode("latin-1")) if len(types) == 1 else ("", None)
    if kind not in REQUEST_TYPES or (charset is not None and charset not in CHARSETS):
        raise Refused(
            "unsupported-media-type",
            f"Content-Type must be one of {', '.join(sorted(REQUEST_TYPES))}",
            supported=sorted(REQUEST_TYPES),
        )
