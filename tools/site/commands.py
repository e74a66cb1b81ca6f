"""The page of the command line, from the parsers that read it, and that of the daemon's settings."""

from __future__ import annotations

import argparse
import dataclasses
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from gradd_server import cli
from gradd_server.commands.exits import EXIT_CODES
from gradd_server.settings import Settings, variable_of

_SETTINGS = {field.name for field in dataclasses.fields(Settings)}


def command_line() -> str:
    """The page of `gradd`: each command with its usage and its arguments."""
    parser = cli.parser()
    codes = re.findall(r"(\d+) (.+?)(?=\s{3}\d|\n|$)", EXIT_CODES)
    return "\n".join(
        [
            "# Command line\n",
            f"{parser.description} Written from the parsers; `gradd COMMAND --help` says the same.\n",
            *_commands(parser, ""),
            "## Exit codes\n",
            *table("code", "means", rows=codes),
        ]
    )


def _commands(parser: argparse.ArgumentParser, help: str) -> Iterator[str]:
    inner = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if help:
        yield f"{'##' if parser.prog.count(' ') == 1 else '###'} {parser.prog}\n"
        yield f"{sentence(help)}\n"
        if parser.description:
            yield "\n".join(["```text", *re.split(r"\s{3,}", parser.description), "```\n"])
        if _takes_settings(parser):
            yield f"`{parser.prog} [--SETTING VALUE ...]` takes each [setting](settings.md), and:\n"
        elif not inner or _own(parser):
            usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
            yield "\n".join(["```text", *textwrap.wrap(usage, 100, subsequent_indent="    "), "```\n"])
        yield from _arguments(parser)
    for action in inner:
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for word, command in action.choices.items():
            yield from _commands(command, helps[word])


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    rows = []
    for action in _own(parser):
        value = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest)
        if action.nargs == 0:
            value = ""
        words = ", ".join(action.option_strings)
        help = " ".join((action.help or "").split()) % {"default": action.default}
        rows.append((f"`{f'{words} {value}'.strip()}`", help.replace(str(Path.home()), "~")))
    return table("argument", "means", rows=rows) if rows else []


def _own(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of a command, without the settings where it takes all of them."""
    no_part = (argparse._HelpAction, argparse._SubParsersAction)
    shown = [a for a in parser._actions if not isinstance(a, no_part) and a.help != argparse.SUPPRESS]
    return [a for a in shown if not (_takes_settings(parser) and a.dest in _SETTINGS)]


def _takes_settings(parser: argparse.ArgumentParser) -> bool:
    return {action.dest for action in parser._actions} >= _SETTINGS


def settings() -> str:
    """The page of the daemon's settings."""
    rows = []
    for field in dataclasses.fields(Settings):
        default = "~/.local/share/gradd" if field.name == "data_dir" else field.default
        if isinstance(default, bool):
            default = str(default).lower()
        flag = "--" + field.name.replace("_", "-")
        shown = "" if default in (None, "") else f"`{default}`"
        names = (f"`{flag}`", f"`{variable_of(field.name)}`", f"`{field.name}`")
        rows.append((*names, shown, field.metadata["help"]))
    return "\n".join(
        [
            "# Settings\n",
            "Each setting of `gradd serve` is a flag, an environment variable and a key of a TOML file "
            "([operations](../operations.md#settings)). A flag has precedence over a variable, "
            "that over the file, that over the default. One that is `true` or `false` is also a flag with "
            "`--no-`. Written from the code.\n",
            *table("flag", "variable", "key", "default", "means", rows=rows),
        ]
    )


def sentence(text: str) -> str:
    """A help text as a sentence."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def table(*head: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The lines of a table."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines] + [""]
