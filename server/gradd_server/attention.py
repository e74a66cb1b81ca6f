"""The front's attention, which tenants share.

The front is one event loop, which does all that came in an iteration before it looks for more. Who sends much
over many connections would have nearly all of it. So a tenant's messages take turns: so many in an iteration,
and those beyond wait for the next, where whatever has come meanwhile from others is done as well.

A message needs a few iterations, and so does its answer; one request over HTTP takes the loop for longer than
all of them. So beside another tenant requests rest after what they took.
"""

from __future__ import annotations

import asyncio
import types
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from time import monotonic, thread_time
from typing import Any, Literal

ALONE, BESIDE = 64, 1
"""A tenant's pieces in an iteration: where no other tenant was there lately, and where one was."""

FEW = 8
"""Pieces of a tenant that is alone before anybody asks whether the iteration is over, which is one more."""

LATELY = 1.0
"""For how long a tenant counts as being there (s)."""

PIECE = 64 << 10
"""Bytes of a large message that count as another piece."""

REST = 3.0
"""Beside another tenant requests over HTTP rest for this multiple of what they took."""

TICK = 0.001
"""What the event loop rounds its timers to (s)."""


Kind = Literal["streams", "requests", "later"]


class Lane:
    """What is handled of a tenant in its order: messages of streams, or requests and pieces of their bodies,
    or requests that have waited for something and go on.
    """

    def __init__(self, attention: Attention, tenant: str) -> None:
        self._attention, self.tenant = attention, tenant
        self.waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self.used = 0
        """Pieces of this iteration; where they are few, also of those before."""
        self.resting_until = 0.0

    async def turn(self, nbytes: int = 0) -> None:
        """Wait until a message of so many bytes may be handled. Where it need not, about a microsecond."""
        pieces = 1 + nbytes // PIECE
        if self._attention.may_go(self):
            self.used += pieces
            return
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append((turn, pieces))
        await turn

    @types.coroutine
    def timed(self, work: Awaitable[None]) -> Generator[Any, Any, None]:
        """Do the work of a request. Beside another tenant, what it takes of the event loop puts off the turns
        to come, and whenever it has waited it goes on in its turn: many answers can come at once.
        """
        steps, later = work.__await__(), self._attention.lane(self.tenant, "later")
        step: Callable[[Any], Any] = steps.send
        value: Any = None
        while True:
            began = thread_time()
            try:
                awaited = step(value)
            except StopIteration:
                return
            finally:
                if self._attention.crowded:
                    rest = REST * (thread_time() - began)
                    self.resting_until = max(self.resting_until, monotonic()) + rest
            try:
                value = yield awaited
                if self._attention.crowded:
                    yield from later.turn().__await__()
                step = steps.send
            except BaseException as error:
                step, value = steps.throw, error

    def go_on(self, limit: int) -> None:
        """Let those that wait have their turns, as far as they may."""
        while self.waiting and self.used < limit:
            turn, pieces = self.waiting.popleft()
            if not turn.done():  # cancelled
                turn.set_result(None)
                self.used += pieces


class Attention:
    """Whose turn it is in the running event loop."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, Kind], Lane] = {}
        self._busy: dict[Lane, None] = {}
        """Those that had turns in this iteration, or wait for one."""
        self._latest = ""
        self._crowded_until = 0.0
        self._scheduled = False
        self._timer: asyncio.TimerHandle | None = None

    def lane(self, tenant: str, kind: Kind) -> Lane:
        """Where messages of the tenant wait for their turns."""
        key = tenant, kind
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(self, tenant)
        return lane

    @property
    def crowded(self) -> bool:
        """Whether several tenants were there lately."""
        return monotonic() < self._crowded_until

    def may_go(self, lane: Lane) -> bool:
        """Whether another message of the lane is handled at once."""
        if lane.tenant != self._latest:
            if self._latest:
                self._crowded_until = monotonic() + LATELY
            self._latest = lane.tenant
        crowded = self.crowded
        if not crowded and lane.used < FEW and not lane.waiting:
            return True
        self._busy[lane] = None
        self._schedule(asyncio.get_running_loop())
        if lane.waiting:
            return False
        if not crowded:
            return lane.used < ALONE
        return lane.used < BESIDE and lane.resting_until <= monotonic()

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._next, loop)

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        """In the next iteration: those that wait, as far as they may."""
        self._scheduled = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        crowded, now = self.crowded, monotonic()
        again, rests = False, []
        for lane in list(self._busy):
            lane.used = 0
            if crowded and lane.resting_until > now:
                rests += [lane.resting_until - now] if lane.waiting else []
            else:
                lane.go_on(BESIDE if crowded else ALONE)
            if lane.used:
                again = True
            elif not lane.waiting:
                del self._busy[lane]
        if again:
            self._schedule(loop)
        elif rests:
            self._timer = loop.call_later(max(TICK, min(rests)), self._next, loop)
