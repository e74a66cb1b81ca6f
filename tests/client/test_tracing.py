"""The trace of a script with OpenTelemetry goes on in the daemon, over both transports and to the engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gradd
import httpx
import pytest
from gradd._transports.tracing import trace_headers
from gradd_runtime.catalog import ops

from tests.server.one_front import front

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed (the extra otel)")

from gradd_server.placement.workers import WorkersPlacement
from gradd_server.telemetry.traces import Traces
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags, TraceState


@pytest.fixture(scope="module")
def here() -> Any:
    """The script's tracer."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    return provider.get_tracer("script")


@pytest.fixture(scope="module")
def there() -> InMemorySpanExporter:
    """What the daemon exported."""
    return InMemorySpanExporter()


@pytest.fixture(scope="module")
def url(there: InMemorySpanExporter) -> Iterator[str]:
    """A daemon in this process, with an engine process."""
    traces = Traces(SimpleSpanProcessor(there))
    with front(placement=WorkersPlacement(workers=1, threads=1), ops=ops(), traces=traces, auth=False) as at:
        yield at
    traces.close()


def of(there: InMemorySpanExporter, trace_id: int) -> list[Any]:
    """The spans of a trace."""
    return [span for span in there.get_finished_spans() if span.context.trace_id == trace_id]


@pytest.mark.parametrize("transport", ["stream", "http"])
def test_a_span_of_the_script_leads_to_the_engine(
    url: str, here: Any, there: InMemorySpanExporter, transport: str
) -> None:
    token = context.attach(baggage.set_baggage("secret", "mine"))
    try:
        with gradd.connect(url, transport=transport) as session:
            with here.start_as_current_span("training step") as mine:
                loss = (gradd.ones(3, requires_grad=True) * 2).sum()
                loss.backward()
                assert loss.item() == 6.0
            (gradd.ones(3) * 3).tolist()
            session.flush()
    finally:
        context.detach(token)
    spans = of(there, mine.get_span_context().trace_id)
    name = "batch" if transport == "stream" else "PUT /v1/sessions/{name}/writers/{writer}/batches/{seq}"
    (whole,) = (span for span in spans if span.name == name)
    assert whole.parent.span_id == mine.get_span_context().span_id
    assert whole.kind is SpanKind.SERVER
    parts = {span.name: span for span in spans if span.parent.span_id == whole.context.span_id}
    assert list(parts) == ["front", "queue", "engine"]
    assert {span.kind for span in parts.values()} == {SpanKind.INTERNAL}
    moments = [whole.start_time]
    for part in parts.values():
        assert part.start_time >= moments[-1]
        moments += [part.start_time, part.end_time]
    assert moments == sorted(moments)
    assert moments[-1] <= whole.end_time
    assert parts["engine"].end_time > parts["engine"].start_time
    said = dict(whole.attributes)
    assert said["client.address"] == said["server.address"] == "127.0.0.1"
    assert said["gradd.session"]
    if transport == "stream":
        assert said["gradd.batch.status"] == 200
        assert said["gradd.batch.bytes"] > 0
    else:
        assert said["http.response.status_code"] == 200
    assert "mine" not in str([dict(span.attributes) for span in there.get_finished_spans()])


def test_requests_beside_batches_are_of_the_trace(url: str, here: Any, there: InMemorySpanExporter) -> None:
    with gradd.connect(url) as session, here.start_as_current_span("asking") as mine:
        session.info()
        session.tensors()
    names = {span.name for span in of(there, mine.get_span_context().trace_id)}
    assert {"GET /v1/sessions/{name}", "GET /v1/sessions/{name}/tensors"} <= names


def test_what_has_no_span_is_a_trace_of_its_own(url: str, there: InMemorySpanExporter) -> None:
    before = len(there.get_finished_spans())
    with gradd.connect(url):
        gradd.ones(2).tolist()
        gradd.ones(3).tolist()
    batches = [span for span in there.get_finished_spans()[before:] if span.name == "batch"]
    assert len({span.context.trace_id for span in batches}) == len(batches) >= 2
    assert all(span.parent is None for span in batches)


CALLER, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
MALFORMED = {
    "no version": [f"{CALLER}-{SPAN}-01"],
    "an unknown version": [f"ff-{CALLER}-{SPAN}-01"],
    "no id": [f"00-{'0' * 32}-{SPAN}-01"],
    "no span": [f"00-{CALLER}-{'0' * 16}-01"],
    "letters": [f"00-{CALLER[:-1]}x-{SPAN}-01"],
    "capitals": [f"00-{CALLER.upper()}-{SPAN}-01"],
    "short": [f"00-{CALLER[:-1]}-{SPAN}-01"],
    "more than version 00 has": [f"00-{CALLER}-{SPAN}-01-more"],
    "two": [f"00-{CALLER}-{SPAN}-01"] * 2,
    "nothing": [""],
    "bytes": ["\xff\xfe"],
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_traceparent_is_ignored(url: str, there: InMemorySpanExporter, case: str) -> None:
    headers = [("traceparent", value.encode("latin-1")) for value in MALFORMED[case]]
    before = len(there.get_finished_spans())
    with httpx.Client(base_url=url) as client:
        client.get("/v1/ops", headers=[*headers, ("tracestate", b"a=b")]).raise_for_status()
        client.get("/livez").raise_for_status()  # a span is made once its request is answered
    (span,) = (s for s in there.get_finished_spans()[before:] if s.name == "GET /v1/ops")
    assert span.parent is None
    assert f"{span.context.trace_id:032x}" != CALLER


def test_a_batch_with_a_malformed_one_runs(
    url: str, there: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"traceparent": f"00-{CALLER}-{SPAN}", "tracestate": "=,="}
    monkeypatch.setattr("gradd._wire.outbox.trace_headers", lambda: said)
    before = len(there.get_finished_spans())
    with gradd.connect(url):
        assert gradd.ones(2).tolist() == [1.0, 1.0]
        said["traceparent"] += "-01"
        assert gradd.ones(3).tolist() == [1.0] * 3
    malformed, sound, *_ = (s for s in there.get_finished_spans()[before:] if s.name == "batch")
    assert malformed.parent is None
    assert f"{sound.context.trace_id:032x}" == CALLER
    assert f"{sound.parent.span_id:016x}" == SPAN


def test_headers_of_a_span() -> None:
    state = TraceState([("vendor", "x")])
    held = SpanContext(int(CALLER, 16), int(SPAN, 16), True, TraceFlags(1), state)
    with trace.use_span(NonRecordingSpan(held)):
        assert trace_headers() == {"traceparent": f"00-{CALLER}-{SPAN}-01", "tracestate": "vendor=x"}
    long = SpanContext(1, 2, True, TraceFlags(0), TraceState([(f"k{n}", "x" * 200) for n in range(3)]))
    with trace.use_span(NonRecordingSpan(long)):
        assert trace_headers() == {"traceparent": f"00-{1:032x}-{2:016x}-00"}
    assert trace_headers() == {}


def test_a_script_without_opentelemetry_does_not_load_it() -> None:
    script = (
        "import sys, gradd\n"
        "from gradd._transports.tracing import trace_headers\n"
        "with gradd.connect('local:'):\n"
        "    assert gradd.ones(2).tolist() == [1.0, 1.0]\n"
        "assert trace_headers() == {}\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
