"""A shell in a terminal of its own, whose commands are typed one after the other."""

from __future__ import annotations

import errno
import os
import pty
import re
import subprocess
import termios
import threading
from collections.abc import Mapping
from pathlib import Path

LONGEST = 240.0
"""Seconds for a command. It bounds a hang: machines are slow and busy."""

_COLUMNS = 110
_ENDED = re.compile(r"\x1e(\d+)\n")


class CommandFailed(RuntimeError):
    """A command of a walk ended with another exit code than 0, or printed nothing of what was waited for."""


class Shell:
    """A POSIX shell in `folder`. What it and its commands print is what a terminal shows."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._script = Path(environ["TMPDIR"]) / "typed"
        self._terminal, theirs = pty.openpty()
        settings = termios.tcgetattr(theirs)
        settings[1] &= ~termios.OPOST  # \n stays \n
        termios.tcsetattr(theirs, termios.TCSANOW, settings)
        termios.tcsetwinsize(theirs, (50, _COLUMNS))
        self._process = subprocess.Popen(
            ["sh"], stdin=subprocess.PIPE, stdout=theirs, stderr=theirs, cwd=folder, env=environ, text=True
        )
        os.close(theirs)
        self._said, self._over = "", False
        self._more = threading.Condition()
        # Read to the end, so that a full terminal never stops who writes.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def run(self, command: str) -> str:
        """What the command prints until it ends. Raises CommandFailed where its exit code is not 0."""
        self._script.write_text(command)
        self._type(f". {self._script} </dev/null; printf '\\036%d\\n' $?")
        printed, code = self._until(_ENDED, command)
        if code != "0":
            raise CommandFailed(f"{command.strip()}: exit code {code}\n{printed}")
        return printed

    def stay(self, command: str, sign: re.Pattern[str]) -> str:
        """What the command prints up to the line with `sign`. It runs on until `close`."""
        self._type(f"exec {command.strip()}")
        printed, shown = self._until(sign, command)
        return printed + shown

    def close(self) -> None:
        """End the shell, or what took its place, and wait for it."""
        self._process.terminate()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._reader.join()
        os.close(self._terminal)

    def _type(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        pieces: bytes | None = b""
        while pieces is not None:
            try:
                pieces = os.read(self._terminal, 65536) or None
            except OSError as error:
                if error.errno != errno.EIO:  # nobody has the other side any more
                    raise
                pieces = None
            with self._more:
                self._said += (pieces or b"").decode(errors="replace")
                self._over = pieces is None
                self._more.notify()

    def _until(self, sign: re.Pattern[str], command: str) -> tuple[str, str]:
        """What came before the sign, and what it names (or is). Both are taken away."""
        with self._more:
            found = self._more.wait_for(lambda: sign.search(self._said) or self._over, LONGEST)
            if not isinstance(found, re.Match):
                why = "the shell ended" if found else f"{LONGEST:g} s are over"
                raise CommandFailed(f"{command.strip()}: {why}\n{self._said}")
            before, self._said = self._said[: found.start()], self._said[found.end() :]
            return before, found[1] if sign.groups else found[0]
