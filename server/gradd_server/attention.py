"""The front's attention, which tenants share.

The front is one event loop, which does all that came in an iteration before it looks for more. Who sends much
over many connections would have nearly all of it. So a tenant's messages take turns: so many in an iteration,
and those beyond wait for the next, where whatever has come meanwhile from others is done as well.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque

ALONE, BESIDE = 64, 4
"""A tenant's pieces in an iteration: where no other tenant was there lately, and where one was."""

LATELY = 1.0
"""For how long a tenant counts as being there (s)."""

PIECE = 64 << 10
"""Bytes of a large message that count as another piece."""


class Attention:
    """Whose turn it is in the running event loop. A turn that need not wait takes about a microsecond."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()
        """Pieces of this iteration."""
        self._waiting: dict[str, deque[tuple[asyncio.Future[None], int]]] = {}
        self._latest = ""
        self._crowded_until = 0.0
        self._scheduled = False

    async def turn(self, tenant: str, nbytes: int = 0) -> None:
        """Wait until a message of the tenant may be handled that has so many bytes."""
        pieces = 1 + nbytes // PIECE
        loop = asyncio.get_running_loop()
        if tenant != self._latest:
            if self._latest:
                self._crowded_until = loop.time() + LATELY
            self._latest = tenant
        if tenant not in self._waiting and self._used[tenant] < self._limit(loop):
            self._used[tenant] += pieces
            self._schedule(loop)
            return
        turn = loop.create_future()
        self._waiting.setdefault(tenant, deque()).append((turn, pieces))
        await turn

    def _limit(self, loop: asyncio.AbstractEventLoop) -> int:
        return BESIDE if loop.time() < self._crowded_until else ALONE

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._next, loop)

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        """In the next iteration: those that wait, as far as they may."""
        self._scheduled = False
        self._used.clear()
        limit = self._limit(loop)
        for tenant, queue in list(self._waiting.items()):
            while queue and self._used[tenant] < limit:
                turn, pieces = queue.popleft()
                if not turn.done():  # cancelled
                    turn.set_result(None)
                    self._used[tenant] += pieces
            if not queue:
                del self._waiting[tenant]
        if self._used:
            self._schedule(loop)
