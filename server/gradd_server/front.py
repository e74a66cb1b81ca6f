"""What the routes and streams of one daemon share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradd_server.sessions import Sessions
from gradd_server.settings import Settings


@dataclass
class Front:
    """One daemon's front: its settings, its sessions, the op catalogue, and whether it is going down."""

    settings: Settings
    sessions: Sessions
    ops: Mapping[str, Any]
    """Name -> description of every op, as `GET /v1/ops` serves it."""
    unwell: Callable[[], str] = lambda: ""
    """What is wrong with the engine processes; empty where nothing is."""
    unanswered: int = 0
    """Requests and stream messages that were taken and not answered yet."""
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at SIGTERM: no new work is taken, what is unanswered is finished."""

    @property
    def idle(self) -> bool:
        """Whether everything taken was answered."""
        return self.unanswered == 0
