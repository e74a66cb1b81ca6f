"""The state that a daemon's routes and streams share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from gradd_server.attention import Attention
from gradd_server.connections import Connections
from gradd_server.keyring import Keyring
from gradd_server.sessions import Sessions
from gradd_server.settings import Settings
from gradd_server.telemetry.checks import Checks
from gradd_server.telemetry.counts import Counts
from gradd_server.telemetry.survey import Surveyor
from gradd_server.traffic import Traffic

if TYPE_CHECKING:  # the extra `otel`
    from gradd_server.telemetry.traces import Traces


class Revocable(Protocol):
    """A connection that lasts as long as its key is valid."""

    def check(self) -> None:
        """End it if its key is not valid any more."""


@dataclass
class Front:
    """A daemon's front: its settings, its sessions, the op catalogue, and whether it is shutting down."""

    settings: Settings
    sessions: Sessions
    ops: Mapping[str, Any]
    """Descriptions of all ops by name, as in `GET /v1/ops`."""
    keys: Keyring | None = None
    """Who may ask; None where everybody may (`--no-auth`)."""
    streams: set[Revocable] = field(default_factory=set)
    """The streams that are open."""
    checks: Checks = field(default_factory=Checks)
    """What has to be right for the daemon to be ready."""
    unanswered: int = 0
    """Requests and stream messages in progress."""
    counts: Counts = field(default_factory=Counts)
    traces: Traces | None = None
    """Where spans of requests and batches are made; None where nobody wants them."""
    connections: Callable[[], int] = lambda: 0
    """How many connections are open."""
    surveyor: Surveyor = field(init=False)
    """Looks at the engine processes."""
    connected: Connections = field(init=False)
    """Whose connections are open."""
    traffic: Traffic = field(init=False)
    """What requests and answers hold."""
    attention: Attention = field(default_factory=Attention)
    """Whose messages are handled next."""
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at SIGTERM: take no new work, finish the rest."""

    def __post_init__(self) -> None:
        self.surveyor = Surveyor(self.sessions)
        self.connected = Connections(self.settings.most_connections, self.settings.most_tenant_connections)
        self.traffic = Traffic(self.settings.most_traffic, self.settings.most_tenant_traffic)

    @property
    def idle(self) -> bool:
        """Whether everything was answered."""
        return self.unanswered == 0
