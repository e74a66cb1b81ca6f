"""Media types of bodies, and content negotiation."""

from __future__ import annotations

from gradd_protocol.version import EXTENSIONS

DOT = "text/vnd.graphviz"
EVENTS = "text/event-stream"
FRAME = "application/vnd.gradd.frame"
HTML = "text/html"
JSON = "application/json"
NPY = "application/x-npy"
OCTETS = "application/octet-stream"
PROBLEM = "application/problem+json"
SAFETENSORS = "application/vnd.safetensors"
YAML = "application/yaml"

REQUEST_TYPES = frozenset({FRAME, JSON, NPY, OCTETS, SAFETENSORS})
"""The Content-Types that some route accepts; the gate refuses all others."""

EXTENDED = {"gradd-extensions": ", ".join(EXTENSIONS)}
"""The header by which a writer that attaches is told what it may send."""

CHARSETS = frozenset({"utf-8", "utf8"})


def media_type(text: str) -> tuple[str, str | None]:
    """The type of a Content-Type without parameters, in lower case, and its charset, if any."""
    kind, *parameters = text.split(";")
    charset = None
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"').lower()
    return kind.strip().lower(), charset


def choose(accept: str | None, offered: tuple[str, ...]) -> str | None:
    """The type of `offered` (best first) that an Accept header prefers; None if it accepts none.

    RFC 9110, 12.5.1: the most specific range gives a type's weight; ties go to the earlier offer.
    """
    if accept is None or not accept.strip():
        return offered[0]
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    best, best_weight = None, 0.0
    for kind in offered:
        fitting = [(specificity, q) for pattern, specificity, q in ranges if _fits(pattern, kind)]
        weight = max(fitting)[1] if fitting else 0.0
        if weight > best_weight:
            best, best_weight = kind, weight
    return best


def _range(text: str) -> tuple[str, int, float]:
    pattern, *parameters = (part.strip().lower() for part in text.split(";"))
    weight = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                weight = min(max(float(value), 0.0), 1.0)
            except ValueError:
                weight = 0.0
    return pattern, 0 if pattern == "*/*" else 1 if pattern.endswith("/*") else 2, weight


def _fits(pattern: str, kind: str) -> bool:
    return pattern in ("*/*", kind) or (pattern.endswith("/*") and kind.startswith(pattern[:-1]))
