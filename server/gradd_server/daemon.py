"""`gradd serve`: one process with one socket and one data directory."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from gradd_protocol import runtimefile
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.version import VERSION
from gradd_runtime.process import Placement, announce
from gradd_runtime.store import Bucket
from starlette.types import ASGIApp

from gradd_server.app import create_admin, create_app
from gradd_server.bucket_stores import BucketStores
from gradd_server.connections import Connections
from gradd_server.datadir import DataDir
from gradd_server.folder_stores import FolderStores
from gradd_server.fronts.leads import Lead
from gradd_server.gate import Gate
from gradd_server.http1 import patient
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile, mint
from gradd_server.settings import Settings
from gradd_server.stores import Stores
from gradd_server.telemetry.admin import Listeners
from gradd_server.telemetry.manager import ServiceManager
from gradd_server.tls import Certificate
from gradd_server.ws import WebSocketProtocol

PONG_SECONDS = 20.0
"""Longest wait for a stream's answer to a ping."""


class CannotListen(OSError):
    """Cannot listen on the address; the command exits with 69."""


ANSWER_TICKS = 20
"""Tenths of a second for answering abandoned work."""

LOST_SECONDS = 2
"""Seconds for answering abandoned work where another front leads."""

TLS_TICKS = 10
"""Tenths of a second between two looks at the certificate."""

logger = logging.getLogger("gradd.server")


class Server(uvicorn.Server):
    """uvicorn's server, which drains before it stops: it takes no new work and finishes the rest, which it
    abandons after the drain timeout.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        gate: Gate,
        placement: Placement,
        on_start: Callable[[], None],
        certificate: Certificate | None = None,
        manager: ServiceManager | None = None,
    ) -> None:
        super().__init__(config)
        self._certificate = certificate
        self._manager = manager or ServiceManager({})
        watched = self._manager.watchdog_seconds
        # Half of the time that it may be silent; a loop that is stuck says nothing.
        self._watch_ticks = max(1, int(5 * watched)) if watched is not None else 0
        self._front = gate.front
        self._placement = placement
        self._on_start = on_start
        gate.front.connections = lambda: len(self.server_state.connections)
        self._draining = self._hung_up = False
        self._ticks_left = round(gate.front.settings.drain_timeout * 10)
        self._lost = threading.Event()
        self.gave_up = False
        """Whether work in flight was abandoned."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and tell so."""
        if self._certificate is not None:
            self.config.ssl = self._certificate.context
        await super().startup(sockets)
        self._on_start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal, stop at the second. Unlike uvicorn's, does not re-raise them."""
        self.should_exit = self.force_exit = self._draining
        self._draining = True

    def lose(self) -> None:
        """Another front leads: abandon what is in flight, and stop. Can be called on any thread."""
        self._lost.set()

    def handle_hangup(self, sig: int, frame: FrameType | None) -> None:
        """Note that keys and certificate are to be read again."""
        self._hung_up = True

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to stop."""
        if self._hung_up:
            self._hung_up = False
            self._reload()
        elif self._certificate is not None and counter % TLS_TICKS == 0:
            self._certificate.refresh()
        if self._watch_ticks and counter % self._watch_ticks == 0:
            self._manager.tell(WATCHDOG=1)
        if self._lost.is_set() and not self.gave_up:
            logger.warning("another front took the lead: this one has no sessions any more")
            self._give_up(LOST_SECONDS)
            self.should_exit = True
        if self._draining:
            if not self._front.draining.is_set():
                self._front.draining.set()
                self._manager.tell(STOPPING=1, STATUS="Finishing the work in flight")
            self._ticks_left -= 1
            if not self._front.idle and self._ticks_left < 0 and not self.gave_up:
                self._give_up()
            if self._front.idle or self._ticks_left < -ANSWER_TICKS:
                self.should_exit = True
        if self.force_exit and not self._front.idle and not self.gave_up:
            self._give_up()
        return await super().on_tick(counter)

    def _reload(self) -> None:
        logger.info("SIGHUP: API keys and certificate are read again; settings are read at the start only")
        if self._front.keys is not None:
            self._front.keys.refresh()
        if self._certificate is not None:
            self._certificate.refresh(force=True)

    def _give_up(self, seconds: int = 0) -> None:
        """Let what is in flight be answered so, for which there are so many seconds."""
        self.gave_up = True
        self.config.timeout_graceful_shutdown = seconds
        logger.warning("%d requests and batches in flight are given up", self._front.unanswered)
        self._placement.abandon()


class LocalKey:
    """The key of the daemon at `url` in its runtime file, for as long as the block lives."""

    def __init__(self, url: str) -> None:
        self.secret = mint()
        self.path: Path | None = None
        self._url = url

    def __enter__(self) -> LocalKey:
        try:
            self.path = runtimefile.write(self._url, self.secret)
        except OSError as refused:
            logger.warning(
                "no runtime file can be written, so local programs need an API key too: %s", refused
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.path is not None:
            runtimefile.remove(self.path, self.secret)


def serve(
    settings: Settings,
    placement: Placement,
    ops: Mapping[str, Any],
    data: DataDir,
    listener: socket.socket,
    certificate: Certificate | None = None,
    admin: socket.socket | None = None,
    manager: ServiceManager | None = None,
    lead: Lead | None = None,
) -> bool:
    """Serve until a signal, or until another front takes the `lead`, if there may be such; returns whether
    all work was finished. Raises CannotListen.
    """
    logging.getLogger("uvicorn").setLevel(max(logging.getLogger().level, logging.WARNING))
    url = url_of(listener, settings.tls)
    with contextlib.ExitStack() as stack:
        keys = local = None
        try:
            listener.listen()
        except OSError as refused:
            raise CannotListen(f"cannot listen on {url}: {refused.strerror}{_help(refused)}") from None
        if settings.auth:
            # Only now it is known that no other daemon listens there, whose file this would replace.
            local = stack.enter_context(LocalKey(url))
            keys = Keyring(KeyFile(data.path), local.secret)
        data.publish(url)
        stores: Stores = (
            BucketStores(Bucket(settings.records), lead)
            if settings.records
            else FolderStores(data.path / "sessions", lead)
        )
        gate = create_app(settings, placement, ops, stores=stores, keys=keys, checks={"data_dir": data.fault})
        if settings.traces:
            from gradd_server.telemetry.traces import Traces, exporter_to

            gate.front.traces = Traces(exporter_to(settings.traces))
            stack.callback(gate.front.traces.close)
        start_line = (
            f"gradd {VERSION} listens on {url} (device {settings.device}, "
            f"data in {settings.records or data.path}). {_who_may_connect(local)}"
        )
        app: ASGIApp = gate
        # What comes after this front leads no more waits there for it to pass it on.
        sockets = [listener if lead is None else listener.dup()]
        if admin is not None:
            admin.listen()
            sockets.append(admin)
            name = admin.getsockname()
            private = isinstance(name, str)
            if private:
                stack.callback(Path(name).unlink, missing_ok=True)
            app = Listeners(gate, {name if private else name[1]: create_admin(gate.front, private)})
            where = f"unix:{name}" if private else url_of(admin, settings.tls)
            start_line += f" Metrics are at {where}."
        gc.freeze()  # a full collection through all modules would stop every stream meanwhile

        def on_start() -> None:
            if lead is not None:
                lead.serve()
            announce(start_line, url=url, version=VERSION)
            if manager is not None:
                manager.tell(READY=1, STATUS=f"Listens on {url}")
            if settings.log_file:  # for who started it
                print(start_line, file=sys.stderr, flush=True)

        server = Server(
            configuration(settings, app, gate.front.connected),
            gate,
            placement,
            on_start,
            certificate,
            manager,
        )
        signal.signal(signal.SIGHUP, server.handle_hangup)
        if lead is not None:
            lead.on_lost = server.lose
        server.run(sockets)
        return not server.gave_up


def _who_may_connect(local: LocalKey | None) -> str:
    if local is None:
        return "There is no authentication: every local user can connect."
    if local.path is None:
        return "Who has an API key can connect."
    return f"Who has an API key can connect, and this user: {local.path}."


def configuration(settings: Settings, app: ASGIApp, connections: Connections) -> uvicorn.Config:
    """uvicorn's configuration for the app."""
    return uvicorn.Config(
        app,
        http=patient(settings.body_timeout, connections),
        ws=WebSocketProtocol,
        ws_max_size=LIMITS.server_message_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=settings.stream_ping_seconds,
        ws_ping_timeout=PONG_SECONDS,
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=bool(settings.forwarded_allow_ips),
        forwarded_allow_ips=settings.forwarded_allow_ips,
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
        raise CannotListen(f"cannot listen on {host}:{port}: {refused.strerror}{_help(refused)}") from None
    listener.setblocking(False)
    return listener


_HELP = {
    errno.EADDRINUSE: "`gradd doctor` says whether it is a daemon that listens there; --port 4734 takes "
    "another port, --port 0 a free one",
    errno.EADDRNOTAVAIL: "This machine has no such address: --host 127.0.0.1 is reached from here alone, "
    "--host 0.0.0.0 from everywhere",
    errno.EACCES: "Ports below 1024 are the system's: choose another with --port",
}


def _help(refused: OSError) -> str:
    said = _HELP.get(refused.errno or 0)
    return f". {said}" if said else ""


def bound_admin(settings: Settings) -> socket.socket | None:
    """A socket bound to the admin listener's address, if there is to be one. Raises CannotListen."""
    if not settings.admin:
        return None
    host, port = settings.admin_address
    return bound(host, port) if host else _bound_unix(settings.admin.removeprefix("unix:"))


def _bound_unix(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # mode 0600 from the first moment
    try:
        if _is_left_over(path):
            os.unlink(path)
        listener.bind(path)
    except OSError as refused:
        listener.close()
        raise CannotListen(f"cannot listen on unix:{path}: {refused.strerror or refused}") from None
    finally:
        os.umask(before)
    listener.setblocking(False)
    return listener


def _is_left_over(path: str) -> bool:
    """Whether there is a socket at which nobody listens any more."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return False
    except FileNotFoundError:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(path) == errno.ECONNREFUSED


def url_of(listener: socket.socket, tls: bool = False) -> str:
    """Where this machine reaches the listener."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
