"""What commands ask a daemon that runs. Starts fast: `gradd health` runs every few seconds."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import socket
import ssl
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gradd_protocol import advice, runtimefile

from gradd_server.commands.exits import Unavailable
from gradd_server.datadir import default_data_dir, holder_url
from gradd_server.settings import BadConfig

TIMEOUT = 30.0
"""Longest wait for a daemon (s), unless something else is said: one that is busy is not dead."""

TLS_SECONDS = 2.0
"""Longest wait for a handshake, to tell whether TLS is spoken."""


def add_daemon(parser: argparse.ArgumentParser, within: argparse.ArgumentParser | None = None) -> None:
    """Give the parser `--url` and `--timeout`. It may be one of an action of a parser that has them, too."""
    parser.add_argument(
        "--url",
        metavar="URL",
        default=None if within is None else argparse.SUPPRESS,
        help="the daemon's address, or with commas those of its fronts [env: GRADD_URL, default: that of the "
        "daemon that holds GRADD_DATA_DIR, else http://127.0.0.1:4733]",
    )
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=_timeout,
        default=TIMEOUT if within is None else argparse.SUPPRESS,
        help=f"seconds to wait for an answer of the daemon [default: {TIMEOUT:g}]",
    )


def _timeout(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds over 0")
    return seconds


def daemon_url(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Which daemon is meant. Raises BadConfig for what is no address."""
    url, source = address(arguments, environ)
    if wrong := advice.mistake(url):
        raise BadConfig(f"{source}: {wrong}")
    return url


def address(arguments: argparse.Namespace, environ: Mapping[str, str]) -> tuple[str, str]:
    """What is said to be the daemon's address, and where that is said."""
    if arguments.url:
        return str(arguments.url), "--url"
    if "GRADD_URL" in environ:
        return environ["GRADD_URL"], "GRADD_URL"
    data_dir = Path(environ["GRADD_DATA_DIR"]) if "GRADD_DATA_DIR" in environ else default_data_dir()
    if found := holder_url(data_dir):
        return found, str(data_dir)
    return f"http://127.0.0.1:{advice.PORT}", "the default"


def get(url: str, path: str, timeout: float) -> Any:
    """The JSON at `path` of the daemon at `url`. Raises what `ask` raises."""
    return json.loads(ask(url, "GET", path, 200, timeout))


def ask(url: str, method: str, path: str, status: int, timeout: float) -> bytes:
    """The body of an answer with that status. Raises Unavailable for any other answer, or none within
    `timeout` seconds.
    """
    answer = request(url, method, path, timeout)
    if answer.status != status:
        raise Unavailable(answer.refusal(url))
    return answer.body


class Shown(NamedTuple):
    """The key that is shown to a daemon, and where it is from."""

    key: str
    source: str


class Answered(NamedTuple):
    """What a daemon, or somebody in its place, answered."""

    status: int
    reason: str
    body: bytes
    shown: Shown | None

    def refusal(self, url: str) -> str:
        """What it means where it is not what was expected, and what to do."""
        problem = self.problem
        said = f": {problem['detail']}" if problem and problem.get("detail") else ""
        if self.status == 401 and self.shown is None:
            return (
                f"{url} wants an API key: set GRADD_API_KEY to one that `gradd keys create`, run where the "
                "daemon runs, printed, or be the user who runs the daemon"
            )
        if self.status == 401 and self.shown is not None:
            return (
                f"{url} refuses the API key of {self.shown.source}{said}. `gradd keys list`, run where the "
                "daemon runs, shows its keys; `gradd keys create` prints a new one"
            )
        if problem is None and not 200 <= self.status < 300:
            return f"{url}: {advice.stranger(url, self.status)}"
        return f"{url} answers {self.status} {self.reason}{said}"

    @property
    def problem(self) -> dict[str, Any] | None:
        """The problem of a daemon; None if it is none."""
        try:
            said = json.loads(self.body)
        except ValueError:
            return None
        known = isinstance(said, dict) and str(said.get("type", "")).startswith("/problems/")
        return said if known else None


def request(
    url: str, method: str, path: str, timeout: float, body: bytes | None = None, key: bool = True
) -> Answered:
    """Any answer, to a body of JSON if there is one, with a key or without; of several fronts, the first that
    one gives. Raises Unavailable where none comes.
    """
    *others, last = advice.addresses(url)
    for each in others:
        with contextlib.suppress(Unavailable):
            return _request(each, method, path, timeout, body, key)
    return _request(last, method, path, timeout, body, key)


def _request(
    url: str, method: str, path: str, timeout: float, body: bytes | None, key: bool
) -> Answered:  # fmt: skip
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    shown = shown_to(url) if key else None
    headers = {"authorization": f"Bearer {shown.key}"} if shown else {}
    if body is not None:
        headers["content-type"] = "application/json"
    try:
        connection.request(method, parts.path.rstrip("/") + path, body, headers)
        reply = connection.getresponse()
        return Answered(reply.status, reply.reason, reply.read(), shown)
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(f"{url} does not answer: {_why(url, error)}") from None
    finally:
        connection.close()


def _why(url: str, error: Exception) -> str:
    waited = isinstance(error, TimeoutError)
    return advice.unreachable(url, error, tls=not waited and speaks_tls(url))


def speaks_tls(url: str) -> bool:
    """Whether a server that is to speak plain HTTP speaks TLS."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "http":
        return False
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # nothing is sent to it
    try:
        address = parts.hostname or "", parts.port or http.client.HTTP_PORT
        with socket.create_connection(address, TLS_SECONDS) as plain, context.wrap_socket(plain):
            return True
    except OSError:
        return False


def shown_to(url: str) -> Shown | None:
    """The key for the daemon at `url`: GRADD_API_KEY, else that of the runtime file."""
    if key := os.environ.get("GRADD_API_KEY"):
        return Shown(key, "GRADD_API_KEY")
    try:
        found = runtimefile.find(url)
    except runtimefile.NotPrivate as refused:
        raise BadConfig(str(refused)) from None
    return Shown(found.key, "the runtime file") if found else None
