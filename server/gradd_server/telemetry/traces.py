"""OpenTelemetry traces, with the extra `otel`: a span for each request, and for each batch of a stream, with
spans of its time in the front, in the engine's queue and in the engine.

The `traceparent` of a request or a batch makes its span a part of the caller's trace; a batch without one is
part of the trace of its stream's opening. What is malformed is ignored, baggage is not read. What `OTEL_`
variables say of the service's name, sampling and export holds.

Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/, https://www.w3.org/TR/trace-context/.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gradd_protocol.version import VERSION
from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gradd_server import audit

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from starlette.types import Scope

    from gradd_server.timing import Timing


EXPORT_SECONDS = 2.0
"""Longest try to send spans, unless the environment says another; a stop waits for the last."""

_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})
"""Others may be anything, and are `_OTHER`."""

_trace_context = TraceContextTextMapPropagator()


def exporter_to(url: str) -> SpanProcessor:
    """Sends spans to the collector at `url`, over OTLP/HTTP and in the background."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    seconds = None if "OTEL_EXPORTER_OTLP_TIMEOUT" in os.environ else EXPORT_SECONDS
    return BatchSpanProcessor(OTLPSpanExporter(f"{url.rstrip('/')}/v1/traces", timeout=seconds))


class Traces:
    """Makes spans of what was answered, and gives them to `processor`."""

    def __init__(self, processor: SpanProcessor) -> None:
        own = Resource.create({SERVICE_NAME: "gradd", SERVICE_VERSION: VERSION})
        self._provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()))
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("gradd", VERSION)

    def request(self, scope: Scope, route: str, status: int, timing: Timing) -> None:
        """A request that was answered with `status`; `route` is its pattern, empty where there is none."""
        said: str = scope["method"]
        method = said if said in _METHODS else "_OTHER"
        attributes = {
            "http.request.method": method,
            "http.request.method_original": said if method != said else None,
            "http.route": route,
            "http.response.status_code": status,
            "url.path": scope["path"],
            "url.scheme": scope["scheme"],
        }
        name = f"{method if method == said else 'HTTP'} {route}".rstrip()
        self._spans(name, _parent(_headers(scope)), scope, attributes, status, timing)

    def batch(
        self, scope: Scope, id: dict[str, str], status: int, nbytes: int, timing: Timing,
        trace: dict[str, str],
    ) -> None:  # fmt: skip
        """A stream's batch that was answered with `status`; `nbytes` are its frame's, `trace` the headers of
        Trace Context that it has.
        """
        attributes = {
            "gradd.batch": id.get("batch"),
            "gradd.batch.bytes": nbytes,
            "gradd.batch.status": status,
        }
        own = _parent(trace.items())
        parent = own if get_current_span(own).get_span_context().is_valid else _parent(_headers(scope))
        self._spans("batch", parent, scope, attributes, status, timing)

    def _spans(
        self, name: str, parent: Context, scope: Scope, attributes: dict[str, Any], status: int,
        timing: Timing,
    ) -> None:  # fmt: skip
        """The span of what came as `timing` says and is answered now, and those of its parts."""
        # Clocks may be set: moments are as long ago as `perf_counter` says.
        ended, zero = time.perf_counter(), time.time_ns() - time.perf_counter_ns()

        def moment(seconds: float) -> int:
            return zero + int(1e9 * seconds)

        attributes |= {**_who(scope), "error.type": str(status) if status >= 500 else None}
        known = {name: value for name, value in attributes.items() if value not in (None, "")}
        whole = self._tracer.start_span(name, parent, SpanKind.SERVER, known, start_time=moment(timing.came))
        within, front = set_span_in_context(whole, parent), timing.came
        for asked in timing.asked:  # the latest
            moments = map(moment, (front, *asked.moments))
            for part, (began, until) in zip(("front", "queue", "engine"), pairwise(moments), strict=True):
                self._tracer.start_span(part, within, start_time=began).end(until)
            front = asked.answered
        if status >= 500:
            whole.set_status(StatusCode.ERROR)
        whole.end(moment(ended))

    def close(self) -> None:
        """Send what was not sent yet; waits for the collector."""
        self._provider.shutdown()


def _headers(scope: Scope) -> Iterable[tuple[str, str]]:
    return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])


def _parent(headers: Iterable[tuple[str, str]]) -> Context:
    """The caller's span; none where `traceparent` is malformed or there are several."""
    found: dict[str, list[str]] = {"traceparent": [], "tracestate": []}
    for name, value in headers:
        if name in found:
            found[name].append(value)
    if len(found["traceparent"]) != 1:
        return Context()
    return _trace_context.extract(found, Context())


def _who(scope: Scope) -> dict[str, Any]:
    who = audit.who(scope)
    headers = dict(_headers(scope))
    server = scope.get("server") or (None, None)
    return {
        "client.address": who["client"],
        "network.protocol.name": scope["type"],
        "network.protocol.version": scope.get("http_version"),
        "server.address": server[0],
        "server.port": server[1],
        "user_agent.original": headers.get("user-agent"),
        "gradd.request_id": who["request_id"],
        "gradd.session": who["session"],
        "gradd.tenant": who["tenant"],
    }
