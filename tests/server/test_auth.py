"""Who can do what: every route and the stream, without a key and with those of two tenants in both roles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from gradd_protocol import messages
from gradd_protocol.messages import Batch, ProblemReply
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server import app
from gradd_server.apidoc import operations
from gradd_server.app import create_app
from gradd_server.gate import PROBES, Gate
from gradd_server.keyring import Keyring
from gradd_server.keys import KeyFile, mint
from gradd_server.operations import OPERATIONS, PATH_PARAMETERS
from gradd_server.pages import PATHS
from gradd_server.settings import Settings
from gradd_server.stores import Stores
from starlette.routing import WebSocketRoute

from tests.server.asgi_socket import Socket
from tests.server.conftest import OPS, Caller, Clock, Expect
from tests.server.fake_placement import FakePlacement
from tests.waiting import PATIENCE

STREAM = "/v1/sessions/demo/stream"
ROUTES = sorted((method, route.path) for method, route in operations(app.http_routes()))
IN_SESSION = [
    (method, path)
    for method, path in ROUTES
    if path.startswith("/v1/sessions/{name}")
    and (method, path) not in {("PUT", "/v1/sessions/{name}"), ("DELETE", "/v1/sessions/{name}")}
    and not path.endswith(":attach")
]


class World:
    """A daemon that asks for keys, and one key of each kind."""

    def __init__(
        self, folder: Path, clock: Clock, placement: Any, ops: Any, stores: Stores | None = None
    ) -> None:
        self.file = KeyFile(folder, clock)
        self.local = mint()
        self.keys = {"local": self.local}
        self.ids = {}
        for tenant in ("acme", "globex"):
            for role in ("user", "operator"):
                secret, key = self.file.create(tenant, role)  # type: ignore[arg-type]
                self.keys[f"{tenant} {role}"] = secret
                self.ids[f"{tenant} {role}"] = key.id
        self.ring = Keyring(self.file, self.local, clock)
        self.placement = placement
        self.gate: Gate = create_app(Settings(), placement, ops, clock, stores, self.ring)
        self.call = Caller(self.gate)

    def head(self, who: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.keys[who]}"}

    def ask(self, who: str, method: str, path: str, **request: Any) -> Any:
        headers = {**self.head(who), **request.pop("headers", {})}
        return self.call(method, path, headers=headers, **request)

    def socket(self, who: str, path: str = STREAM) -> Socket:
        return Socket(self.gate, path, self.head(who))


@pytest.fixture
def world(tmp_path: Path, clock: Clock, placement: FakePlacement) -> Iterator[World]:
    made = World(tmp_path, clock, placement, OPS)
    yield made
    made.call.close()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """With a session `demo` of acme in the runtime that computes."""
    placement = InlinePlacement()
    made = World(tmp_path_factory.mktemp("real"), Clock(), placement, ops())
    assert made.ask("acme user", "PUT", "/v1/sessions/demo").status_code == 201
    form = {"data": [3.0], "dtype": "float32", "requires_grad": True}
    assert made.ask("acme user", "PUT", "/v1/sessions/demo/tensors/w", json=form).status_code == 201
    yield made
    made.call.close()
    placement.shutdown()


def filled(path: str) -> str:
    for name, (_, example) in PATH_PARAMETERS.items():
        path = path.replace(f"{{{name}}}", str(example))
    return path


def body(method: str, path: str) -> dict[str, Any]:
    """A request that the route would take."""
    said = OPERATIONS[f"{method} {path}"]
    request: dict[str, Any] = {
        "headers": {parameter.name: str(parameter.example) for parameter in said.parameters
                    if parameter.place == "header" and parameter.required}
    }  # fmt: skip
    if said.request and said.request[0].example is not None:
        request["json"] = said.request[0].example
    elif said.request:
        request["content"] = b"\0\0\0\0"
        request["headers"] |= {"content-type": "application/octet-stream", "gradd-dtype": "float32",
                               "gradd-shape": "1"}  # fmt: skip
    return request


def slug(response: Any) -> str:
    kind = response.headers.get("content-type", "")
    return response.json()["type"].rpartition("/")[2] if kind == "application/problem+json" else ""


def test_the_walk_is_over_all_routes(world: World) -> None:
    everything: Any = world.gate.app
    assert {f"{method} {path}" for method, path in ROUTES} == set(OPERATIONS)
    streams = [route.path for route in everything.routes if isinstance(route, WebSocketRoute)]
    assert streams == ["/v1/sessions/{name}/stream"]
    assert len(everything.routes) == len(app.http_routes()) + 1
    assert {"/livez", "/readyz", "/health"} == PROBES


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_a_key_all_but_probes_and_the_page_are_refused(
    world: World, problem: Expect, method: str, path: str
) -> None:
    for headers in ({}, {"authorization": f"Bearer {mint()}"}, {"authorization": "Basic YTpi"}):
        answer = world.call(method, filled(path), headers=headers)
        if filled(path) in PROBES | PATHS:
            assert answer.status_code == 200
            continue
        problem(answer, "unauthenticated", 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert world.placement.asked == 0


@pytest.mark.parametrize(
    "path",
    ["/dashboard", "/dashboard/none.js", "/v2", "/docs", "/metrics", "/v1/sessions/demo/stream", "/livez/x"],
)
def test_paths_that_are_not_there_are_refused_too(world: World, problem: Expect, path: str) -> None:
    problem(world.call("GET", path), "unauthenticated", 401)
    problem(world.ask("local", "GET", path), "not-found", 404)


def test_the_stream_wants_a_key(world: World) -> None:
    async def talk() -> None:
        for headers in ({}, {"authorization": f"Bearer {mint()}"}):
            async with Socket(world.gate, STREAM, headers) as socket:
                start = await socket.event()
                assert (start["type"], start["status"]) == ("websocket.http.response.start", 401)
                assert (b"www-authenticate", b'Bearer realm="gradd"') in start["headers"]
                said = json.loads((await socket.event())["body"])
                assert said["type"] == "/problems/unauthenticated"

    world.call.run(talk())
    assert len(world.gate.front.sessions) == 0


def test_an_app_without_keys_lets_nobody_in(placement: FakePlacement, problem: Expect) -> None:
    call = Caller(create_app(Settings(), placement, OPS))
    problem(
        call("GET", "/v1/sessions", headers={"authorization": f"Bearer {mint()}"}), "unauthenticated", 401
    )
    call.close()


@pytest.mark.parametrize("name", ["token", "access_token", "api_key", "key", "Token"])
def test_a_key_never_stands_in_the_url(world: World, problem: Expect, name: str) -> None:
    path = f"/v1/sessions?{name}={world.local}"
    for answer in (world.call("GET", path), world.ask("local", "GET", path)):
        problem(answer, "bad-request", 400)
        assert world.local not in answer.text


@pytest.mark.parametrize("who", ["acme user", "acme operator", "globex user", "globex operator", "local"])
@pytest.mark.parametrize(("method", "path"), IN_SESSION)
def test_a_session_is_there_for_its_tenant_alone(real: World, who: str, method: str, path: str) -> None:
    answer = real.ask(who, method, filled(path), **body(method, path))
    if who.startswith("acme"):
        assert answer.status_code not in (401, 403)
        assert slug(answer) != "session-not-found"
    else:
        assert (answer.status_code, slug(answer)) == (404, "session-not-found")
        assert "acme" not in answer.text


@pytest.mark.parametrize("who", ["globex user", "globex operator", "local"])
def test_what_makes_or_ends_a_session_means_ones_own(real: World, who: str) -> None:
    assert real.ask(who, "DELETE", "/v1/sessions/demo").status_code == 204
    assert real.ask(who, "PUT", "/v1/sessions/demo").status_code == 201
    assert real.ask(who, "GET", "/v1/sessions/demo").json()["tensors"] == 0
    assert real.ask(who, "POST", "/v1/sessions/demo:attach").json()["session"]["name"] == "demo"
    assert real.ask(who, "DELETE", "/v1/sessions/demo").status_code == 204
    held = real.ask("acme user", "GET", "/v1/sessions/demo/tensors/w")
    assert held.status_code == 200


def test_a_writer_cannot_be_taken_over_from_another_tenant(real: World) -> None:
    mine = real.ask("acme user", "POST", "/v1/sessions/demo:attach").json()
    resume = {"client": "thief", "resume": mine["writer"], "epoch": mine["epoch"]}
    stolen = real.ask("globex user", "POST", "/v1/sessions/demo:attach", json=resume)
    assert (stolen.status_code, slug(stolen)) == (404, "session-not-found")
    again = real.ask("acme operator", "POST", "/v1/sessions/demo:attach", json=resume)
    assert again.json()["writer"] == mine["writer"]


def listed(world: World, who: str, query: str = "") -> list[str]:
    answer = world.ask(who, "GET", f"/v1/sessions{query}")
    assert answer.status_code == 200, answer.text
    return [session["name"] for session in answer.json()["sessions"]]


def test_listings_hold_the_tenants_own(world: World, problem: Expect) -> None:
    for who, name in (("acme user", "a"), ("globex user", "g"), ("local", "d")):
        world.ask(who, "PUT", f"/v1/sessions/{name}")
        world.ask(who, "PUT", "/v1/sessions/same")
    assert listed(world, "acme user") == listed(world, "acme operator") == ["a", "same"]
    assert listed(world, "globex user") == ["g", "same"]
    assert listed(world, "local") == ["d", "same"]
    assert listed(world, "globex operator", "?tenant=acme") == ["a", "same"]
    assert listed(world, "acme user", "?tenant=acme") == ["a", "same"]
    assert listed(world, "local", "?tenant=nobody") == []
    assert listed(world, "local", "?tenant=acme&page_size=1") == ["a"]
    for tenant in ("globex", "default", "nobody"):
        problem(world.ask("acme user", "GET", f"/v1/sessions?tenant={tenant}"), "forbidden", 403)
    problem(world.ask("local", "GET", "/v1/sessions?tenant=..%2F"), "invalid-name", 400)
    assert sorted(world.placement.sessions) == ["acme/a", "acme/same", "d", "globex/g", "globex/same", "same"]


def test_probes_tell_operators_alone_what_goes_on(world: World) -> None:
    assert world.call("GET", "/readyz?verbose").json() == {"status": "ready"}
    assert world.ask("acme user", "GET", "/readyz?verbose").json() == {"status": "ready"}
    assert world.ask("local", "GET", "/readyz?verbose").json()["unanswered"] == 0
    stranger = {"authorization": f"Bearer {mint()}"}
    assert world.call("GET", "/readyz?verbose", headers=stranger).json() == {"status": "ready"}


def batch(seq: int) -> Batch:
    return Batch(writer=1, epoch=1, seq=seq, ack=seq - 1, program="p")


def test_a_stream_is_of_the_tenant_that_opened_it(world: World) -> None:
    async def talk() -> None:
        for who in ("acme user", "globex user"):
            async with world.socket(who) as socket:
                attached = await socket.attach()
                assert attached.writer == 1
                assert attached.session.name == "demo"

    world.call.run(talk())
    assert sorted(world.placement.sessions) == ["acme/demo", "globex/demo"]


async def refused(socket: Socket) -> str:
    reply = await socket.reply()
    assert isinstance(reply, ProblemReply)
    assert reply.problem.slug == "unauthenticated"
    assert await socket.closed() == 1008
    return reply.problem.detail


def test_a_revoked_keys_stream_ends_at_its_next_message(world: World) -> None:
    async def talk() -> None:
        async with world.socket("acme user") as socket, world.socket("acme operator") as other:
            await socket.attach()
            await other.attach()
            socket.send(batch(1))
            assert isinstance(await socket.reply(), messages.BatchReply)
            world.file.revoke(world.ids["acme user"])
            socket.send(batch(2))
            assert await refused(socket) == "this key was revoked"
            other.send(batch(2))
            assert isinstance(await other.reply(), messages.BatchReply)

    world.call.run(talk())
    assert world.placement.sessions["acme/demo"].applied == [1, 2]
    assert world.gate.front.idle
    assert world.gate.front.streams == set()


@pytest.mark.parametrize("how", ["revoked", "expired", "rotated"])
def test_a_silent_stream_ends_too(
    world: World, clock: Clock, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(app, "KEY_SECONDS", 0.0)
    secret, key = world.file.create("acme", lifetime=60)
    everything: Any = world.gate.app

    async def talk() -> None:
        async with (
            everything.router.lifespan_context(everything),
            asyncio.timeout(PATIENCE),
            Socket(world.gate, STREAM, {"authorization": f"Bearer {secret}"}) as socket,
        ):
            await socket.attach()
            if how == "revoked":
                world.file.revoke(key.id)
            elif how == "rotated":
                world.file.rotate(key.id)
            else:
                clock.now += 60
            assert await refused(socket) == f"this key {'has expired' if how == 'expired' else 'was revoked'}"

    world.call.run(talk())


def test_a_revoked_key_is_refused_over_http_at_once(world: World, problem: Expect) -> None:
    assert world.ask("acme user", "PUT", "/v1/sessions/demo").status_code == 201
    world.file.revoke(world.ids["acme user"])
    problem(world.ask("acme user", "GET", "/v1/sessions/demo"), "unauthenticated", 401)
    assert world.ask("acme operator", "GET", "/v1/sessions/demo").status_code == 200


def test_the_audit_log_says_who_changed_what(world: World, notes: list[dict[str, Any]]) -> None:
    world.ask("acme user", "GET", "/v1/sessions")
    world.call("GET", "/livez")
    assert notes == []
    put = world.ask("acme user", "PUT", "/v1/sessions/demo", json={"device": "cpu"})
    (note,) = notes
    assert note == {
        "audit": "changed",
        "request_id": put.headers["x-request-id"],
        "client": "127.0.0.1",
        "tenant": "acme",
        "key": world.ids["acme user"],
        "session": "demo",
        "route": "PUT /v1/sessions/demo",
        "status": 201,
        "bytes": len(put.request.content),
    }


def test_the_audit_log_says_who_was_refused(world: World, notes: list[dict[str, Any]]) -> None:
    world.call("GET", "/v1/sessions", headers={"authorization": "Bearer hunter2"})
    world.ask("acme user", "GET", "/v1/sessions?tenant=globex")
    assert [(note["audit"], note["status"], note["tenant"]) for note in notes] == [
        ("refused", 401, None), ("refused", 403, "acme")
    ]  # fmt: skip
    assert "hunter2" not in msgspec.json.encode(notes).decode()


def test_the_audit_log_counts_the_batches_of_a_stream(world: World, notes: list[dict[str, Any]]) -> None:
    async def talk() -> None:
        async with world.socket("acme user") as socket:
            await socket.attach()
            for seq in (1, 2):
                socket.send(batch(seq))
                await socket.reply()

    world.call.run(talk())
    opened, ended = notes
    assert (opened["audit"], opened["session"], opened["tenant"]) == ("stream opened", "demo", "acme")
    assert (ended["audit"], ended["batches"]) == ("stream ended", 2)
    assert ended["bytes"] > 0
    said = msgspec.json.encode(notes).decode()
    assert not [secret for secret in world.keys.values() if secret in said]
