"""Sessions over HTTP: made, listed, deleted, named; anonymous ones end."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import FastAPI
from gradd_protocol.version import EXTENSIONS
from gradd_server import app
from gradd_server.gate import Gate

from tests.server.conftest import Caller, Clock, Expect
from tests.server.fake_placement import FakePlacement
from tests.waiting import PATIENCE


def test_put_makes_a_session_and_then_gets_it(call: Caller) -> None:
    first, second = call("PUT", "/v1/sessions/demo"), call("PUT", "/v1/sessions/demo")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["name"] == "demo"
    assert first.json()["epoch"] == 1


def test_an_empty_body_means_defaults_whatever_its_type(call: Caller) -> None:
    made = call("PUT", "/v1/sessions/demo", headers={"content-type": "application/x-www-form-urlencoded"})
    assert made.status_code == 201


def test_options_reach_the_placement(call: Caller, placement: FakePlacement) -> None:
    made = call("PUT", "/v1/sessions/demo", json={"device": "cpu", "quota_bytes": 1000})
    assert made.status_code == 201
    given = dict(placement.options["demo"])
    assert given == {"device": "cpu", "quota_bytes": 1000}


def test_other_options_for_an_old_session_conflict(call: Caller, problem: Expect) -> None:
    call("PUT", "/v1/sessions/demo")
    assert call("PUT", "/v1/sessions/demo", json={"device": "cpu"}).status_code == 200
    problem(call("PUT", "/v1/sessions/demo", json={"quota_bytes": 1}), "session-exists", 409)


@pytest.mark.parametrize(
    ("body", "slug", "status"),
    [
        ({"devise": "cpu"}, "invalid-json", 400),
        ({"device": "cuda"}, "invalid-data", 422),
        ({"quota_bytes": -1}, "invalid-data", 422),
        ({"quota_bytes": "1"}, "invalid-json", 400),
        ([], "invalid-json", 400),
    ],
)
def test_bad_options(call: Caller, problem: Expect, body: object, slug: str, status: int) -> None:
    problem(call("PUT", "/v1/sessions/demo", json=body), slug, status)
    problem(call("GET", "/v1/sessions/demo"), "session-not-found", 404)


def test_a_gpu_is_given_or_refused(call: Caller, placement: FakePlacement, problem: Expect) -> None:
    placement.devices = ("cuda:0", "cuda:1")
    assert call("PUT", "/v1/sessions/demo", json={"device": "cuda:1"}).status_code == 201
    assert placement.options["demo"]["device"] == "cuda:1"
    for device in ("cuda:1", "cuda"):
        assert call("PUT", "/v1/sessions/demo", json={"device": device}).status_code == 200
    refused = problem(call("PUT", "/v1/sessions/demo", json={"device": "cuda:0"}), "session-exists", 409)
    assert refused["detail"] == "session 'demo' is on cuda:1, where it stays, and not on cuda:0"
    for device in ("cuda:2", "cpu", "cuda:0,cuda:1", ""):
        refused = problem(call("PUT", "/v1/sessions/other", json={"device": device}), "invalid-data", 422)
        assert refused["detail"] == f"this daemon has no device {device!r}: it serves cuda:0, cuda:1"


BAD_NAMES = {
    "inner parent": "a..b",
    "encoded parent": "%2e%2e",
    "encoded slash": "a%2Fb",
    "encoded lower slash": "a%2fb",
    "backslash": "a%5cb",
    "nul": "a%00",
    "newline": "a%0a",
    "leading dash": "-a",
    "leading dot": ".a",
    "space": "a%20b",
    "look-alike": "%D0%B0bc",
    "not utf-8": "%ff%fe",
    "4 KiB": "a" * 4096,
    "one too long": "a" * 129,
}


@pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES)
def test_bad_names(call: Caller, problem: Expect, name: str) -> None:
    for method, path in (
        ("PUT", name),
        ("GET", name),
        ("DELETE", name),
        ("POST", f"{name}:attach"),
        ("POST", f"{name}/batches"),
        ("GET", f"{name}/tensors/w"),
    ):
        body = {"json": {"steps": []}} if path.endswith("batches") else {}
        problem(call(method, f"/v1/sessions/{path}", **body), "invalid-name", 400)


def test_a_slash_makes_another_path(call: Caller, problem: Expect) -> None:
    problem(call("PUT", "/v1/sessions/a/b"), "not-found", 404)


def test_a_missing_session_is_404_everywhere(call: Caller, problem: Expect) -> None:
    numpy = {"content-type": "application/octet-stream", "gradd-dtype": "uint8", "gradd-shape": "1"}
    for method, path, request in (
        ("GET", "", {}),
        ("POST", ":acquire", {}),
        ("POST", ":cancel", {}),
        ("POST", "/batches", {"json": {"steps": []}}),
        ("GET", "/writers/1/batches/1", {}),
        ("PUT", "/writers/1/batches/1", {"content": b"12345678"}),
        ("GET", "/tensors", {}),
        ("GET", "/tensors/w", {}),
        ("PUT", "/tensors/w", {"json": {"data": 1, "dtype": "float32"}}),
        ("DELETE", "/tensors/w", {}),
        ("POST", "/tensors:fetch", {"json": {"names": []}}),
        ("POST", "/tensors/w:backward", {}),
        ("PUT", "/uploads/1.1", {"content": b"1", "headers": numpy}),
        ("GET", "/results/1.1", {}),
        ("GET", "/snapshots", {}),
        ("POST", "/snapshots", {}),
        ("GET", "/snapshots/3-9f86d081", {}),
        ("DELETE", "/snapshots/3-9f86d081", {}),
    ):
        if request.get("content") == b"12345678":
            request["headers"] = {"content-type": "application/vnd.gradd.frame"}
        problem(call(method, f"/v1/sessions/gone{path}", **request), "session-not-found", 404)


def test_delete_is_idempotent(call: Caller, problem: Expect, placement: FakePlacement) -> None:
    call("PUT", "/v1/sessions/demo")
    assert call("DELETE", "/v1/sessions/demo").status_code == 204
    assert call("DELETE", "/v1/sessions/demo").status_code == 204
    assert placement.sessions == {}
    problem(call("GET", "/v1/sessions/demo"), "session-not-found", 404)


def test_the_list_has_pages(call: Caller) -> None:
    for name in "cab":
        call("PUT", f"/v1/sessions/{name}")
    first = call("GET", "/v1/sessions?page_size=2").json()
    assert [session["name"] for session in first["sessions"]] == ["a", "b"]
    rest = call("GET", f"/v1/sessions?page_size=2&page_token={first['next_page_token']}").json()
    assert [session["name"] for session in rest["sessions"]] == ["c"]
    assert "next_page_token" not in rest


def test_a_bad_page_size(call: Caller, problem: Expect) -> None:
    body = problem(call("GET", "/v1/sessions?page_size=0"), "bad-request", 400)
    assert body["errors"][0]["pointer"] == "/query/page_size"


def test_attach_makes_the_session_and_acquire_does_not(call: Caller, problem: Expect) -> None:
    problem(call("POST", "/v1/sessions/demo:acquire"), "session-not-found", 404)
    attached = call("POST", "/v1/sessions/demo:attach", json={"client": "test"})
    assert attached.status_code == 200
    assert attached.json()["writer"] == 1
    assert attached.headers["gradd-extensions"].split(", ") == list(EXTENSIONS)
    assert attached.json()["session"]["name"] == "demo"
    assert call("POST", "/v1/sessions/demo:acquire").json()["epoch"] == 2


def test_cancel_stops_all_or_those_of_a_writer(
    call: Caller, placement: FakePlacement, problem: Expect
) -> None:
    call("PUT", "/v1/sessions/demo")
    assert call("POST", "/v1/sessions/demo:cancel").status_code == 204
    assert call("POST", "/v1/sessions/demo:cancel", json={"writer": 3, "seq": 8}).status_code == 204
    assert [(name, why.slug, *of) for name, why, *of in placement.stopped] == [
        ("demo", "cancelled", None, None),
        ("demo", "cancelled", 3, 8),
    ]
    problem(call("POST", "/v1/sessions/demo:cancel", json={"writer": -1}), "invalid-json", 400)
    assert len(placement.stopped) == 2


def test_an_idle_anonymous_session_ends_and_a_named_one_stays(call: Caller, gate: Gate, clock: Clock) -> None:
    sessions = gate.front.sessions
    call("PUT", "/v1/sessions/anon-1")
    call("PUT", "/v1/sessions/named")
    clock.now += 1799
    assert sessions.expired() == []
    call("GET", "/v1/sessions/anon-1")
    clock.now += 1799
    assert call.run(sessions.cull()) == []
    clock.now += 1
    assert call.run(sessions.cull()) == ["anon-1"]
    assert [entry.name for entry in sessions] == ["named"]


def test_an_anonymous_session_ends_a_minute_after_its_last_stream(
    call: Caller, gate: Gate, clock: Clock
) -> None:
    sessions = gate.front.sessions
    call("PUT", "/v1/sessions/anon-1")
    entry = sessions.find("default", "anon-1")
    with sessions.stream(entry), sessions.stream(entry):
        clock.now += 10_000
        assert sessions.expired() == []
    clock.now += 59
    assert sessions.expired() == []
    clock.now += 1
    assert sessions.expired() == [entry]


def test_the_daemon_looks_for_sessions_that_are_over(
    call: Caller, gate: Gate, clock: Clock, placement: FakePlacement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "CULL_SECONDS", 0.0)

    async def live() -> None:
        assert isinstance(gate.app, FastAPI)
        async with gate.app.router.lifespan_context(gate.app), asyncio.timeout(PATIENCE):
            await call.send("PUT", "/v1/sessions/anon-1")
            clock.now += 10_000
            while placement.sessions:
                await asyncio.sleep(0)

    call.run(live())
    assert len(gate.front.sessions) == 0


def test_a_writer_that_comes_back_makes_no_session(call: Caller, problem: Expect) -> None:
    body = {"client": "", "resume": 1, "epoch": 1}
    problem(call("POST", "/v1/sessions/ended:attach", json=body), "session-not-found", 404)
    assert call("GET", "/v1/sessions").json()["sessions"] == []
