"""`gradd keys`: make, list, end and replace API keys. They work on the data directory, whether a daemon runs
or not: one that does takes the change at its next request.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gradd_protocol import names, runtimefile
from gradd_protocol.problems import ProtocolError

from gradd_server.datadir import chosen_data_dir, holder_url, make_private
from gradd_server.keys import BadKeys, Key, KeyFile, seconds

ROLES = ("user", "operator")


def add(commands: Any) -> None:
    """Add `keys` to the commands of a parser."""
    keys = commands.add_parser("keys", help="make, list, revoke and rotate API keys")
    actions = keys.add_subparsers(required=True, metavar="ACTION")

    create = _action(actions, "create", _create, "make a key and print it, once")
    create.add_argument("--tenant", type=_tenant, default=names.DEFAULT_TENANT, metavar="T",
                        help="whose sessions it sees [default: default]")  # fmt: skip
    create.add_argument("--role", choices=ROLES, default="user",
                        help="an operator may list the sessions of all tenants [default: user]")  # fmt: skip
    create.add_argument(
        "--name", default="", metavar="N", help="what it is for, as `gradd keys list` shows it"
    )
    _add_expires(create)

    listed = _action(actions, "list", _list, "list keys; the keys themselves are nowhere")
    listed.add_argument("--json", action="store_true", help="one JSON object a line")

    revoke = _action(actions, "revoke", _revoke, "end keys at once, and the streams that they opened")
    revoke.add_argument("ids", nargs="+", metavar="ID", help="id of a key, as `gradd keys list` shows it")

    rotate = _action(actions, "rotate", _rotate, "print a new key in the place of an old one")
    rotate.add_argument("id", metavar="ID", help="id of the old key")
    rotate.add_argument("--overlap", type=_seconds, default=0, metavar="TIME",
                        help="how long the old one still works, as 1h [default: not at all]")  # fmt: skip
    _add_expires(rotate)

    local = _action(actions, "local", _local, "print the key that the running daemon gives this user")
    local.add_argument(
        "--url",
        metavar="URL",
        help="the daemon's address [env: GRADD_URL, default: that of the one that holds the data directory]",
    )


def _action(actions: Any, name: str, run: Any, help: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=help)
    parser.add_argument("--data-dir", type=Path, metavar="DIR",
                        help="the daemon's data directory [env: GRADD_DATA_DIR]")  # fmt: skip
    parser.set_defaults(run=run)
    return parser


def _add_expires(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expires",
        type=_seconds,
        metavar="TIME",
        help="how long it works, as 30d or 12h [default: for ever]",
    )


def _tenant(text: str) -> str:
    try:
        return names.tenant(text)
    except ProtocolError as bad:
        raise argparse.ArgumentTypeError(str(bad)) from None


def _seconds(text: str) -> int:
    try:
        return seconds(text)
    except ValueError as bad:
        raise argparse.ArgumentTypeError(str(bad)) from None


def _folder(arguments: argparse.Namespace) -> Path:
    return chosen_data_dir(arguments.data_dir, os.environ)


def _file(arguments: argparse.Namespace) -> KeyFile:
    folder = _folder(arguments)
    make_private(folder)
    return KeyFile(folder)


def _create(arguments: argparse.Namespace) -> int:
    secret, key = _file(arguments).create(arguments.tenant, arguments.role, arguments.name, arguments.expires)
    return _show(secret, key)


def _rotate(arguments: argparse.Namespace) -> int:
    secret, key = _file(arguments).rotate(arguments.id, arguments.overlap, arguments.expires)
    return _show(secret, key)


def _show(secret: str, key: Key) -> int:
    print(f"{key.id}: {key.role} of tenant {key.tenant}. This is the only time that the key is shown.",
          file=sys.stderr)  # fmt: skip
    print(secret)
    return 0


def _list(arguments: argparse.Namespace) -> int:
    now = time.time()
    for key in _file(arguments).read():
        shown = {
            "id": key.id,
            "tenant": key.tenant,
            "role": key.role,
            "name": key.name,
            "created": _moment(key.created),
            "expires": _moment(key.expires),
            "state": _state(key, now),
        }
        if arguments.json:
            print(json.dumps(shown))
        else:
            print("\t".join(str(value if value is not None else "never") for value in shown.values()))
    return 0


def _state(key: Key, now: float) -> str:
    if key.revoked is not None:
        return "revoked"
    return "expired" if key.fault(now) else "live"


def _moment(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _revoke(arguments: argparse.Namespace) -> int:
    file = _file(arguments)
    for id in arguments.ids:
        file.revoke(id)
    return 0


def _local(arguments: argparse.Namespace) -> int:
    url = arguments.url or os.environ.get("GRADD_URL") or holder_url(_folder(arguments))
    try:
        found = runtimefile.find(url or "http://127.0.0.1:4733")
    except runtimefile.NotPrivate as refused:
        raise BadKeys(str(refused)) from None
    if found is None:
        raise BadKeys(f"no daemon of this user is known{f' at {url}' if url else ''}: is it running?")
    print(found.key)
    return 0
