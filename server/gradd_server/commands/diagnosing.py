"""`gradd doctor`: looks at all that a script needs to get a gradient, and says what to do.
Changes nothing but a session of its own, which it deletes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import secrets
import ssl
import stat
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from gradd_protocol import advice
from gradd_protocol.version import VERSION, WIRE

from gradd_server.commands.asking import Answered, add_daemon, address, request, shown_to
from gradd_server.commands.exits import OK, UNAVAILABLE, Unavailable
from gradd_server.datadir import chosen_data_dir
from gradd_server.settings import BadConfig
from gradd_server.texts import is_loopback

GRADIENT = {
    "steps": [
        {"op": "mul", "inputs": ["w", "w"], "outputs": ["%s"]},
        {"op": "sum", "inputs": ["%s"], "outputs": ["y"]},
        {"op": "backward", "inputs": ["y"]},
    ],
    "fetch": ["w.grad"],
}
"""The gradient of w² for w = 3."""


class Finding(msgspec.Struct):
    """What was looked at, and what was found."""

    check: str
    status: str
    """``ok``; ``note``: it may be meant; ``wrong``: then `said` has the next step."""
    said: str


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    doctor = commands.add_parser(
        "doctor",
        help="check all that a script needs to get a gradient, and say what to do: 0 if all is well, else 69",
    )
    add_daemon(doctor)
    doctor.add_argument("--json", action="store_true", help="one JSON object a line")
    doctor.set_defaults(run=_doctor)


def _doctor(arguments: argparse.Namespace) -> int:
    wrong = 0
    for finding in examined(arguments):
        wrong += finding.status == "wrong"
        if arguments.json:
            print(json.dumps(msgspec.to_builtins(finding)))
        else:
            print(f"{finding.status:<5}  {finding.check:<9}  {finding.said}", flush=True)
    return UNAVAILABLE if wrong else OK


def examined(arguments: argparse.Namespace) -> Iterator[Finding]:
    """Each finding as soon as it is there. What cannot be looked at after one that is wrong is left out."""
    yield _installed()
    url, source = address(arguments, os.environ)
    if url == "local:":
        yield Finding("address", "note", f"local:, by {source}: scripts compute in their own process")
        return
    if mistake := advice.mistake(url):
        yield Finding("address", "wrong", f"{source}: {mistake}")
        return
    yield Finding("address", "ok", f"{url}, by {source}")
    here = is_loopback(urllib.parse.urlsplit(url).hostname or "")
    if here:
        yield _data(chosen_data_dir(None, os.environ))
    try:
        live = request(url, "GET", "/livez", arguments.timeout, key=False)
    except Unavailable as absent:
        yield Finding("daemon", "wrong", str(absent))
        return
    if live.status != 200 or _json(live) != {"status": "live"}:
        yield Finding("daemon", "wrong", live.refusal(url) if live.problem else _stranger(url, live, here))
        return
    yield Finding("daemon", "ok", "answers")
    try:
        yield from _inside(url, arguments.timeout)
    except (BadConfig, Unavailable) as failed:
        yield Finding("key" if isinstance(failed, BadConfig) else "daemon", "wrong", str(failed))


def _installed() -> Finding:
    extras = {"server": "uvicorn", "jit": "numba", "otel": "opentelemetry.sdk", "cuda": "cupy"}
    there = [extra for extra, module in extras.items() if _has(module)]
    said = (
        f"gradd {VERSION} ({WIRE}), Python {platform.python_version()}, extras: {', '.join(there) or 'none'}"
    )
    if "server" not in there:
        return Finding("installed", "note", f"{said}. To run daemons here: pip install 'gradd[server]'")
    return Finding("installed", "ok", said)


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a parent
        return False


def _data(path: Path) -> Finding:
    """Whether a daemon that is started here could use its data directory."""
    try:
        found = path.stat()
    except OSError as absent:
        said = "`gradd serve` makes it" if isinstance(absent, FileNotFoundError) else str(absent.strerror)
        return Finding("data", "note", f"{path} is not there: {said}")
    if not stat.S_ISDIR(found.st_mode):
        return Finding("data", "wrong", f"{path} is no directory: choose another with GRADD_DATA_DIR")
    if found.st_uid != os.geteuid() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            "data", "note", f"{path} is another user's: that user runs its daemon, or choose another one "
            "with GRADD_DATA_DIR",
        )  # fmt: skip
    if stat.S_IMODE(found.st_mode) & 0o077:
        return Finding("data", "wrong", f"{path} is open to other users: chmod 700 {path}")
    return Finding("data", "ok", str(path))


def _stranger(url: str, live: Answered, here: bool) -> str:
    said = f"{url}: {advice.stranger(url, live.status)}"
    return f"{said}. To run one beside it: `gradd serve --port 0`" if here else said


def _inside(url: str, seconds: float) -> Iterator[Finding]:
    """What is to be seen by those who are let in. Raises Unavailable or BadConfig."""
    shown = shown_to(url)
    about = request(url, "GET", "/v1", seconds)
    if about.status == 404 and about.problem:
        yield Finding("version", "wrong", advice.skew(None, about.problem.get("supported")))
        return
    if about.status != 200:
        yield Finding("key", "wrong", about.refusal(url))
        return
    if shown is None:
        yield Finding("key", "note", "none is asked for: every user of that machine can connect")
    else:
        yield Finding("key", "ok", f"taken: that of {shown.source}")
    yield (version := _version(_json(about)))
    if version.status == "wrong":
        return
    ready = request(url, "GET", "/readyz", seconds)
    if ready.status != 200:
        yield Finding("ready", "wrong", f"{ready.refusal(url)}. Its log says more")
        return
    yield Finding("ready", "ok", "takes work")
    yield _stream(url, shown.key if shown else None, seconds)
    yield _gradient(url, seconds)


def _version(about: Any) -> Finding:
    version, wire = (str(about.get(name, "?")) for name in ("version", "wire"))
    if wire != WIRE:
        return Finding("version", "wrong", advice.skew(version, [wire]))
    if version != VERSION:
        return Finding(
            "version", "note", f"the daemon is gradd {version}, this is {VERSION}: both speak {wire}, but "
            "one may have operations that the other lacks",
        )  # fmt: skip
    return Finding("version", "ok", f"the same on both sides: {version} ({wire})")


def _stream(url: str, key: str | None, seconds: float) -> Finding:
    """Whether WebSockets pass. Nothing is said over it, so that no session is made."""
    from websockets.exceptions import InvalidHandshake
    from websockets.sync.client import connect
    from websockets.typing import Subprotocol

    secure = url.startswith("https://")
    try:
        with connect(
            f"ws{url.removeprefix('http').rstrip('/')}/v1/sessions/doctor/stream",
            subprotocols=[Subprotocol(WIRE)],
            additional_headers={"Authorization": f"Bearer {key}"} if key else {},
            ssl=ssl.create_default_context() if secure else None,
            compression=None,
            proxy=None,
            open_timeout=seconds,
            close_timeout=seconds,
        ):
            return Finding("stream", "ok", "WebSockets pass")
    except (OSError, InvalidHandshake) as refused:
        return Finding(
            "stream", "wrong", f"WebSockets do not pass ({refused}): a proxy must pass Upgrade on; until it "
            'does, gradd.connect(transport="http") needs none',
        )  # fmt: skip


def _gradient(url: str, seconds: float) -> Finding:
    path = f"/v1/sessions/doctor-{secrets.token_hex(8)}"
    weight = {"data": [3.0], "dtype": "float32", "requires_grad": True}
    try:
        for method, rest, body in (
            ("PUT", "", None),
            ("PUT", "/tensors/w", weight),
            ("POST", "/batches", GRADIENT),
        ):
            sent = None if body is None else json.dumps(body).encode()
            answer = request(url, method, path + rest, seconds, sent)
            if not 200 <= answer.status < 300:
                return Finding("gradient", "wrong", f"{answer.refusal(url)}. Its log says more")
        found = _json(answer)
    finally:
        request(url, "DELETE", path, seconds)
    if "[6.0]" not in json.dumps(found):
        return Finding(
            "gradient", "wrong", f"that of w² at 3 is 6, and the daemon says {json.dumps(found)[:200]}"
        )
    return Finding("gradient", "ok", "computed, in a session that is gone again")


def _json(answer: Answered) -> Any:
    try:
        return json.loads(answer.body)
    except ValueError:
        return None
