"""The `gradd` command; `keycommands` has its part on API keys. Starts fast: what only serving needs is
imported for serving.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import http.client
import json
import logging
import os
import platform
import signal
import sys
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradd_protocol import runtimefile
from gradd_protocol.version import VERSION, WIRE

from gradd_server import keycommands
from gradd_server.datadir import CannotCreate, DataDir, Locked, holder_url
from gradd_server.keys import BadKeys
from gradd_server.settings import BadConfig, Settings, default_data_dir, variable_of

if TYPE_CHECKING:
    from gradd_runtime.process import Placement

    from gradd_server.tls import Certificate

STOP_SECONDS = 5.0
"""Longest wait for engine processes to exit after the daemon finished or abandoned its work."""

# From sysexits.h; 2 is argparse's.
OK, USAGE, UNAVAILABLE, GAVE_UP, CANNOT_CREATE, LOCKED, BAD_CONFIG = 0, 2, 69, 70, 73, 75, 78

EXIT_CODES = """exit codes:
  0 done   2 usage   69 unavailable   70 work in flight was given up after --drain-timeout
  73 the data directory cannot be made
  75 the data directory is held by another daemon   78 bad configuration"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: `sys.argv`); returns the exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (BadConfig, BadKeys) as bad:
        return _fail(BAD_CONFIG, str(bad))
    except CannotCreate as refused:
        return _fail(CANNOT_CREATE, str(refused))
    except Locked as held:
        return _fail(LOCKED, str(held))
    except Unavailable as absent:
        return _fail(UNAVAILABLE, str(absent))


class Unavailable(RuntimeError):
    """No daemon answers or can be started; the command exits with 69."""


def _fail(code: int, message: str) -> int:
    print(f"gradd: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="gradd",
        description="PyTorch's autograd as a daemon: named graph sessions over REST and a stream.",
        epilog=EXIT_CODES,
        formatter_class=formatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="run the daemon", epilog=EXIT_CODES, formatter_class=formatter)
    serve.add_argument(
        "--config", type=Path, metavar="FILE", help="TOML file of settings [env: GRADD_CONFIG]"
    )
    for field in dataclasses.fields(Settings):
        add_setting(serve, field)
    serve.set_defaults(run=_serve)

    health = commands.add_parser("health", help="ask a daemon whether it is ready: 0 if so, else 69")
    _add_url(health)
    health.set_defaults(run=_health)

    sessions = commands.add_parser("sessions", help="list the sessions of a daemon, or delete some")
    _add_url(sessions)
    sessions.add_argument("--json", action="store_true", help="one JSON object a line")
    sessions.add_argument("--tenant", metavar="T", help="those of another tenant; for operators")
    sessions.set_defaults(run=_sessions)
    delete = sessions.add_subparsers(metavar="ACTION").add_parser(
        "delete", help="end sessions with all they hold, lost ones too"
    )
    _add_url(delete, default=argparse.SUPPRESS)
    delete.add_argument("names", nargs="+", metavar="NAME", help="name of a session")
    delete.set_defaults(run=_delete)

    keycommands.add(commands)

    version = commands.add_parser("version", help="print the version")
    version.add_argument("--json", action="store_true", help="with the wire's and Python's, as JSON")
    version.set_defaults(run=_version)
    return parser


def add_setting(parser: argparse.ArgumentParser, field: dataclasses.Field[Any]) -> None:
    """Give the parser the flag of a setting."""

    def parse(text: str) -> Any:
        try:
            return field.metadata["parse"](text)
        except ValueError as bad:
            raise argparse.ArgumentTypeError(str(bad)) from None

    default: Any = default_data_dir() if field.name == "data_dir" else field.default
    if isinstance(default, bool):
        default = str(default).lower()
    flag = "--" + field.name.replace("_", "-")
    said = f"[env: {variable_of(field.name)}, default: {default if default not in ('', None) else 'none'}]"
    help = f"{field.metadata['help']} {said}".replace("%", "%%")
    if isinstance(field.default, bool):
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=help)
    else:
        parser.add_argument(flag, type=parse, metavar=field.metadata["metavar"], help=help)


def _add_url(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    parser.add_argument(
        "--url",
        metavar="URL",
        default=default,
        help="the daemon's address [env: GRADD_URL, default: that of the daemon that holds GRADD_DATA_DIR, "
        "else http://127.0.0.1:4733]",
    )


def _serve(arguments: argparse.Namespace) -> int:
    config = arguments.config or (Path(os.environ["GRADD_CONFIG"]) if "GRADD_CONFIG" in os.environ else None)
    settings = Settings.load(vars(arguments), os.environ, config)
    _start_log(settings)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the running daemon logs it instead
    try:
        from gradd_runtime.catalog import ops

        from gradd_server import daemon
    except ModuleNotFoundError as absent:
        if (absent.name or "").startswith("gradd"):
            raise
        raise Unavailable(
            f"serving needs {absent.name}, which is not installed: pip install 'gradd[server]'"
        ) from None
    certificate = _certificate(settings)
    try:
        # Before starting engine processes, which takes seconds.
        with (
            DataDir(settings.data_dir) as data,
            daemon.bound(settings.host, settings.port) as listener,
            daemon.bound_admin(settings) or contextlib.nullcontext() as admin,
        ):
            try:
                placement = _placement(settings)
            except (ImportError, RuntimeError) as refused:
                raise Unavailable(f"device {settings.device}: {refused}") from None
            try:
                done = daemon.serve(settings, placement, ops(), data, listener, certificate, admin)
            finally:
                placement.shutdown()
    except daemon.CannotListen as refused:
        raise Unavailable(str(refused)) from None
    if not (done or settings.workers):
        # A kernel still running in this process would delay its exit.
        logging.shutdown()
        os._exit(GAVE_UP)
    return OK if done else GAVE_UP


def _start_log(settings: Settings) -> None:
    from gradd_runtime.process import start_log

    format = settings.log_format
    if format == "auto":
        format = "text" if sys.stderr.isatty() and not settings.log_file else "json"
    try:
        start_log(
            settings.log_level, format, str(Path(settings.log_file).absolute()) if settings.log_file else ""
        )
    except OSError as refused:
        raise CannotCreate(f"--log-file {settings.log_file}: {refused.strerror or refused}") from None


def _certificate(settings: Settings) -> Certificate | None:
    """The certificate that the settings name. Raises BadConfig where it does not load."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    from gradd_server.tls import Certificate

    try:
        return Certificate(settings.tls_cert, settings.tls_key)
    except OSError as refused:
        raise BadConfig(f"--tls-cert {settings.tls_cert}, --tls-key {settings.tls_key}: {refused}") from None


def _placement(settings: Settings) -> Placement:
    """The placement that the settings ask for. Raises ImportError or RuntimeError if it is not possible."""
    if not settings.workers:
        from gradd_runtime.process import InlinePlacement

        return InlinePlacement(settings.device)
    from gradd_server.placement.workers import WorkersPlacement

    return WorkersPlacement(
        settings.workers, settings.threads, settings.device, STOP_SECONDS, settings.engine_silence_seconds
    )


def _health(arguments: argparse.Namespace) -> int:
    _get(_daemon_url(arguments, os.environ), "/readyz")
    print("ready")
    return OK


def _sessions(arguments: argparse.Namespace) -> int:
    url = _daemon_url(arguments, os.environ)
    asked = {"tenant": arguments.tenant} if arguments.tenant else {}
    while True:
        page = _get(url, "/v1/sessions?" + urllib.parse.urlencode(asked))
        for session in page["sessions"]:
            if arguments.json:
                print(json.dumps(session))
            elif session.get("lost"):
                print("{name}\tlost with its engine process".format(**session))
            elif session.get("away"):
                print("{name}\t{away}".format(**session))
            else:
                print("{name}\t{tensors} tensors\t{bytes} bytes\t{batches} batches".format(**session))
        asked["page_token"] = page.get("next_page_token", "")
        if not asked["page_token"]:
            return OK


def _delete(arguments: argparse.Namespace) -> int:
    url = _daemon_url(arguments, os.environ)
    for name in arguments.names:
        _ask(url, "DELETE", "/v1/sessions/" + urllib.parse.quote(name, safe=""), 204)
    return OK


def _version(arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps({"version": VERSION, "wire": WIRE, "python": platform.python_version()}))
    else:
        print(f"gradd {VERSION}")
    return OK


def _daemon_url(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    url = arguments.url or environ.get("GRADD_URL")
    if url is None:
        data_dir = Path(environ["GRADD_DATA_DIR"]) if "GRADD_DATA_DIR" in environ else default_data_dir()
        url = holder_url(data_dir) or "http://127.0.0.1:4733"
    if urllib.parse.urlsplit(url).scheme not in ("http", "https") or not urllib.parse.urlsplit(url).hostname:
        raise BadConfig(f"{url!r} is not the http:// or https:// address of a daemon")
    return str(url)


def _get(url: str, path: str) -> Any:
    """The JSON at `path` of the daemon at `url`. Raises what `_ask` raises."""
    return json.loads(_ask(url, "GET", path, 200))


def _ask(url: str, method: str, path: str, status: int) -> bytes:
    """The body of an answer with that status. Raises Unavailable for any other answer, or none."""
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=5)
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
        raise Unavailable(f"{url} answers {reply.status} {reply.reason}")
    return body


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


if __name__ == "__main__":
    raise SystemExit(main())
