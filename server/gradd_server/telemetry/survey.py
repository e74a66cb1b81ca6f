"""Asks the engine processes what they count, and does not wait for one that computes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from gradd_runtime.process import EngineStatus, Figures, decode_figures, resident

from gradd_server.sessions import Sessions, settled

PATIENCE_SECONDS = 1.0
"""Longest wait for an engine process, which answers between two frames."""

RECENT_SECONDS = 0.5
"""So old may be what several watch at once."""


class Seen(NamedTuple):
    """An engine process."""

    pid: int
    up: bool
    """Whether it shows signs of life."""
    waiting: int
    """Frames that it has not answered."""
    resident: int
    """Bytes of its memory in RAM; 0 where the system does not tell, as on another node."""
    answered: bool
    """Whether the figures are of now; else they are the latest that came."""
    figures: Figures | None
    node: str = ""
    """Where it runs, in a cluster."""


@dataclass(frozen=True)
class Survey:
    """What was seen of the engine processes, always in the same order."""

    processes: list[Seen]
    restarts: int
    lost: int
    """Sessions that were lost with their process."""


class Surveyor:
    """Looks at the engine processes of `sessions`; remembers what each told last."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._latest: dict[tuple[str, int], Figures] = {}
        self._looking = asyncio.Lock()
        self._seen: Survey | None = None
        self._seen_at = 0.0

    async def recent(self, age: float = RECENT_SECONDS) -> Survey:
        """A survey of now, or of at most `age` seconds ago: all who watch share it."""
        async with self._looking:
            if self._seen is None or monotonic() - self._seen_at >= age:
                self._seen = await self.look()
                self._seen_at = monotonic()
            return self._seen

    async def look(self, seconds: float = PATIENCE_SECONDS) -> Survey:
        """Ask all of them, and wait up to `seconds` for their answers."""
        engines = self._sessions.engines()
        told = await asyncio.gather(*(_told(status, seconds) for status in engines.processes))
        keys = [(status.node, status.pid) for status in engines.processes]
        known = {key: self._latest.get(key) for key in keys}
        known |= {key: figures for key, figures in zip(keys, told, strict=True) if figures is not None}
        self._latest = {key: figures for key, figures in known.items() if figures is not None}
        return Survey(
            [
                Seen(
                    status.pid, status.well, status.waiting,
                    0 if status.node else resident(status.pid), figures is not None,
                    known[status.node, status.pid], status.node,
                )
                for status, figures in zip(engines.processes, told, strict=True)
            ],
            engines.restarts,
            engines.lost,
        )  # fmt: skip


async def _told(status: EngineStatus, seconds: float) -> Figures | None:
    try:
        async with asyncio.timeout(seconds):
            return decode_figures(await settled(status.figures))
    except TimeoutError:
        return None
