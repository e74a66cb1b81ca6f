"""uvicorn's WebSocket, which reads ahead."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from gradd_protocol.limits import DEFAULT as LIMITS
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from gradd_server.news import News


class Inbox(asyncio.Queue[Any]):
    """Messages for the only one that takes them. It has no limit, and so no part of what that costs."""

    def __init__(self) -> None:
        super().__init__()
        self._messages: deque[Any] = deque()
        self._news = News()

    def qsize(self) -> int:
        """See Queue.qsize."""
        return len(self._messages)

    def empty(self) -> bool:
        """See Queue.empty."""
        return not self._messages

    def put_nowait(self, item: Any) -> None:
        """See Queue.put_nowait."""
        self._messages.append(item)
        self._news.wake()

    async def get(self) -> Any:
        """See Queue.get."""
        while not self._messages:
            await self._news.wait()
        return self._messages.popleft()


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One connection. uvicorn's stops reading after each message until the app has taken it, which costs two
    system calls; this one stops after a whole window of messages.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.queue = Inbox()

    def send_receive_event_to_app(self) -> None:
        """Pass a message to the app."""
        paused, self.read_paused = self.read_paused, True
        super().send_receive_event_to_app()
        self.read_paused = paused
        if not paused and self.queue.qsize() > LIMITS.window_batches:
            self.read_paused = True
            self.transport.pause_reading()
