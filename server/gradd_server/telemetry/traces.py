"""OpenTelemetry traces, with the extra `otel`: a span for each request, and for each batch of a stream.

A request's `traceparent` header makes its span a part of the caller's trace, and that of a stream's opening
makes its batches parts of it; a batch of any other stream is a trace of its own. What `OTEL_` variables say
of the service's name, sampling and export holds.

Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/, https://www.w3.org/TR/trace-context/.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from gradd_protocol.version import VERSION
from opentelemetry.propagate import extract
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode

from gradd_server import audit

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import SpanExporter
    from starlette.types import Scope

    from gradd_server.timing import Timing


EXPORT_SECONDS = 2.0
"""Longest try to send spans, unless the environment says another; a stop waits for the last."""


def exporter_to(url: str) -> SpanExporter:
    """Sends spans to the collector at `url`, over OTLP/HTTP."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    seconds = None if "OTEL_EXPORTER_OTLP_TIMEOUT" in os.environ else EXPORT_SECONDS
    return OTLPSpanExporter(f"{url.rstrip('/')}/v1/traces", timeout=seconds)


class Traces:
    """Makes spans of what was answered, and gives them to `exporter` in the background."""

    def __init__(self, exporter: SpanExporter) -> None:
        own = Resource.create({SERVICE_NAME: "gradd", SERVICE_VERSION: VERSION})
        self._provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("gradd", VERSION)

    def request(self, scope: Scope, route: str, status: int, timing: Timing) -> None:
        """A request that was answered with `status`; `route` is its pattern, empty where there is none."""
        method = scope["method"]
        attributes = {
            "http.request.method": method,
            "http.route": route,
            "http.response.status_code": status,
            "url.path": scope["path"],
            "url.scheme": scope["scheme"],
            **_who(scope),
        }
        if timing.asked:
            attributes |= {"gradd.engine.seconds": timing.engine, "gradd.queue.seconds": timing.queue}
        self._span(f"{method} {route}".rstrip(), _caller(scope), attributes, status, timing.seconds)

    def batch(self, scope: Scope, id: dict[str, str], status: int, seconds: float, nbytes: int) -> None:
        """A stream's batch that was answered with `status` after `seconds`; `nbytes` are its frame's."""
        attributes = {**_who(scope), "gradd.batch": id.get("batch"), "gradd.batch.bytes": nbytes}
        self._span("batch", _caller(scope), {**attributes, "gradd.batch.status": status}, status, seconds)

    def _span(
        self, name: str, parent: Context, attributes: dict[str, Any], status: int, seconds: float
    ) -> None:
        end = time.time_ns()
        began = end - int(1e9 * seconds)
        known = {name: value for name, value in attributes.items() if value not in (None, "")}
        span = self._tracer.start_span(name, parent, SpanKind.SERVER, known, start_time=began)
        if status >= 500:
            span.set_status(StatusCode.ERROR)
        span.end(end)

    def close(self) -> None:
        """Send what was not sent yet; waits for the collector."""
        self._provider.shutdown()


def _caller(scope: Scope) -> Context:
    return extract({name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]})


def _who(scope: Scope) -> dict[str, Any]:
    who = audit.who(scope)
    return {
        "client.address": who["client"],
        "gradd.request_id": who["request_id"],
        "gradd.session": who["session"],
        "gradd.tenant": who["tenant"],
    }
