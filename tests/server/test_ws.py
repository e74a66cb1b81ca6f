"""What a WebSocket's messages wait in."""

from __future__ import annotations

import asyncio

import pytest
from gradd_server.ws import Inbox


def test_messages_come_in_order_and_none_is_lost_with_who_waited_for_it() -> None:
    async def scenario() -> list[int]:
        inbox = Inbox()
        waiting = asyncio.create_task(inbox.get())
        await asyncio.sleep(0)
        inbox.put_nowait(1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (inbox.qsize(), inbox.empty()) == (1, False)
        found = [await inbox.get()]
        waiting = asyncio.create_task(inbox.get())
        await asyncio.sleep(0)
        for message in (2, 3):
            inbox.put_nowait(message)
        found += [await waiting, await inbox.get()]
        assert (inbox.qsize(), inbox.empty()) == (0, True)
        return found

    assert asyncio.run(scenario()) == [1, 2, 3]
