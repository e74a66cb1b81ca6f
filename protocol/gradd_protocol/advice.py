"""What to do where a daemon is not reached: the texts of the SDK and of the command line, which say the next
step. Looks at what was said and raised; asks nobody.
"""

import errno
import re
from typing import Final
from urllib.parse import urlsplit

from gradd_protocol.version import VERSION, WIRE

PORT: Final = 4733
"""Where a daemon listens unless it is told otherwise."""

_SCHEMES: Final = ("http", "https")
_AWAY: Final = frozenset({errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN})
_PLAIN: Final = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"})
"""OpenSSL's names for an answer that is no TLS."""
_BARE: Final = re.compile(r"(?:[a-z]+:)?/{0,2}([\w.-]+|\[[\da-f:]+\])(?::(\d{1,5}))?/?", re.IGNORECASE)


def addresses(url: str) -> list[str]:
    """What is said to be a daemon's URL: of a daemon with several fronts, those of each, between commas."""
    return [each.strip().rstrip("/") for each in url.split(",")]


def mistake(url: str) -> str:
    """What is wrong with a URL, or with several between commas, that are to be a daemon's, and what to write;
    empty where nothing is.
    """
    if "," in url:
        return next(filter(None, map(mistake, addresses(url))), "")
    try:
        parts = urlsplit(url)
        known = parts.scheme in _SCHEMES
        if known and parts.hostname and (parts.port or PORT) > 0:
            return ""
    except ValueError as bad:
        return f"{url!r} is not a URL ({bad}). Write http://HOST:{PORT}"
    if known:
        return f"{url!r} names no host. Write {parts.scheme}://HOST:{PORT}"
    if url in ("local", "local:"):
        return f"{url!r} is no daemon: within a script, local: is a session in its own process"
    said = f"a url starts with http:// or https://, not {url!r}"
    bare = _BARE.fullmatch(url.strip())
    return f"{said}. Write {f'http://{bare[1]}:{bare[2] or PORT}' if bare else f'http://HOST:{PORT}'}"


def unreachable(url: str, error: BaseException, tls: bool = False) -> str:
    """Why nothing of HTTP came from `url`, and what to do. `error` is what was raised, or has its reason as
    cause; `tls`: whether TLS is spoken there.
    """
    parts = urlsplit(url)
    for found in _chain(error):
        kinds = {kind.__name__ for kind in type(found).__mro__}
        if "SSLCertVerificationError" in kinds:
            why = getattr(found, "verify_message", "") or str(found)
            return (
                f"its certificate is not trusted ({why}). Set SSL_CERT_FILE to a file with the certificate "
                "of who signed it; the URL must have a name that stands in it"
            )
        if "SSLError" in kinds and (getattr(found, "reason", None) or "") in _PLAIN:
            return f"it speaks no TLS. Write http:// in the URL: {_with(url, 'http')}"
        if "gaierror" in kinds:
            return f"there is no host {parts.hostname!r} ({_reason(found)}). Check the URL"
        if isinstance(found, ConnectionRefusedError):
            return f"nothing listens there ({_reason(found)}). {_start(url)}"
        if isinstance(found, OSError) and found.errno in _AWAY:
            return f"{_reason(found)}. Check the URL and the network, or {_tunnel(url)}"
        if isinstance(found, TimeoutError):
            return f"{_reason(found)}. It may be busy or behind a firewall: check the URL, or {_tunnel(url)}"
    if tls and parts.scheme == "http":
        return f"it speaks TLS. Write https:// in the URL: {_with(url, 'https')}"
    return str(error) or type(error).__name__


def stranger(url: str, status: int) -> str:
    """What to do where an answer with that HTTP status is not one of gradd's."""
    return (
        f"what answers there is no gradd daemon (HTTP {status}). Check port and path of the URL: a daemon "
        f"listens on {PORT} unless it is told otherwise, and a proxy must pass /v1 on"
    )


def skew(version: str | None, wires: list[str] | None) -> str:
    """What to do where a daemon of that version, if known, speaks other wires than this one's."""
    theirs = f"gradd {version}" if version else "another version of gradd"
    wire = f" ({', '.join(wires)})" if wires else ""
    to = f"=={version}" if version else ""
    return (
        f"the daemon is {theirs}{wire}, this is gradd {VERSION} ({WIRE}). Install the same on both sides: "
        f"pip install 'gradd{to}' here, or 'gradd[server]=={VERSION}' there"
    )


def unread(url: str, why: str) -> str:
    """What to do where an answer of the daemon at `url` cannot be read."""
    return (
        f"what the daemon at {url} answered cannot be read ({why}). It may be of another version than this "
        f"gradd {VERSION}: `gradd doctor` compares them"
    )


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__
    return found


def _reason(error: BaseException) -> str:
    """What the system says, without its number."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).rstrip(".")


def _start(url: str) -> str:
    parts = urlsplit(url)
    said = f"Start a daemon with `gradd serve{'' if parts.port in (None, PORT) else f' --port {parts.port}'}`"
    if parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        said += f" on {parts.hostname} (it listens on loopback: {_tunnel(url)})"
    said += ", or set GRADD_URL to the address of one that runs"
    if parts.port is None:
        return f"The URL names no port: try {_with(url, parts.scheme, PORT)}. {said}"
    return said


def _tunnel(url: str) -> str:
    parts = urlsplit(url)
    host = "HOST" if parts.hostname in (None, "localhost", "127.0.0.1", "::1") else parts.hostname
    return f"tunnel to it with `ssh -L {PORT}:localhost:{parts.port or PORT} {host}`"


def _with(url: str, scheme: str, port: int | None = None) -> str:
    parts = urlsplit(url)
    return parts._replace(scheme=scheme, netloc=f"{parts.netloc}:{port}" if port else parts.netloc).geturl()
