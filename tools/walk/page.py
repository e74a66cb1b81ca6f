"""A page of Markdown as a script: the files that it shows, and the commands that it runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: the first line of a block that is a file
_NAME = re.compile(r"(?:#|//) (\w[\w.-]*\.\w+)\n")
#: a command, with the lines that go on with it, and what stands below
_COMMAND = re.compile(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Place(Protocol):
    """Where a page is walked through."""

    def write(self, name: str, text: str) -> None:
        """Make a file."""
        ...

    def run(self, command: str) -> str:
        """What a command prints."""
        ...


def is_walk(page: str) -> bool:
    """Whether a page has commands whose output stands below them."""
    return any(language == "console" for language, _ in _FENCE.findall(page))


def walked(page: str, place: Place, keep: Callable[[str, str], bool]) -> str:
    """The page as it is when its commands are run. What stands there stays where `keep(there, printed)`."""

    def again(command: re.Match[str]) -> str:
        line, there = command.groups()
        printed = place.run(line.replace("\n> ", "\n"))
        return f"$ {line}{there if keep(there, printed) else printed}"

    def block(fence: re.Match[str]) -> str:
        language, body = fence.groups()
        if language == "console":
            return f"```console\n{_COMMAND.sub(again, body)}```"
        if named := _NAME.match(body):
            place.write(named[1], body)
        return fence[0]

    return _FENCE.sub(block, page)
