"""A home for one walk: empty, with the commands of this checkout, and a free port for its daemon."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from .shell import Shell
from .varying import PORT, told

#: the command that takes a terminal for itself, and the line with which it is there
_SERVE, _SERVES = "gradd serve", re.compile(r".* listens on .*\n")
#: variables of the daemon's and the client's settings that a walk keeps: how long to wait on a busy machine
_KEPT = re.compile(r"GRADD_(?:\w+_)?SILENCE_SECONDS")


def commands(folder: Path) -> str:
    """Make a folder with `gradd`, the command of this checkout, and `python`, this interpreter; a PATH that
    begins with it.
    """
    folder.mkdir(exist_ok=True)
    for name, what in (("gradd", "-m gradd_server"), ("python", "-W error")):
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {what} "$@"\n')
        (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def free_port() -> int:
    """A port of 127.0.0.1 that nobody has at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Home:
    """Implements `page.Place`: a folder, a shell in it, and a terminal for each daemon."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._root = Path(self._ends.enter_context(tempfile.TemporaryDirectory(prefix="walk-"))).resolve()
        self.folder = self._root / "home"
        self._port = free_port()
        for name in ("home", "tmp"):
            (self._root / name).mkdir()
        self._path = commands(self._root / "bin")
        self._shell = self._open()

    def _open(self) -> Shell:
        ours = {
            "HOME": str(self.folder),
            "TMPDIR": str(self._root / "tmp"),
            "PATH": self._path,
            "GRADD_PORT": str(self._port),
            "GRADD_KERNELS": "numpy",  # what everybody has
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }
        others = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GRADD_", "XDG_")) or _KEPT.fullmatch(name)
        }
        shell = Shell(self.folder, {**others, **ours})
        self._ends.callback(shell.close)
        return shell

    def write(self, name: str, text: str) -> None:
        """Make a file of the page in the folder."""
        (self.folder / name).write_text(self._here(text), encoding="utf-8")

    def run(self, command: str) -> str:
        """What the page is to tell of a command. Raises CommandFailed where it fails."""
        line = self._here(command)
        printed = self._open().stay(line, _SERVES) if line.startswith(_SERVE) else self._shell.run(line)
        return told(printed, self._port, str(self.folder))

    def _here(self, text: str) -> str:
        return text.replace(PORT, str(self._port))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._ends.close()
