"""Shares: what their keys read, through every route; how long they live; what is kept of them."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server import shares
from gradd_server.app import create_admin, create_app
from gradd_server.folder_stores import FolderStores
from gradd_server.options import MOST_HOURS
from gradd_server.routes import dashboard
from gradd_server.settings import Settings
from gradd_server.shares import READABLE
from gradd_server.stores import Stores

from tests.server.asgi_socket import Socket
from tests.server.conftest import OPS, Caller, Clock, Expect
from tests.server.fake_placement import FakePlacement
from tests.server.test_auth import ROUTES, STREAM, World, body, filled
from tests.server.test_schemas import named

SESSION = "/v1/sessions/{name}"
SHARES = "/v1/sessions/demo/shares"
Restart: TypeAlias = Callable[[World], World]

READ = {f"GET {path}" for path in READABLE}
OPEN = {"GET /", "GET /dashboard/{file}", "GET /livez", "GET /readyz", "GET /health"}
CLOSED = {
    "GET /openapi.yaml", "GET /problems/{slug}", "GET /v1", "GET /v1/ops", "GET /v1/ops/{op}",
    "GET /v1/sessions", "GET /v1/status", "POST /v1/sessions:reduce",
    "GET /v1/nodes", "POST /v1/nodes/{node}:drain", "POST /v1/nodes/{node}:resume", f"POST {SESSION}:move",
    f"PUT {SESSION}", f"DELETE {SESSION}", f"POST {SESSION}:acquire", f"POST {SESSION}:attach",
    f"POST {SESSION}:cancel", f"POST {SESSION}:profile", f"POST {SESSION}/batches",
    f"GET {SESSION}/hooks", f"GET {SESSION}/hooks/{{hook}}", f"PUT {SESSION}/hooks/{{hook}}",
    f"DELETE {SESSION}/hooks/{{hook}}", f"GET {SESSION}/results/{{key}}",
    f"GET {SESSION}/shares", f"POST {SESSION}/shares", f"DELETE {SESSION}/shares/{{share}}",
    f"GET {SESSION}/snapshots", f"POST {SESSION}/snapshots", f"GET {SESSION}/snapshots/{{snapshot}}",
    f"DELETE {SESSION}/snapshots/{{snapshot}}",
    f"PUT {SESSION}/tensors/{{id}}", f"DELETE {SESSION}/tensors/{{id}}",
    f"POST {SESSION}/tensors/{{id}}:backward", f"POST {SESSION}/tensors:fetch",
    f"PUT {SESSION}/uploads/{{key}}", f"POST {SESSION}:measure",
    f"GET {SESSION}/writers/{{writer}}/batches/{{seq}}", f"PUT {SESSION}/writers/{{writer}}/batches/{{seq}}",
}  # fmt: skip
"""What a share has no business with. A new route belongs here, or to READABLE."""


class Shared(World):
    """With sessions `demo` and `other` of acme, and `demo` of globex, which hold a tensor `w`."""

    def __init__(self, folder: Path, clock: Clock, placement: Any, stores: Stores | None = None) -> None:
        super().__init__(folder, clock, placement, ops(), stores)
        form = {"data": [[3.0], [4.0]], "dtype": "float32", "requires_grad": True}
        for who, name in (("acme user", "demo"), ("acme user", "other"), ("globex user", "demo")):
            assert self.ask(who, "PUT", f"/v1/sessions/{name}").status_code == 201
            assert self.ask(who, "PUT", f"/v1/sessions/{name}/tensors/w", json=form).status_code == 201

    def share(self, hours: int = 168) -> dict[str, Any]:
        """A share of acme's `demo`, whose key is the reader's from now on."""
        made = self.ask("acme user", "POST", SHARES, json={"hours": hours})
        assert made.status_code == 201, made.text
        said: dict[str, Any] = made.json()
        self.keys["reader"] = said["token"]
        return said

    def state(self) -> tuple[Any, ...]:
        """What would tell of a change to acme's `demo`."""
        info = self.ask("acme user", "GET", "/v1/sessions/demo").json()
        value = self.ask("acme user", "GET", "/v1/sessions/demo/tensors/w").json()
        shares = self.ask("acme user", "GET", SHARES).json()
        return info["last_position"], info["epoch"], info["writers"], info["tensors"], value, shares


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    placement = InlinePlacement()
    made = Shared(tmp_path_factory.mktemp("shared"), Clock(), placement)
    made.share()
    yield made
    made.call.close()
    placement.shutdown()


@pytest.fixture
def world(tmp_path: Path, clock: Clock, placement: FakePlacement) -> Iterator[World]:
    """A daemon that keeps sessions, with one of acme, `demo`."""
    made = World(tmp_path, clock, placement, OPS, FolderStores(tmp_path / "sessions"))
    assert made.ask("acme user", "PUT", "/v1/sessions/demo").status_code == 201
    yield made
    made.call.close()


def share(world: World, **options: Any) -> dict[str, Any]:
    """A new share of `demo`, whose key is the reader's from now on."""
    made = world.ask("acme user", "POST", SHARES, json=options)
    assert made.status_code == 201, made.text
    said: dict[str, Any] = made.json()
    world.keys["reader"] = said["token"]
    return said


def listed(world: World) -> list[str]:
    return [found["id"] for found in world.ask("acme user", "GET", SHARES).json()["shares"]]


@pytest.mark.parametrize(
    "body",
    [{}, {"hours": 1}, {"hours": 8784}, {"hours": 0}, {"hours": 8785}, {"hours": 1.5}, {"hours": "1"},
     {"hours": None}, {"hour": 1}, []],
    ids=repr,
)  # fmt: skip
def test_a_share_is_made_where_the_schema_says_so(shared: Shared, body: Any) -> None:
    answer = shared.ask("acme user", "POST", SHARES, json=body)
    assert answer.is_success == named("ShareOptions").is_valid(body), answer.text
    assert answer.status_code < 500


def test_every_route_is_known_to_be_read_or_not() -> None:
    assert {f"{method} {path}" for method, path in ROUTES} == READ | OPEN | CLOSED
    assert not READ & CLOSED


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_share_reads_its_session_and_nothing_else(
    shared: Shared, problem: Expect, method: str, path: str
) -> None:
    before = shared.state()
    answer = shared.ask("reader", method, filled(path), **body(method, path))
    if f"{method} {path}" in READ | OPEN:
        assert answer.status_code == 200, answer.text
    else:
        assert "demo" in problem(answer, "read-only", 403)["detail"]
    assert shared.state() == before


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "OPTIONS"])
def test_a_share_has_no_other_method(shared: Shared, problem: Expect, method: str) -> None:
    for path in sorted({path for _, path in ROUTES if f"GET {path}" not in OPEN}):
        problem(shared.ask("reader", method, filled(path)), "read-only", 403)


@pytest.mark.parametrize("path", [path for path in READABLE if "{name}" in path])
def test_other_sessions_are_not_there(shared: Shared, problem: Expect, path: str) -> None:
    place = filled(path)
    assert shared.ask("reader", "GET", place).status_code == 200
    for other in ("other", "none", "demo2", "Demo", ".demo", "demo%0A", "a" * 1000):
        refused = shared.ask("reader", "GET", place.replace("/demo", f"/{other}"))
        problem(refused, "session-not-found", 404)


@pytest.mark.parametrize(
    "path",
    ["/v1/sessions/demo/none", "/v2", "/metrics", "/dashboard/none.js", "/v1/sessions/demo/", "/v1/live/",
     "/v1/live%0A", "/v1/sessions/demo/tensors/w%2Fgraph/x"],
)  # fmt: skip
def test_a_path_that_is_nowhere_is_refused(shared: Shared, problem: Expect, path: str) -> None:
    problem(shared.ask("reader", "GET", path), "read-only", 403)


def test_a_share_opens_no_stream(shared: Shared) -> None:
    async def talk() -> None:
        for path in (STREAM, STREAM.replace("demo", "other"), "/v1/sessions/demo"):
            async with Socket(shared.gate, path, shared.head("reader")) as socket:
                start = await socket.event()
                assert (start["type"], start["status"]) == ("websocket.http.response.start", 403)
                assert json.loads((await socket.event())["body"])["type"] == "/problems/read-only"

    before = shared.state()
    shared.call.run(talk())
    assert shared.state() == before


def test_a_share_reads_values_in_every_form(shared: Shared) -> None:
    for kind in ("application/json", "application/octet-stream", "application/x-npy"):
        answer = shared.ask("reader", "GET", "/v1/sessions/demo/tensors/w", headers={"accept": kind})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == kind
    graph = shared.ask("reader", "GET", "/v1/sessions/demo/tensors/w/graph").json()
    assert graph["nodes"][0]["leaf"]["tensor"] == "w"


def test_what_is_live_is_its_session_alone(shared: Shared) -> None:
    state = shared.ask("reader", "GET", "/v1/live").json()
    assert (state["tenant"], state["role"]) == ("acme", "reader")
    assert [(s["tenant"], s["name"], s["tensors"]) for s in state["sessions"]] == [("acme", "demo", 1)]
    assert (state["tenants"], state["engines"], state["more"]) == ([], [], 0)
    assert shared.ask("reader", "GET", "/readyz?verbose").json() == {"status": "ready"}


def test_the_admin_listener_is_closed_to_a_share(shared: Shared, problem: Expect) -> None:
    call = Caller(create_admin(shared.gate.front, private=False))  # type: ignore[arg-type]
    problem(call("GET", "/metrics", headers=shared.head("reader")), "forbidden", 403)
    call.close()


def test_no_other_tenant_shares_it(world: World, problem: Expect) -> None:
    made = share(world)
    for who in ("globex user", "globex operator", "local"):
        problem(world.ask(who, "POST", SHARES), "session-not-found", 404)
        problem(world.ask(who, "GET", SHARES), "session-not-found", 404)
        problem(world.ask(who, "DELETE", f"{SHARES}/{made['id']}"), "session-not-found", 404)
    assert listed(world) == [made["id"]]


def test_a_share_lives_a_week_unless_it_is_said(world: World, clock: Clock, problem: Expect) -> None:
    week, hour = world.ask("acme user", "POST", SHARES).json(), share(world, hours=1)
    assert (week["expires"] - week["created"], hour["expires"] - hour["created"]) == (168 * 3600, 3600)
    clock.now += 3599
    assert world.ask("reader", "GET", "/v1/sessions/demo").status_code == 200
    clock.now += 1
    refused = world.ask("reader", "GET", "/v1/sessions/demo")
    assert problem(refused, "unauthenticated", 401)["detail"] == "this key has expired"
    assert listed(world) == [week["id"]]


@pytest.mark.parametrize(
    "options", [{"hours": 0}, {"hours": -1}, {"hours": MOST_HOURS + 1}, {"hours": 1.5}, {"hours": "1"},
                {"hours": None}, {"days": 1}, []],
)  # fmt: skip
def test_what_is_no_share(world: World, problem: Expect, options: Any) -> None:
    problem(world.ask("acme user", "POST", SHARES, json=options), "invalid-json", 400)
    assert listed(world) == []


def test_there_are_only_so_many(world: World, problem: Expect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "MOST", 4)
    made = [share(world)["id"] for _ in range(4)]
    assert len(set(made)) == 4
    refused = problem(world.ask("acme user", "POST", SHARES), "too-many", 429)
    assert (refused["used"], refused["limit"]) == (4, 4)
    world.ask("acme user", "DELETE", f"{SHARES}/{made[3]}")
    share(world)
    assert len(listed(world)) == 4


def test_a_revoked_share_opens_nothing(world: World, problem: Expect) -> None:
    kept, gone = share(world), share(world)
    assert sorted(listed(world)) == sorted((kept["id"], gone["id"]))
    for _ in range(2):
        assert world.ask("acme user", "DELETE", f"{SHARES}/{gone['id']}").status_code == 204
        problem(world.ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401)
    assert listed(world) == [kept["id"]]
    world.keys["reader"] = kept["token"]
    assert world.ask("reader", "GET", "/v1/sessions/demo").status_code == 200


def test_a_share_goes_with_its_session(world: World, problem: Expect) -> None:
    share(world)
    assert world.ask("acme user", "DELETE", "/v1/sessions/demo").status_code == 204
    assert "with its session" in problem(
        world.ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401
    )["detail"]  # fmt: skip
    assert world.ask("acme user", "PUT", "/v1/sessions/demo").status_code == 201
    problem(world.ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401)
    assert listed(world) == []


@pytest.fixture
def again(tmp_path: Path) -> Iterator[Restart]:
    """A function that gives the same daemon after a restart."""
    made: list[World] = []

    def restart(world: World) -> World:
        new = World(tmp_path, Clock(), FakePlacement(), OPS, FolderStores(tmp_path / "sessions"))
        made.append(new)
        new.keys["reader"] = world.keys["reader"]
        new.call.run(new.gate.front.sessions.restore())
        return new

    yield restart
    for each in made:
        each.call.close()
        each.placement.shutdown()


def test_a_share_survives_a_restart(world: World, again: Restart, problem: Expect) -> None:
    made = share(world)
    restarted = again(world)
    assert restarted.ask("reader", "GET", "/v1/sessions/demo").status_code == 200
    problem(restarted.ask("reader", "DELETE", "/v1/sessions/demo"), "read-only", 403)
    restarted.gate.front.sessions.find("acme", "demo")
    world.ask("acme user", "DELETE", f"{SHARES}/{made['id']}")
    problem(again(world).ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401)


def test_a_share_of_what_is_not_kept_goes_with_the_daemon(
    world: World, again: Restart, problem: Expect
) -> None:
    assert world.ask("acme user", "DELETE", "/v1/sessions/demo").status_code == 204
    world.ask("acme user", "PUT", "/v1/sessions/demo", json={"durability": "memory"})
    share(world)
    assert world.ask("reader", "GET", "/v1/sessions/demo").status_code == 200
    restarted = again(world)
    assert restarted.ask("acme user", "PUT", "/v1/sessions/demo").status_code == 201
    problem(restarted.ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401)


def shares_file(folder: Path) -> Path:
    (found,) = folder.glob("sessions/*/*/shares.json")
    return found


def test_only_the_hash_is_kept_and_nobody_else_reads_it(world: World, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = share(world)
    finally:
        os.umask(old)
    kept = shares_file(tmp_path)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert made["id"] in kept.read_text()
    assert made["token"][6:70] not in kept.read_text()
    assert "token" not in world.ask("acme user", "GET", SHARES).json()["shares"][0]


@pytest.mark.parametrize("how", ["open to others", "no file of shares", "of another session", "no text"])
def test_a_file_that_cannot_be_trusted_lets_nobody_in(
    world: World, again: Restart, tmp_path: Path, problem: Expect, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    share(world)
    kept = shares_file(tmp_path)
    if how == "open to others":
        kept.chmod(0o644)
    elif how == "of another session":
        kept.write_text(kept.read_text().replace('"demo"', '"other"'))
    else:
        kept.write_bytes(b"[{}]" if how == "no file of shares" else b"\xff")
    restarted = again(world)
    problem(restarted.ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401)
    assert restarted.ask("acme user", "GET", "/v1/sessions/demo").status_code == 200
    assert "no share of a session is taken" in caplog.text


def test_what_cannot_be_written_is_no_share_and_revoking_works(
    world: World, again: Restart, monkeypatch: pytest.MonkeyPatch, problem: Expect
) -> None:
    made = share(world)

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    problem(world.ask("acme user", "POST", SHARES), "disk-full", 507)
    assert listed(world) == [made["id"]]
    problem(world.ask("acme user", "DELETE", f"{SHARES}/{made['id']}"), "disk-full", 507)
    problem(world.ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401)
    monkeypatch.undo()
    assert world.ask("acme user", "DELETE", f"{SHARES}/{made['id']}").status_code == 204
    problem(again(world).ask("reader", "GET", "/v1/sessions/demo"), "unauthenticated", 401)


def test_a_daemon_without_keys_shares_nothing(placement: FakePlacement, problem: Expect) -> None:
    call = Caller(create_app(Settings(auth=False), placement, OPS))
    call("PUT", "/v1/sessions/demo")
    for method in ("GET", "POST"):
        assert "--no-auth" in problem(call(method, SHARES), "invalid-data", 422)["detail"]
    call.close()


def test_the_audit_log_says_who_shared_what(world: World, notes: list[dict[str, Any]]) -> None:
    made = share(world, hours=2)
    world.ask("reader", "GET", "/v1/sessions/demo")
    world.ask("reader", "DELETE", "/v1/sessions/demo")
    world.ask("acme user", "DELETE", f"{SHARES}/{made['id']}")
    said = [(note["audit"], note["key"], note["session"], note.get("share")) for note in notes]
    owner = world.ids["acme user"]
    assert said == [
        ("shared", owner, "demo", made["id"]),
        ("changed", owner, "demo", None),
        ("refused", made["id"], None, None),
        ("changed", owner, "demo", None),
    ]
    assert notes[0]["hours"] == 2
    assert notes[3]["route"] == f"DELETE {SHARES}/{made['id']}"
    assert made["token"] not in json.dumps(notes)


def test_what_is_told_live_ends_with_the_share(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "EVERY", 0.0)
    made = shared.share()

    async def listen() -> list[Any]:
        sent: list[Any] = []
        scope = {
            "type": "http", "method": "GET", "path": "/v1/live", "query_string": b"", "scheme": "http",
            "headers": [(b"host", b"127.0.0.1:4733"), (b"accept", b"text/event-stream"),
                        (b"authorization", f"Bearer {made['token']}".encode())],
        }  # fmt: skip

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)
            if message.get("body"):
                path = f"{SHARES}/{made['id']}"
                await shared.call.send("DELETE", path, headers=shared.head("acme user"))

        await shared.gate(scope, receive, send)
        return sent

    start, event, end = shared.call.run(listen())
    assert start["status"] == 200
    assert b'"role":"reader"' in event["body"]
    assert (end["body"], end["more_body"]) == (b"", False)
