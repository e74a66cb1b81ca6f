"""uvicorn's HTTP/1.1 with a size limit and a deadline for headers, and problems as errors."""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus

import httptools
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.problems import Problem, problem
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gradd_server.connections import Connections
from gradd_server.errors import problem_bytes
from gradd_server.media import PROBLEM

#: headers of an offer to speak another protocol
_OFFER = (b"upgrade", b"http2-settings")


class Http(HttpToolsProtocol):
    """One connection, one of `held`. Headers must arrive within `seconds` of its start, and of a request's
    first byte.
    """

    seconds = 10.0
    held: Connections
    _header_bytes = 0
    _fed = _left = b""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for the first request."""
        super().connection_made(transport)
        self._await_headers()
        self.held.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        self.held.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse bytes of the client's."""
        self._left = data
        while self._left:
            self._fed, self._left = self._left, b""
            super().data_received(self._fed)

    def _unsupported_upgrade_warning(self) -> None:
        # A request that offers another protocol (Java's client: HTTP/2) is to be answered in this one, but
        # the parser has skipped its body: the request is parsed again without the offer.
        upgrade = sys.exception()
        if not self._is_offer() or not isinstance(upgrade, httptools.HttpParserUpgrade):
            return
        version = self.parser.get_http_version().encode()
        head = [self.scope["method"].encode(), b" ", self.url, b" HTTP/", version, b"\r\n"]
        for name, value in self.headers:
            if name == b"connection":
                value = b",".join(w for w in value.split(b",") if w.strip().lower() not in _OFFER)
            if name not in _OFFER:
                head += [name, b": ", value, b"\r\n"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's
        self._left = b"".join([*head, b"\r\n", self._fed[upgrade.args[0] :]])

    def handle_websocket_upgrade(self) -> None:
        """Become a stream."""
        self.held.closed(self)
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        """Start a request."""
        self._header_bytes = 0
        self._await_headers()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Add a piece of the request's target."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Pass the request to the app."""
        self._stop_waiting()
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]
        if self._is_offer():
            self.scope["method"] = self.parser.get_method().decode("ascii")
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Add a piece of the body, and read no more until it is handled. Large pieces are passed on as they
        are; uvicorn would copy them twice.
        """
        cycle = self.cycle
        if (
            cycle.body
            or len(body) <= HIGH_WATER_LIMIT
            or cycle.response_complete
            or self.parser.should_upgrade()
        ):
            super().on_body(body)
        else:
            cycle.body = body  # type: ignore[assignment]
            cycle.message_event.set()
        if not cycle.response_complete:
            self.flow.pause_reading()

    def on_message_complete(self) -> None:
        """End the request; whether its client leaves is seen, unless another request is there."""
        if self._is_offer():
            return
        super().on_message_complete()
        if not self.pipeline:
            self.flow.resume_reading()

    def _is_offer(self) -> bool:
        """Whether the request offers a protocol that is not spoken here. CONNECT, which the parser takes for
        one too, does not.
        """
        offered = self.parser.should_upgrade() and not self._should_upgrade()
        return offered and any(name == b"upgrade" for name, _ in self.headers) and not self._is_connect()

    def _is_connect(self) -> bool:
        return bool(self.parser.get_method() == b"CONNECT")

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be parsed, and close the connection."""
        too_large = self._header_bytes > 2 * LIMITS.http_header_bytes
        self.hang_up(
            problem("headers-too-large") if too_large else problem("bad-request", "this is not HTTP")
        )

    def _count(self, size: int) -> None:
        # The gate refuses more than half of this properly; this only protects memory.
        self._header_bytes += size
        if self._header_bytes > 2 * LIMITS.http_header_bytes:
            raise ValueError("headers too large")

    def _await_headers(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(self.seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.hang_up(problem("request-timeout", "the headers did not arrive in time"))

    def hang_up(self, fault: Problem) -> None:
        """Say why, and close the connection."""
        self._stop_waiting()
        body = problem_bytes(fault)
        after = f"retry-after: {fault.retry_after}\r\n" if fault.retry_after is not None else ""
        head = (
            f"HTTP/1.1 {fault.status} {HTTPStatus(fault.status).phrase}\r\ncontent-type: {PROBLEM}\r\n{after}"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def patient(seconds: float, connections: Connections) -> type[Http]:
    """`Http` that waits `seconds` for headers; its connections are among `connections`."""
    return type("Http", (Http,), {"seconds": seconds, "held": connections})
