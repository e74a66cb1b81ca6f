"""The `gradd` command; `commands` has its parts. Starts fast: what only serving needs is imported there."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any

from gradd_protocol.version import VERSION, WIRE

from gradd_server.commands import (
    checking,
    completing,
    configuring,
    diagnosing,
    installing,
    keys,
    listing,
    nodes,
    serving,
    sharing,
    showing,
    watching,
)
from gradd_server.commands.exits import (
    BAD_CONFIG,
    CANNOT_CREATE,
    EXIT_CODES,
    LOCKED,
    OK,
    UNAVAILABLE,
    Unavailable,
)
from gradd_server.datadir import CannotCreate, Locked
from gradd_server.keys import BadKeys
from gradd_server.settings import BadConfig


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: `sys.argv`); returns the exit code."""
    arguments = parser().parse_args(argv)
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
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _fail(code: int, message: str) -> int:
    print(f"gradd: {message}", file=sys.stderr)
    return code


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    whole = argparse.ArgumentParser(
        prog="gradd",
        description="PyTorch's autograd as a daemon: named graph sessions over REST and a stream.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    parts = (
        serving,
        listing,
        nodes,
        watching,
        keys,
        sharing,
        diagnosing,
        showing,
        checking,
        configuring,
        installing,
    )
    for part in parts:
        part.add(commands)
    completing.add(commands, parser)
    _add_version(commands)
    return whole


def _add_version(commands: Any) -> None:
    version = commands.add_parser("version", help="print the version")
    version.add_argument("--json", action="store_true", help="with the wire's and Python's, as JSON")
    version.set_defaults(run=_version)


def _version(arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps({"version": VERSION, "wire": WIRE, "python": platform.python_version()}))
    else:
        print(f"gradd {VERSION}")
    return OK


if __name__ == "__main__":
    raise SystemExit(main())
