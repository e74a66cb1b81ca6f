"""The front's event loop, which tenants share: who sends much has no more of it than who sends little."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from gradd_protocol import names
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Batch
from gradd_server.app import create_app
from gradd_server.attention import ALONE, BESIDE, PIECE, Attention
from gradd_server.bodies import OPTIONS_BYTES
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile, mint
from gradd_server.options import FetchOptions
from gradd_server.routes.tensors import FETCH_BYTES
from gradd_server.settings import Settings

from tests.server.asgi_socket import Socket
from tests.server.conftest import OPS, Caller, Expect
from tests.server.fake_placement import FakePlacement

STREAMS, QUEUED = 20, 50


class Noting(FakePlacement):
    """Notes whose frames it is given, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def submit(self, name: str, frame: Any, why: Any = None) -> Any:
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
        await attention.turn(tenant, nbytes)
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
        await attention.turn("honest")
        hostile = [take(attention, "hostile", 3, order, BESIDE * PIECE) for _ in range(10)]
        await asyncio.gather(*hostile, take(attention, "honest", 20, order))

    asyncio.run(all_at_once())
    assert order.count("hostile") == 30
    assert max(runs(order, "honest")) <= 1


def test_who_waits_and_is_gone_takes_no_turn() -> None:
    async def one_goes() -> None:
        attention = Attention()
        await attention.turn("me", ALONE * PIECE)
        waiting = [asyncio.create_task(attention.turn("me")) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(*waiting[1:])
        await attention.turn("me")

    asyncio.run(one_goes())


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("PUT /v1/sessions/demo", OPTIONS_BYTES),
        ("POST /v1/sessions/demo:attach", OPTIONS_BYTES),
        ("POST /v1/sessions/demo:cancel", OPTIONS_BYTES),
        ("POST /v1/sessions/demo:profile", OPTIONS_BYTES),
        ("POST /v1/sessions/demo/tensors:fetch", FETCH_BYTES),
    ],
)
def test_what_the_front_itself_reads_is_small(call: Caller, problem: Expect, path: str, limit: int) -> None:
    """16 MiB of one member again and again took a third of a second, in which nobody else was served."""
    method, target = path.split()
    call("PUT", "/v1/sessions/demo")
    headers = {"content-type": "application/json", "content-length": str(limit + 1)}
    assert problem(call(method, target, headers=headers), "body-too-large", 413)["limit"] == limit


def test_the_longest_list_of_names_can_be_fetched() -> None:
    names = ["a" * LIMITS.name_chars + ".grad"] * LIMITS.batch_steps
    assert len(msgspec.json.encode(FetchOptions(names))) < FETCH_BYTES
