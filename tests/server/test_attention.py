"""The front's event loop, which tenants share: who sends much has no more of it than who sends little."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from time import monotonic, thread_time
from typing import Any

import msgspec
import pytest
from gradd_protocol import names
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Batch
from gradd_runtime.process import BULK_BYTES, Bulk
from gradd_server.app import create_app
from gradd_server.attention import ALONE, BESIDE, FEW, PIECE, REST, Attention, Lane
from gradd_server.bodies import OPTIONS_BYTES
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile, mint
from gradd_server.options import FetchOptions
from gradd_server.routes.tensors import FETCH_BYTES
from gradd_server.settings import Settings

from tests.server.asgi_socket import Socket
from tests.server.conftest import OPS, Caller, Expect
from tests.server.fake_placement import FakePlacement
from tests.waiting import PATIENCE

STREAMS, QUEUED = 20, 50


class Noting(FakePlacement):
    """Notes whose frames it is given, in order, and the latest."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []
        self.latest: Any = None

    def submit(self, name: str, frame: Any, why: Any = None) -> Any:
        self.latest = frame
        self.order.append(names.owner(name))
        return super().submit(name, frame, why)


@pytest.fixture
def noting() -> Iterator[Noting]:
    placement = Noting()
    yield placement
    placement.shutdown()


def batch(seq: int) -> Batch:
    return Batch(writer=1, epoch=1, seq=seq, ack=seq - 1, program="p")


def headers(file: KeyFile, tenant: str) -> dict[str, str]:
    return {"authorization": f"Bearer {file.create(tenant)[0]}"}


def test_a_message_is_not_behind_all_that_another_tenant_sent(tmp_path: Path, noting: Noting) -> None:
    file = KeyFile(tmp_path)
    hostile, honest = headers(file, "hostile"), headers(file, "honest")
    app = create_app(Settings(), noting, OPS, keys=Keyring(file, mint()))

    async def talk() -> None:
        async with AsyncExitStack() as stack:
            many = [Socket(app, f"/v1/sessions/s{n}/stream", hostile) for n in range(STREAMS)]
            one = Socket(app, "/v1/sessions/s/stream", honest)
            for socket in (*many, one):
                await stack.enter_async_context(socket)
                await socket.attach()
            noting.order.clear()
            for seq in range(1, QUEUED + 1):
                for socket in many:
                    socket.send(batch(seq))
            one.send(batch(1))
            await one.reply()
            for socket in many:
                for _ in range(QUEUED):
                    await socket.reply()

    asyncio.run(talk())
    assert len(noting.order) == STREAMS * QUEUED + 1
    assert noting.order.index("honest") <= ALONE + BESIDE


async def take(attention: Attention, tenant: str, times: int, order: list[str], nbytes: int = 0) -> None:
    for _ in range(times):
        await attention.lane(tenant, "streams").turn(nbytes)
        order.append(tenant)


def runs(order: list[str], tenant: str) -> list[int]:
    """How many turns of others are between two of the tenant's."""
    at = [n for n, whose in enumerate(order) if whose == tenant]
    return [later - earlier - 1 for earlier, later in pairwise(at)]


def test_each_tenant_has_turns_in_every_iteration() -> None:
    order: list[str] = []

    async def all_at_once() -> None:
        attention = Attention()
        hostile = [take(attention, "hostile", 20, order) for _ in range(50)]
        await asyncio.gather(*hostile, take(attention, "honest", 30, order))

    asyncio.run(all_at_once())
    assert len(order) == 1030
    assert max(runs(order, "honest")) <= BESIDE


def test_large_messages_are_fewer_to_a_turn() -> None:
    order: list[str] = []

    async def all_at_once() -> None:
        attention = Attention()
        await attention.lane("honest", "streams").turn()
        hostile = [take(attention, "hostile", 3, order, BESIDE * PIECE) for _ in range(10)]
        await asyncio.gather(*hostile, take(attention, "honest", 20, order))

    asyncio.run(all_at_once())
    assert order.count("hostile") == 30
    assert max(runs(order, "honest")) <= 1


def test_who_waits_and_is_gone_takes_no_turn() -> None:
    async def one_goes() -> None:
        lane = Attention().lane("me", "streams")
        await lane.turn(ALONE * PIECE)
        waiting = [asyncio.create_task(lane.turn()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(*waiting[1:])
        await lane.turn()

    asyncio.run(one_goes())


def test_one_message_after_another_costs_no_iterations_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def one_after_another() -> list[Any]:
        loop, scheduled = asyncio.get_running_loop(), list[Any]()
        lane = Attention().lane("me", "streams")
        monkeypatch.setattr(loop, "call_soon", lambda *what, **more: scheduled.append(what))
        for _ in range(FEW):
            await lane.turn()
        monkeypatch.undo()
        return scheduled

    assert asyncio.run(one_after_another()) == []


async def busy(seconds: float) -> None:
    """Work of a request that takes the event loop."""
    until = thread_time() + seconds
    while thread_time() < until:
        pass


async def ask(lane: Lane, seconds: float) -> None:
    await lane.turn()
    await lane.timed(busy(seconds))


def test_requests_rest_beside_another_tenant() -> None:
    """What a stranger's requests take is at most a quarter of the event loop."""
    took, times = 0.002, 10

    async def all_at_once() -> float:
        attention = Attention()
        await attention.lane("honest", "streams").turn()
        lane = attention.lane("hostile", "requests")
        began = monotonic()
        await asyncio.gather(*(ask(lane, took) for _ in range(times)))
        return monotonic() - began

    assert asyncio.run(all_at_once()) > times * took + (times - 1) * REST * took


def test_requests_do_not_rest_where_nobody_else_is() -> None:
    async def alone() -> float:
        lane = Attention().lane("me", "requests")
        await asyncio.gather(*(ask(lane, 0.001) for _ in range(3)))
        return lane.resting_until

    assert asyncio.run(alone()) == 0.0


def test_messages_of_streams_do_not_rest_for_requests() -> None:
    async def both() -> None:
        attention = Attention()
        await attention.lane("other", "streams").turn()
        requests = attention.lane("me", "requests")
        await ask(requests, 0.01)
        with pytest.raises(StopIteration):  # it waits for nothing
            attention.lane("me", "streams").turn().send(None)
        ended = requests.resting_until
        await requests.turn()
        assert monotonic() >= ended

    asyncio.run(both())


def test_answers_to_requests_that_come_at_once_are_sent_in_turns() -> None:
    order: list[str] = []

    async def asked(lane: Lane, answer: asyncio.Event) -> None:
        async def work() -> None:
            await answer.wait()
            order.append(lane.tenant)

        await lane.timed(work())

    async def all_at_once() -> None:
        attention, answer = Attention(), asyncio.Event()
        requests = [attention.lane("hostile", "requests")] * 20
        waiting = [asyncio.create_task(asked(lane, answer)) for lane in requests]
        await attention.lane("hostile", "streams").turn()
        await take(attention, "honest", 1, order)
        await asyncio.sleep(0)  # they begin
        answer.set()
        await asyncio.gather(*waiting, take(attention, "honest", 10, order))

    asyncio.run(all_at_once())
    assert order.count("hostile") == 20
    assert max(runs(order, "honest")) <= BESIDE


def test_a_request_that_is_timed_is_the_request_itself() -> None:
    """Its exceptions come out, a cancellation goes in."""
    ended: list[str] = []

    async def work(waits: float) -> None:
        try:
            await asyncio.sleep(waits)
            raise ValueError("the request's")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        finally:
            ended.append("over")

    async def both() -> None:
        lane = Attention().lane("me", "requests")
        with pytest.raises(ValueError, match="the request's"):
            await lane.timed(work(0))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await lane.timed(work(PATIENCE))

    asyncio.run(both())
    assert ended == ["over", "cancelled", "over"]


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("PUT /v1/sessions/demo", OPTIONS_BYTES),
        ("POST /v1/sessions/demo:attach", OPTIONS_BYTES),
        ("POST /v1/sessions/demo:cancel", OPTIONS_BYTES),
        ("POST /v1/sessions/demo:profile", OPTIONS_BYTES),
        ("POST /v1/sessions/demo:measure", OPTIONS_BYTES),
        ("POST /v1/sessions/demo/tensors:fetch", FETCH_BYTES),
    ],
)
def test_what_the_front_itself_reads_is_small(call: Caller, problem: Expect, path: str, limit: int) -> None:
    """16 MiB of one member again and again took a third of a second, in which nobody else was served."""
    method, target = path.split()
    call("PUT", "/v1/sessions/demo")
    headers = {"content-type": "application/json", "content-length": str(limit + 1)}
    assert problem(call(method, target, headers=headers), "body-too-large", 413)["limit"] == limit


@pytest.mark.parametrize(
    "path", ["PUT /v1/sessions/s/tensors/x", "POST /v1/sessions/s/batches", "PUT /v1/sessions/s/hooks/h"]
)
def test_large_json_is_not_held_in_the_fronts_memory(noting: Noting, path: str) -> None:
    """Of 8 MiB two copies were made in a piece, 11 ms in which nobody else was served."""
    method, target = path.split()
    call = Caller(create_app(Settings(auth=False), noting, OPS))
    call("PUT", "/v1/sessions/s")
    for size, kind in ((BULK_BYTES - 1, bytes), (BULK_BYTES, Bulk)):
        text = b"[" + b" " * (size - 2) + b"]"
        call(method, target, content=text, headers={"content-type": "application/json"})
        assert isinstance(noting.latest, kind)
        said = noting.latest.map() if isinstance(noting.latest, Bulk) else noting.latest
        assert bytes(said).endswith(text)
    call.close()


def test_the_longest_list_of_names_can_be_fetched() -> None:
    names = ["a" * LIMITS.name_chars + ".grad"] * LIMITS.batch_steps
    assert len(msgspec.json.encode(FetchOptions(names))) < FETCH_BYTES
