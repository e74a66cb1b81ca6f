"""`gradd config show`: each setting as `gradd serve` would take it, and where it comes from."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from gradd_server.commands.exits import OK
from gradd_server.commands.serving import add_settings, config_file
from gradd_server.settings import Settings


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    config = commands.add_parser("config", help="show the settings of `gradd serve`")
    actions = config.add_subparsers(required=True, metavar="ACTION")
    show = actions.add_parser(
        "show", help="print each setting with its source, as a file for --config; takes the flags of serve"
    )
    show.add_argument("--json", action="store_true", help="one JSON object of values and sources")
    add_settings(show)
    show.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> int:
    settings, sources = Settings.load_with_sources(vars(arguments), os.environ, config_file(arguments))
    values = {name: _plain(getattr(settings, name)) for name in sources}
    if arguments.json:
        print(json.dumps({name: {"value": values[name], "source": sources[name]} for name in values}))
        return OK
    lines = [f"{'# ' if value is None else ''}{name} = {_toml(value)}" for name, value in values.items()]
    width = max(map(len, lines))
    for line, source in zip(lines, sources.values(), strict=True):
        print(f"{line:<{width}}  # {source}")
    return OK


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _toml(value: Any) -> str:
    return '""' if value is None else json.dumps(value, ensure_ascii=False)
