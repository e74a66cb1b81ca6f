"""What commands ask a daemon that runs. Starts fast: `gradd health` runs every few seconds."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradd_protocol import runtimefile

from gradd_server.commands.exits import Unavailable
from gradd_server.datadir import holder_url
from gradd_server.settings import BadConfig, default_data_dir

TIMEOUT = 30.0
"""Longest wait for a daemon (s), unless something else is said: one that is busy is not dead."""


def add_daemon(parser: argparse.ArgumentParser, within: argparse.ArgumentParser | None = None) -> None:
    """Give the parser `--url` and `--timeout`. It may be one of an action of a parser that has them, too."""
    parser.add_argument(
        "--url",
        metavar="URL",
        default=None if within is None else argparse.SUPPRESS,
        help="the daemon's address [env: GRADD_URL, default: that of the daemon that holds GRADD_DATA_DIR, "
        "else http://127.0.0.1:4733]",
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
    url = arguments.url or environ.get("GRADD_URL")
    if url is None:
        data_dir = Path(environ["GRADD_DATA_DIR"]) if "GRADD_DATA_DIR" in environ else default_data_dir()
        url = holder_url(data_dir) or "http://127.0.0.1:4733"
    if urllib.parse.urlsplit(url).scheme not in ("http", "https") or not urllib.parse.urlsplit(url).hostname:
        raise BadConfig(f"{url!r} is not the http:// or https:// address of a daemon")
    return str(url)


def get(url: str, path: str, timeout: float) -> Any:
    """The JSON at `path` of the daemon at `url`. Raises what `ask` raises."""
    return json.loads(ask(url, "GET", path, 200, timeout))


def ask(url: str, method: str, path: str, status: int, timeout: float) -> bytes:
    """The body of an answer with that status. Raises Unavailable for any other answer, or none within
    `timeout` seconds.
    """
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request(method, parts.path.rstrip("/") + path, headers=_authorization(url))
        reply = connection.getresponse()
        body = reply.read()
    except (OSError, http.client.HTTPException) as error:
        raise Unavailable(f"{url} does not answer: {str(error) or type(error).__name__}") from None
    finally:
        connection.close()
    if reply.status == 401:
        raise Unavailable(
            f"{url} wants an API key: set GRADD_API_KEY to one that `gradd keys create` printed, or be the "
            "user who runs the daemon"
        )
    if reply.status != status:
        raise Unavailable(f"{url} answers {reply.status} {reply.reason}{_detail(body)}")
    return body


def _detail(body: bytes) -> str:
    """What a problem says."""
    try:
        said = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        return ""
    return f": {said}" if said else ""


def _authorization(url: str) -> dict[str, str]:
    """The header that shows the key for the daemon at `url`: GRADD_API_KEY, else that of the runtime file."""
    key = os.environ.get("GRADD_API_KEY")
    if not key:
        try:
            found = runtimefile.find(url)
        except runtimefile.NotPrivate as refused:
            raise BadConfig(str(refused)) from None
        key = found.key if found else None
    return {"authorization": f"Bearer {key}"} if key else {}
