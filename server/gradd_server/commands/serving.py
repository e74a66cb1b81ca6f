"""`gradd serve`, and the flags of its settings. What only serving needs is imported for serving."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import faulthandler
import logging
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradd_server.commands.exits import EXIT_CODES, GAVE_UP, OK, Unavailable
from gradd_server.datadir import CannotCreate, DataDir, default_data_dir
from gradd_server.placement.early import Early, threads_of
from gradd_server.settings import BadConfig, Settings, variable_of
from gradd_server.telemetry.manager import ServiceManager

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradd_runtime.process import PagingRules, Placement

    from gradd_server.fronts.leads import Lead
    from gradd_server.tls import Certificate

STOP_SECONDS = 5.0
"""Longest wait for engine processes to exit after the daemon finished or abandoned its work."""


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    formatter = argparse.RawDescriptionHelpFormatter
    serve = commands.add_parser("serve", help="run the daemon", epilog=EXIT_CODES, formatter_class=formatter)
    add_settings(serve)
    serve.set_defaults(run=_serve)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Give the parser a flag for each setting, and for the file that has some."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="TOML file of settings [env: GRADD_CONFIG]"
    )
    for field in dataclasses.fields(Settings):
        _add_setting(parser, field)


def config_file(arguments: argparse.Namespace) -> Path | None:
    """The file of settings that is to be read, if any."""
    said = arguments.config or os.environ.get("GRADD_CONFIG")
    return Path(said) if said else None


def _add_setting(parser: argparse.ArgumentParser, field: dataclasses.Field[Any]) -> None:
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
        action = "append" if field.metadata.get("repeat") else "store"
        parser.add_argument(flag, action=action, type=parse, metavar=field.metadata["metavar"], help=help)


def _serve(arguments: argparse.Namespace) -> int:
    settings = Settings.load(vars(arguments), os.environ, config_file(arguments))
    manager = ServiceManager(os.environ)  # before processes are started that would inherit it
    if sys.__stderr__ is not None and not faulthandler.is_enabled():
        faulthandler.enable(sys.__stderr__)  # a process that crashes says where
    with contextlib.ExitStack() as stack:
        early = begun(settings)
        if early is not None:
            stack.callback(early.close)
        try:
            return _serve_with(settings, manager, early)
        except BrokenPipeError as broken:
            # Not that of one who reads this command's output and has seen enough.
            raise RuntimeError("a pipe of the daemon's broke") from broken


def begun(settings: Settings) -> Early | None:
    """The first engine process, which begins while this one imports what it needs."""
    if not settings.workers or settings.device != "cpu" or settings.placement != "workers":
        return None
    return Early(threads_of(settings.threads, settings.workers))


def _serve_with(settings: Settings, manager: ServiceManager, early: Early | None) -> int:
    _start_log(settings)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the running daemon logs it instead
    try:
        from gradd_runtime.catalog import ops

        from gradd_server import daemon

        if settings.traces:
            import gradd_server.telemetry.traces  # noqa: F401
    except ModuleNotFoundError as absent:
        if (absent.name or "").startswith("gradd"):
            raise
        if (absent.name or "").startswith("opentelemetry"):
            raise Unavailable("--traces needs OpenTelemetry: pip install 'gradd[otel]'") from None
        raise Unavailable(
            f"serving needs {absent.name}, which is not installed: pip install 'gradd[server]'"
        ) from None
    certificate = _certificate(settings)

    def serve(
        data: DataDir, listener: socket.socket, make: Callable[[], Placement], lead: Lead | None = None
    ) -> bool:
        with daemon.bound_admin(settings) or contextlib.nullcontext() as admin:
            try:
                placement = make()
            except (ImportError, RuntimeError) as refused:
                raise Unavailable(f"device {settings.device}: {refused}") from None
            try:
                return daemon.serve(
                    settings, placement, ops(), data, listener, certificate, admin, manager, lead
                )
            finally:
                placement.shutdown()

    try:
        # Before starting engine processes, which takes seconds.
        with (
            DataDir(settings.data_dir, settings.placement == "ray") as data,
            daemon.bound(settings.host, settings.port) as listener,
        ):
            if settings.placement == "ray":
                from gradd_server.commands.leading import lead_in_turn

                done = lead_in_turn(settings, paging_rules(settings), data, listener, manager, serve)
            else:
                done = serve(data, listener, lambda: placement_of(settings, early))
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


def paging_rules(settings: Settings) -> PagingRules:
    """When sessions leave memory."""
    from gradd_runtime.process import PagingRules

    return PagingRules(settings.idle_seconds, settings.engine_memory, together=settings.all_engine_memory)


def placement_of(settings: Settings, early: Early | None = None) -> Placement:
    """The placement on this machine that the settings ask for. Raises ImportError or RuntimeError if it is
    not possible.
    """
    from gradd_runtime.process import InlinePlacement, most_awake

    rules = paging_rules(settings)
    if not settings.workers:
        # Connections are this process's too.
        rules = rules._replace(awake=most_awake() // 2)
        return InlinePlacement(settings.device, *settings.budgets[:2], rules)
    from gradd_server.placement.workers import WorkersPlacement

    return WorkersPlacement(
        settings.workers,
        settings.threads,
        settings.device,
        STOP_SECONDS,
        settings.engine_silence_seconds,
        settings.most_workers,
        cancel_grace=settings.cancel_grace,
        batch_seconds=settings.max_batch_seconds,
        budgets=settings.budgets,
        rules=rules,
        early=early,
    )
