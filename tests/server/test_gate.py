"""The door: one test per way to be refused before a route is reached."""

from __future__ import annotations

import re

import pytest
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_runtime.catalog import ops
from gradd_runtime.process import InlinePlacement
from gradd_server.app import create_app
from gradd_server.gate import MAX_PATH_BYTES, Gate
from gradd_server.settings import Settings

from tests.server.conftest import Caller, Expect
from tests.server.fake_placement import FakePlacement


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:4733", "127.0.0.1:1", "[::1]:65535"]
)
def test_hosts_that_are_this_machine(call: Caller, host: str) -> None:
    assert call("GET", "/livez", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.2",
        "0.0.0.0",
        "localhost:",
        "localhost:123456",
        "localhost.",
        "user@localhost",
        "::1",
        "",
    ],
)
def test_other_hosts_are_refused(call: Caller, problem: Expect, host: str) -> None:
    problem(call("GET", "/livez", headers={"host": host}), "host-refused", 421)


def test_two_hosts_are_refused(call: Caller, problem: Expect) -> None:
    problem(
        call("GET", "/livez", headers=[("host", "localhost"), ("host", "localhost")]), "host-refused", 421
    )


@pytest.mark.parametrize("origin", ["http://127.0.0.1:4733", "HTTP://127.0.0.1:4733"])
def test_the_daemons_own_origin_is_let_in(call: Caller, origin: str) -> None:
    assert call("GET", "/livez", headers={"origin": origin}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://127.0.0.1:4734",
        "https://127.0.0.1:4733",
        "http://localhost:4733",
        "null",
        "",
    ],
)
def test_other_origins_are_refused(call: Caller, problem: Expect, origin: str) -> None:
    refused = call("GET", "/v1/sessions", headers={"origin": origin})
    problem(refused, "origin-refused", 403)
    assert not [name for name in refused.headers if name.startswith("access-control-")]


def test_there_is_no_preflight(call: Caller, problem: Expect) -> None:
    own = {"origin": "http://127.0.0.1:4733", "access-control-request-method": "PUT"}
    refused = call("OPTIONS", "/v1/sessions", headers=own)
    problem(refused, "method-not-allowed", 405)
    assert not [name for name in refused.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/json; charset=latin-1",
        "application/jsonx",
        "",
    ],
)
def test_unlisted_content_types(call: Caller, problem: Expect, kind: str) -> None:
    refused = call("POST", "/v1/sessions/demo/batches", content=b"{}", headers={"content-type": kind})
    assert problem(refused, "unsupported-media-type", 415)["supported"]


def test_a_body_without_a_content_type(call: Caller, problem: Expect) -> None:
    problem(call("POST", "/v1/sessions/demo/batches", content=b"{}"), "unsupported-media-type", 415)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=UTF-8"])
def test_listed_content_types(call: Caller, kind: str) -> None:
    call("PUT", "/v1/sessions/demo")
    done = call("POST", "/v1/sessions/demo/batches", content=b"{}", headers={"content-type": kind})
    assert done.status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "identity, gzip", ""])
def test_encoded_bodies(call: Caller, problem: Expect, encoding: str) -> None:
    headers = {"content-type": "application/json", "content-encoding": encoding}
    refused = call("POST", "/v1/sessions/demo/batches", content=b"{}", headers=headers)
    problem(refused, "unsupported-media-type", 415)


@pytest.mark.parametrize("length", ["-1", "1e3", "0x10", " ", "9" * 19, "1,1", "+1"])
def test_bad_content_lengths(call: Caller, problem: Expect, length: str) -> None:
    headers = {"content-type": "application/json", "content-length": length}
    problem(call("POST", "/v1/sessions/demo/batches", headers=headers), "bad-request", 400)


def test_two_content_lengths(call: Caller, problem: Expect) -> None:
    headers = [("content-type", "application/json"), ("content-length", "2"), ("content-length", "3")]
    problem(call("POST", "/v1/sessions/demo/batches", headers=headers), "bad-request", 400)


def test_too_many_headers(call: Caller, problem: Expect) -> None:
    many = [(f"x-{n}", "1") for n in range(LIMITS.http_headers)]
    problem(call("GET", "/livez", headers=many), "headers-too-large", 431)


def test_too_large_headers(call: Caller, problem: Expect) -> None:
    large = {"x-large": "a" * LIMITS.http_header_bytes}
    body = problem(call("GET", "/livez", headers=large), "headers-too-large", 431)
    assert body["limit"] == LIMITS.http_header_bytes < body["used"]


def test_a_path_without_end(call: Caller, problem: Expect) -> None:
    problem(call("GET", "/" + "a" * MAX_PATH_BYTES), "bad-request", 400)


def test_no_such_path(call: Caller, problem: Expect) -> None:
    for path in ("/dashboard", "/v2", "/v1/", "/docs", "/openapi.json", "/v1/sessions/demo/stream"):
        problem(call("GET", path), "not-found", 404)


def test_a_wrong_method_names_the_right_ones(call: Caller, problem: Expect) -> None:
    refused = call("DELETE", "/v1")
    problem(refused, "method-not-allowed", 405)
    assert refused.headers["allow"] == "GET"


def test_a_failure_of_the_daemon_says_nothing_of_its_inside(
    call: Caller, problem: Expect, placement: FakePlacement
) -> None:
    call("PUT", "/v1/sessions/demo")
    placement.broken = True
    for path in ("/v1/sessions/demo", "/v1/sessions", "/v1/sessions/demo/tensors"):
        failed = call("GET", path)
        body = problem(failed, "internal", 500)
        assert body["request_id"] == failed.headers["x-request-id"]
        assert "secret" not in failed.text


def test_request_ids_differ(call: Caller) -> None:
    ids = {call("GET", "/livez").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3


def test_while_draining_only_probes_and_reads_are_answered(call: Caller, problem: Expect, gate: Gate) -> None:
    call("PUT", "/v1/sessions/demo")
    gate.front.draining.set()
    for path in ("/readyz", "/health"):
        problem(call("GET", path), "draining", 503)
    refused = call("PUT", "/v1/sessions/other")
    problem(refused, "draining", 503)
    assert refused.headers["retry-after"] == "1"
    assert call("GET", "/livez").status_code == 200
    assert call("GET", "/v1/sessions/demo").status_code == 200
    assert gate.front.idle


def test_a_reply_says_where_its_time_went() -> None:
    placement = InlinePlacement()
    call = Caller(create_app(Settings(auth=False), placement, ops()))
    try:
        alone = call("GET", "/livez").headers["server-timing"]
        assert re.fullmatch(r"total;dur=\d+\.\d{3}", alone)
        call("PUT", "/v1/sessions/timed")
        steps = [
            {"op": "ones", "attrs": {"size": [300, 300]}, "outputs": ["%a"]},
            {"op": "matmul", "inputs": ["%a", "%a"], "outputs": ["%b"]},
        ]
        said = call("POST", "/v1/sessions/timed/batches", json={"steps": steps}).headers["server-timing"]
        found = re.fullmatch(r"engine;dur=(\S+), queue;dur=(\S+), total;dur=(\S+)", said)
        assert found is not None, said
        engine, queue, total = map(float, found.groups())
        assert 0 < engine < engine + queue <= total
    finally:
        call.close()
        placement.shutdown()


def test_a_wrong_method_names_those_of_all_routes(call: Caller, problem: Expect) -> None:
    for path, methods in (
        ("/v1/sessions/a", "DELETE, GET, HEAD, PUT"),
        ("/v1/sessions/a/tensors/x", "DELETE, GET, HEAD, PUT"),
        ("/v1/sessions/a/hooks/h", "DELETE, GET, HEAD, PUT"),
        ("/v1/sessions/a/writers/1/batches/1", "GET, HEAD, PUT"),
    ):
        refused = call("PATCH", path)
        problem(refused, "method-not-allowed", 405)
        assert set(methods.split(", ")) - set(refused.headers["allow"].split(", ")) <= {"HEAD"}
