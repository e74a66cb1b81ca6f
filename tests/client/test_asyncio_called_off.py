"""Tasks that end before their minutes of work do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import gradd
import gradd as torch
import pytest

from tests.client.in_loops import HOWS, Turns, begun, long_batch, opener, run


@pytest.fixture(params=HOWS)
def open(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`gradd.aconnect`, over each transport."""
    return opener(request)


def test_the_loop_goes_on_while_a_task_waits(open: Any) -> None:
    async def main() -> None:
        async with open() as session:
            x = torch.ones(2)
            await session.aflush()
            turns = Turns()
            waiting = asyncio.ensure_future(long_batch().sum().aitem())
            await begun(session, waiting)
            await turns.passed(1000)
            assert not waiting.done()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            turns.stop()
            assert await (x + 1).atolist() == [2.0, 2.0]

    run(main())


def test_cancelling_a_task_stops_the_batch_that_runs(open: Any) -> None:
    async def main() -> None:
        async with open() as session:
            x = torch.ones(2)
            kept = torch.ones(2, requires_grad=True)
            loss = (kept * 3).sum()
            await session.aflush()
            a = long_batch()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(a.sum().aitem(), 0.05)
            # nothing is raised, and what was before goes on
            x.add_(1)
            loss.backward()
            assert await x.atolist() == [2.0, 2.0]
            assert await kept.grad.atolist() == [3.0, 3.0]
            with pytest.raises(gradd.GraddError):
                await a.anumpy()
            assert session.tensors() == session.mirror()
            assert (await session.ainfo()).batches == session.wire.seq

    run(main())


def test_what_takes_too_long_is_called_off(open: Any) -> None:
    async def main() -> None:
        async with open() as session:
            x = torch.ones(2)
            await session.aflush()
            session.wire.timeout = 0.05
            a = long_batch()
            with pytest.raises(gradd.TimedOut, match="called off"):
                await a.sum().aitem()
            session.wire.timeout = None
            assert await (x + 1).atolist() == [2.0, 2.0]

    run(main())
