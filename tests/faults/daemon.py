"""A daemon to be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from tests.processes import children
from tests.waiting import PATIENCE


class Daemon:
    """A daemon on one port and one data directory, that can be killed and started again. `flags`: more of
    `gradd serve`; `module`: what is run in its place; `data`: a directory that it has with others; `environ`:
    more of its environment. As a context it is asked to end, and has to.
    """

    def __init__(
        self, folder: Path, *flags: str, module: str = "gradd_server", data: Path | None = None,
        environ: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self._environ = {**os.environ, **environ}
        self._folder, self._flags, self._module = folder, flags, module
        self.data = data or folder / "data"
        self._port = "0"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it serves."""
        command = [sys.executable, "-m", self._module, "serve", "--workers", "1", "--threads", "1"]
        log = self._folder / "log"
        began = log.stat().st_size if log.exists() else 0
        with log.open("ab") as sink:
            self.process = subprocess.Popen(
                [*command, "--port", self._port, "--data-dir", str(self.data), *self._flags],
                stderr=sink,
                env=self._environ,
            )
        found = None
        while not found:
            text = log.read_text()[began:]
            assert self.process.poll() is None, text
            found = re.search(r"http://[^ ]+:(\d+)", text)
            threading.Event().wait(0.01)
        self.url, self._port = found.group(), found.group(1)

    @property
    def port(self) -> int:
        """The port that it has, also after it was started again."""
        return int(self._port)

    def kill(self) -> None:
        """End it without a word, and start another."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self.start()

    def kill_engine(self) -> None:
        """End its engine processes without a word."""
        for pid in children(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Ask it to end, and wait."""
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, fault: object, *_: object) -> None:
        try:
            if fault is None:
                self.end()
        finally:
            self.drop()

    def drop(self) -> None:
        """End it, if it has not."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
