"""Why a daemon was not reached, as an error that says what to do. Asks again where that tells more."""

from __future__ import annotations

import http.client
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gradd_protocol import advice
from gradd_protocol.problems import Problem
from gradd_protocol.version import WIRE
from msgspec import DecodeError, Struct, json

from .._exceptions import ConnectionFailed, ServerError, error_of
from .base import PROXIES, Dropped
from .link import Link
from .waits import CLOSE, left

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import Message

_problem = json.Decoder(Problem)


class _About(Struct):
    """What GET /v1 says, whatever else it does."""

    version: str
    wire: str


def unreachable(base: str, error: BaseException, whom: str = "") -> ConnectionFailed:
    """The error where nothing of HTTP came from `base`; `error` is what was raised. `whom`: all addresses
    that were tried, where there are several.
    """
    tls = not _waited(error) and _speaks_tls(base)
    advised = advice.unreachable(base, error, tls)
    return ConnectionFailed(f"no gradd daemon answers at {whom or base}: {advised}")


def no_stream(base: str, headers: Mapping[str, str], error: Exception, whom: str = "") -> Exception:
    """The error where a stream's handshake was not answered with one; `error` is what was raised. `whom`: see
    `unreachable`.
    """
    answer = _asked(base, headers)
    if answer is None or answer[0].status < 400:
        return unreachable(base, error, whom)
    response, body = answer
    found = refusal(response.status, response.headers, body)
    return refused(base, headers, response.status, found) or found


def refused(base: str, headers: Mapping[str, str], status: int, found: Exception) -> ConnectionFailed | None:
    """The error where `base` refused to attach with `found` for no reason of a gradd daemon of this version;
    None for another reason.
    """
    if not isinstance(found, ServerError):
        return None
    problem = found.problem
    if problem.slug == "unknown":
        if status in PROXIES:
            return ConnectionFailed(
                f"no gradd daemon answers at {base}: a proxy does for it (HTTP {status}). See that the "
                "daemon runs behind it"
            )
        return ConnectionFailed(f"no gradd daemon answers at {base}: {advice.stranger(base, status)}")
    if problem.slug in ("not-found", "malformed-frame") or _speaks_other(problem.supported):
        return other_version(base, headers, problem.supported)
    return None


def refusal(status: int, headers: Mapping[str, str] | Message, body: bytes | bytearray) -> Exception:
    """The error of a response that refuses. Where it has no problem, as a proxy's, one that says no more than
    its status and Retry-After.
    """
    try:
        found = _problem.decode(body)
    except DecodeError:
        after = headers.get("Retry-After") or ""
        wait = int(after) if after.isascii() and after.isdigit() else None
        found = Problem(type="/problems/unknown", title=f"HTTP {status}", status=status, retry_after=wait)
    return error_of(found, None, None)


def other_version(base: str, headers: Mapping[str, str], wires: list[str] | None = None) -> ConnectionFailed:
    """The error where the daemon at `base` does not speak as this client does."""
    answer, version = _asked(base, headers), None
    if answer is not None and answer[0].status == 200:
        with suppress(DecodeError):
            about = json.decode(answer[1], type=_About)
            version, wires = about.version, wires or [about.wire]
    return ConnectionFailed(f"gradd at {base} does not understand: {advice.skew(version, wires)}")


def _asked(base: str, headers: Mapping[str, str]) -> tuple[http.client.HTTPResponse, bytes] | None:
    """What GET /v1 is answered; None if it is not."""
    link = Link(base, headers, CLOSE)
    try:
        return link.call("GET", "/v1", once=True)
    except Dropped:
        return None
    finally:
        link.close()


def _speaks_other(wires: list[str] | None) -> bool:
    return wires is not None and any(wire.startswith("gradd.") for wire in wires) and WIRE not in wires


def _waited(error: BaseException | None) -> bool:
    """Whether it came of waiting: asking again would take as long."""
    while error is not None:
        if isinstance(error, TimeoutError):
            return True
        error = error.__cause__
    return False


def _speaks_tls(base: str) -> bool:
    parts = urlsplit(base)
    if parts.scheme != "http":
        return False
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent to it
    try:
        address = parts.hostname or "", parts.port or http.client.HTTP_PORT
        with socket.create_connection(address, left(CLOSE)) as plain:
            plain.settimeout(left(CLOSE))
            with context.wrap_socket(plain, server_hostname=parts.hostname):
                return True
    except OSError:
        return False
