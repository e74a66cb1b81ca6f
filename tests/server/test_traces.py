"""Traces: a span of each request and batch reaches a collector, as a part of the caller's trace."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gradd
import pytest
from gradd_server import cli

from tests.server.test_stopping import Daemon

trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

CALLER = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"


class Collector:
    """What came at /v1/traces of `url`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.resources: list[dict[str, Any]] = []
        self.spans: list[Any] = []

    def take(self, body: bytes) -> None:
        for resource in trace_service.ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(plain(resource.resource.attributes))
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]


def plain(attributes: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                raise AssertionError("nobody asked for compression")
            collector.take(body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector = Collector(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serving(*arguments: str) -> Iterator[Daemon]:
    daemon = Daemon(*arguments)
    try:
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.process.kill()
            daemon.end()


def stop(daemon: Daemon) -> int:
    daemon.process.terminate()
    return daemon.end()[0]


def test_requests_and_batches_are_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "box-7")
    with collecting() as collector, serving(tmp_path / "data", "--traces", collector.url) as daemon:
        answer = daemon.client.put(
            "/v1/sessions/demo", headers={"traceparent": f"00-{CALLER}-{PARENT}-01"}
        ).raise_for_status()
        daemon.client.get("/v1/sessions/none")
        with gradd.connect(daemon.url, "demo"):
            assert gradd.ones(2).sum().item() == 2.0
        assert stop(daemon) == 0  # what was not sent is sent now
    assert {resource["service.name"] for resource in collector.resources} == {"box-7"}
    spans = {(span.name, span.trace_id.hex() == CALLER): span for span in collector.spans}
    put = spans["PUT /v1/sessions/{name}", True]
    assert put.parent_span_id.hex() == PARENT
    said = plain(put.attributes)
    assert said["gradd.request_id"] == answer.headers["x-request-id"]
    assert (said["http.response.status_code"], said["gradd.session"], said["gradd.tenant"]) == (
        201, "demo", "default",
    )  # fmt: skip
    assert put.end_time_unix_nano > put.start_time_unix_nano
    assert plain(spans["GET /v1/sessions/{name}", False].attributes)["http.response.status_code"] == 404
    batches = [plain(span.attributes) for span in collector.spans if span.name == "batch"]
    assert [batch["gradd.batch"] for batch in batches] == [f"1.{n + 1}" for n in range(len(batches))]
    assert batches
    assert all(batch["gradd.session"] == "demo" and batch["gradd.batch.status"] == 200 for batch in batches)


def test_a_collector_that_is_away_holds_nobody_up(tmp_path: Path) -> None:
    with collecting() as collector:
        away = collector.url
    with serving(tmp_path / "data", "--traces", away) as daemon:
        daemon.client.put("/v1/sessions/demo").raise_for_status()
        assert stop(daemon) == 0


def test_what_is_no_collector_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["serve", "--traces", "collector:4318", "--data-dir", str(tmp_path)])
    assert "collector:4318" in capsys.readouterr().err


def test_without_the_extra_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "gradd_server.telemetry.traces", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    assert cli.main(["serve", "--traces", "http://127.0.0.1:1", "--data-dir", str(tmp_path)]) == 69
    assert "gradd[otel]" in capsys.readouterr().err
