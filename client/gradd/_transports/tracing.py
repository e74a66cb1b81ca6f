"""The trace that a script is in, for what it sends: W3C Trace Context, if the script uses OpenTelemetry.

Only `traceparent` and `tracestate` are sent; baggage stays here. Whether OpenTelemetry is there is looked up
among the modules that the script imported.

Source: https://www.w3.org/TR/trace-context/
"""

from __future__ import annotations

import sys

#: characters of `tracestate` that every receiver takes; one that is longer is left out
_MOST = 512


def trace_headers() -> dict[str, str]:
    """`traceparent`, and `tracestate` if there is one, of the current span; empty where there is none."""
    module = sys.modules.get("opentelemetry.trace")
    if module is None:
        return {}
    current = getattr(module, "get_current_span", None)  # it may be half imported, by another thread
    if current is None:
        return {}
    span = current().get_span_context()
    if not span.is_valid:
        return {}
    found = {"traceparent": f"00-{span.trace_id:032x}-{span.span_id:016x}-{int(span.trace_flags):02x}"}
    state = span.trace_state.to_header()
    return found | {"tracestate": state} if 0 < len(state) <= _MOST else found
