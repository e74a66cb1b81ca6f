"""The SDK in an event loop: waiting is awaited, and nothing else of the loop waits meanwhile."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

import gradd
import gradd as torch
import pytest
from gradd._transports.base import Dropped

from benchmarks.loop import together
from tests.client.in_loops import HOWS, Turns, begun, long_batch, opener, run
from tests.waiting import PATIENCE


@pytest.fixture(params=HOWS)
def open(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`gradd.aconnect`, over each transport."""
    return opener(request)


def test_a_step_of_training(open: Any) -> None:
    async def main() -> None:
        async with open() as session:
            assert gradd.current_session() is session
            x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
            w = torch.ones(2, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.5)
            for _ in range(3):
                optimizer.zero_grad()
                loss = ((x @ w) ** 2).mean()
                loss.backward()
                optimizer.step()
            with pytest.raises(RuntimeError, match="requires grad"):
                await w.anumpy()
            found = await w.detach().anumpy()
            assert found.tolist() == await w.atolist() == w.tolist()
            assert not found.flags.writeable
            assert await loss.aitem() == loss.item()
            assert await w[1].aitem() == found[1]
            with pytest.raises(RuntimeError, match="2 elements"):
                await w.aitem()
            assert (await session.ainfo()).batches == session.wire.seq
            assert session.tensors() == session.mirror()
        with pytest.raises(gradd.SessionClosed):
            await session.aflush()

    run(main())


def test_awaiting_the_connection_makes_it_current_in_the_task(open: Any) -> None:
    async def main() -> None:
        session = await open()
        assert gradd.current_session() is session
        x = torch.ones(2)
        await session.aflush()
        assert (await x.anumpy()).tolist() == [1.0, 1.0]
        await session.aclose()
        await session.aclose()
        assert session._closed

    run(main())


def test_a_large_value_is_read(open: Any) -> None:
    async def main() -> None:
        async with open():
            x = torch.arange(1 << 18, dtype=torch.float64)
            assert (await x.anumpy()).sum() == (1 << 18) * ((1 << 18) - 1) / 2

    run(main())


def test_each_task_has_its_own_session(open: Any) -> None:
    async def train(target: float) -> tuple[str, float]:
        async with open() as session:
            w = torch.zeros(1, requires_grad=True)
            for _ in range(8):
                loss = (w - target).square().sum()
                loss.backward()
                with torch.no_grad():
                    w -= 0.25 * w.grad
                w.grad = None
                assert gradd.current_session() is session
                await loss.aitem()
                assert torch.ones(1)._session is session
            return session.name, await w.aitem()

    async def main() -> None:
        found = await asyncio.gather(*(train(float(k)) for k in range(12)))
        assert len({name for name, _ in found}) == 12
        assert [round(w) for _, w in found] == list(range(12))

    run(main())


def test_tasks_may_share_a_session(open: Any) -> None:
    async def add(total: Any, n: int) -> list[float]:
        seen = []
        for _ in range(10):
            total.add_(n)
            seen.append(await total.aitem())
        return seen

    async def main() -> None:
        async with open() as session:
            total = torch.zeros(1)
            found = await asyncio.gather(*(add(total, n) for n in range(1, 6)))
            assert all(seen == sorted(seen) for seen in found)
            assert await total.aitem() == 150.0
            assert session.tensors() == session.mirror()

    run(main())


def test_the_value_is_that_of_the_call(open: Any) -> None:
    async def main() -> None:
        async with open() as session:
            x = torch.zeros(2)
            reading = asyncio.ensure_future(x.atolist())
            await begun(session, reading)
            x.add_(1)
            assert await reading == [0.0, 0.0]
            assert await x.atolist() == [1.0, 1.0]

    run(main())


def test_modes_are_those_of_the_task(open: Any) -> None:
    async def without(x: Any) -> bool:
        with torch.no_grad():
            for _ in range(3):
                await (x * 2).anumpy()
                assert not torch.is_grad_enabled()
        return torch.is_grad_enabled()

    async def main() -> None:
        async with open():
            x = torch.ones(2, requires_grad=True)
            tasks = [asyncio.ensure_future(without(x)) for _ in range(3)]
            for _ in range(6):
                y = x * 3
                assert y.requires_grad
                await y.sum().aitem()
            assert await asyncio.gather(*tasks) == [True] * 3

    run(main())


def test_errors_come_where_it_is_awaited(open: Any) -> None:
    async def main() -> None:
        async with open() as session:
            x = torch.ones(2)
            broken = torch.arange(3)[torch.tensor([5])]
            with pytest.raises(IndexError, match="out of bounds") as caught:
                await broken.anumpy()
            assert "recorded at" in str(caught.value.__notes__)
            with pytest.raises(IndexError):
                await broken.anumpy()
            torch.arange(3)[torch.tensor([7])]
            with pytest.raises(IndexError):
                await session.aflush()
            assert await (x + 1).atolist() == [2.0, 2.0]
            torch.arange(3)[torch.tensor([6])]
            with pytest.raises(IndexError):
                await session.aclose()

    run(main())


def test_a_cancelled_task_leaves_to_others_what_they_wait_for(open: Any) -> None:
    async def main() -> None:
        async with open() as session:
            x = torch.ones(300, 300)
            await session.aflush()
            for _ in range(60):
                x = x @ x / 300
            first, second = (asyncio.ensure_future(x[0, k].aitem()) for k in range(2))
            await begun(session, first)
            await asyncio.sleep(0)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert await second == pytest.approx(1.0, rel=1e-3)

    run(main())


def test_a_lost_connection_is_mended_while_the_loop_goes_on(daemon: str) -> None:
    async def main() -> None:
        async with gradd.aconnect(daemon) as session:
            x = torch.zeros(2)
            await session.aflush()
            wire, ready, attach = session.wire, threading.Event(), session.wire.transport.attach

            def late(resume: Any = None) -> Any:
                ready.wait(PATIENCE)
                return attach(resume)

            wire.transport.attach = late
            wire.transport._socket._socket.shutdown(2)
            x.add_(1)
            turns, waiting = Turns(), asyncio.ensure_future(x.atolist())
            await turns.passed(1000)
            assert not waiting.done()
            ready.set()
            assert await waiting == [1.0, 1.0]
            turns.stop()
            wire.transport._socket._socket.shutdown(2)
            for _ in range(3):  # sent in vain, and left to whoever awaits
                x.add_(1)
                session.step_done()
            assert await x.atolist() == [4.0, 4.0]
            assert (await session.ainfo()).batches == wire.seq

    run(main())


def test_a_silent_daemon_is_found_out(daemon: str) -> None:
    async def main() -> None:
        async with gradd.aconnect(daemon) as session:
            x = torch.zeros(2)
            await session.aflush()
            pump, socket = session._pump(), session.wire.transport._socket
            pump._doubt_after = 0.01
            quiet, end = os.pipe()
            socket._take_in = lambda: False  # as if nothing came
            socket.coming = lambda told: os.dup(quiet)
            ask, asked = socket._ask, []

            def watched() -> None:
                asked.append(socket._asked)
                if socket._asked:
                    pump._doubt_after = PATIENCE  # for the next connection
                ask()

            socket._ask = watched
            assert await (x + 1).atolist() == [1.0, 1.0]
            assert asked == [False, True]
            assert session.wire.transport._socket is not socket
            os.close(quiet)
            os.close(end)

    run(main())


def test_an_end_in_the_middle_abandons_the_session(daemon: str) -> None:
    async def main() -> None:
        opened: list[Any] = []

        async def work() -> None:
            async with gradd.aconnect(daemon) as session:
                opened.append(session)
                await long_batch().sum().aitem()

        task = asyncio.ensure_future(work())
        while not (opened and opened[0].wire.flying):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert opened[0]._closed

    run(main())


def test_a_refused_connection_is_raised() -> None:
    async def main() -> None:
        with pytest.raises(gradd.ConnectionFailed):
            await gradd.aconnect("http://127.0.0.1:9")
        with pytest.raises(ValueError, match="url"):
            await gradd.aconnect("ftp://somewhere")

    run(main())


def test_a_session_of_connect_can_be_awaited(daemon: str) -> None:
    with gradd.connect(daemon) as session:
        x = torch.ones(3)

        async def main() -> Any:
            y = x + 1
            return await y.atolist()

        assert run(main()) == run(main()) == [2.0, 2.0, 2.0]
        assert x.tolist() == [1.0, 1.0, 1.0]
        assert session.tensors() == session.mirror()


def test_a_task_may_fail_to_find_the_daemon_again(daemon: str) -> None:
    async def main() -> None:
        session = await gradd.aconnect(daemon, reconnect=0.01)
        x = torch.ones(2)
        await session.aflush()
        attach = session.wire.transport.attach

        def refuse(resume: Any = None) -> Any:
            raise Dropped("the test is in between")

        session.wire.transport.attach = refuse
        session.wire.transport._socket._socket.shutdown(2)
        with pytest.raises(gradd.ConnectionFailed, match="did not come back"):
            await (x + 1).anumpy()
        session.wire.transport.attach = attach
        assert await (x + 1).atolist() == [2.0, 2.0]
        await session.aclose()

    run(main())


def test_many_sessions_in_one_loop(daemon: str) -> None:
    """Each computes its own, at once; none of them takes a thread to wait. `make loop` has a thousand."""
    found = asyncio.run(together(daemon, 24))
    assert found.wrong == 0
    assert found.threads <= found.threads_before + 1  # the keeper
