"""What the front counts, as plain numbers: only who scrapes them knows of Prometheus."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TypeAlias

from gradd_runtime.process import Durations

METHODS = frozenset({"GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"})
"""What a request is counted as; others are `_OTHER`, for anybody may invent some."""

Answered: TypeAlias = tuple[str, str, int]
"""A request's method, the pattern of its route (empty where there is none), the status of its answer."""


@dataclass
class Counts:
    """Counts since the daemon began."""

    began: float = field(default_factory=time.time)
    """Seconds since 1970."""
    requests: defaultdict[Answered, Durations] = field(default_factory=lambda: defaultdict(Durations))
    active: int = 0
    """Requests that are being answered."""
    refused: Counter[str] = field(default_factory=Counter)
    """What the gate and streams refused, by the problem's type."""
    streams: int = 0
    """Streams that were opened."""
    received: Counter[str] = field(default_factory=Counter)
    """Bytes of bodies and messages by `http` and `stream`."""
    sent: Counter[str] = field(default_factory=Counter)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[method if method in METHODS else "_OTHER", route, status].add(seconds)
