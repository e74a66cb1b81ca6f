"""`gradd serve`: one process with one socket and one data directory."""

from __future__ import annotations

import gc
import logging
import signal
import socket
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

import uvicorn
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.version import VERSION
from gradd_runtime.process import Placement, log_to_stderr

from gradd_server.app import create_app
from gradd_server.datadir import DataDir
from gradd_server.gate import Gate
from gradd_server.http1 import patient
from gradd_server.settings import Settings
from gradd_server.stores import Stores
from gradd_server.ws import WebSocketProtocol

PONG_SECONDS = 20.0
"""Longest wait for a stream's answer to a ping."""


class CannotListen(OSError):
    """Cannot listen on the address; the command exits with 69."""


ANSWER_TICKS = 20
"""Tenths of a second for answering abandoned work."""

logger = logging.getLogger("gradd.server")


class Server(uvicorn.Server):
    """uvicorn's server, which drains before it stops: it takes no new work and finishes the rest, which it
    abandons after the drain timeout.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate, placement: Placement, start_line: str) -> None:
        super().__init__(config)
        self._front = gate.front
        self._placement = placement
        self._start_line = start_line
        self._draining = self._hung_up = False
        self._ticks_left = round(gate.front.settings.drain_timeout * 10)
        self.gave_up = False
        """Whether work in flight was abandoned."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and log it."""
        await super().startup(sockets)
        print(self._start_line, file=sys.stderr, flush=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal, stop at the second. Unlike uvicorn's, does not re-raise them."""
        self.should_exit = self.force_exit = self._draining
        self._draining = True

    def handle_hangup(self, sig: int, frame: FrameType | None) -> None:
        """Note that the terminal went away, which a daemon ignores."""
        self._hung_up = True

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to stop."""
        if self._hung_up:
            self._hung_up = False
            logger.info("SIGHUP is ignored: settings are read at the start, SIGTERM ends the daemon")
        if self._draining:
            self._front.draining.set()
            self._ticks_left -= 1
            if not self._front.idle and self._ticks_left < 0 and not self.gave_up:
                self._give_up()
            if self._front.idle or self._ticks_left < -ANSWER_TICKS:
                self.should_exit = True
        if self.force_exit and not self._front.idle and not self.gave_up:
            self._give_up()
        return await super().on_tick(counter)

    def _give_up(self) -> None:
        self.gave_up = True
        self.config.timeout_graceful_shutdown = 0
        logger.warning("%d requests and batches in flight are given up", self._front.unanswered)
        self._placement.abandon()


def serve(
    settings: Settings, placement: Placement, ops: Mapping[str, Any], data: DataDir, listener: socket.socket
) -> bool:
    """Serve until a signal; returns whether all work was finished. Raises CannotListen."""
    log_to_stderr(settings.log_level)
    logging.getLogger("uvicorn").setLevel(max(logging.getLogger().level, logging.WARNING))
    try:
        listener.listen()
    except OSError as refused:
        raise CannotListen(f"cannot listen on {_url(listener)}: {refused.strerror}") from None
    url = _url(listener)
    data.publish(url)
    gate = create_app(settings, placement, ops, stores=Stores(data.path / "sessions"))
    start_line = (
        f"gradd {VERSION} listens on {url} (device {settings.device}, data in {data.path}). "
        "There is no authentication: every local user can connect."
    )
    gc.freeze()  # a full collection through all modules would stop every stream meanwhile
    server = Server(configuration(settings, gate), gate, placement, start_line)
    signal.signal(signal.SIGHUP, server.handle_hangup)
    server.run([listener])
    return not server.gave_up


def configuration(settings: Settings, gate: Gate) -> uvicorn.Config:
    """uvicorn's configuration for the app."""
    return uvicorn.Config(
        gate,
        http=patient(settings.body_timeout),
        ws=WebSocketProtocol,
        ws_max_size=LIMITS.server_message_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=settings.stream_ping_seconds,
        ws_ping_timeout=PONG_SECONDS,
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=75,  # longer than clients do, so that they close idle connections
        timeout_graceful_shutdown=5,
    )


def bound(host: str, port: int) -> socket.socket:
    """A socket bound to the address, not listening yet. Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
    except OSError as refused:
        listener.close()
        raise CannotListen(f"cannot listen on {host}:{port}: {refused.strerror}") from None
    listener.setblocking(False)
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
