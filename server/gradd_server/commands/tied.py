"""`python -m gradd_server.commands.tied ...`: `gradd serve ...` with data of its own, until its stdin ends.

Whoever holds the other end takes the daemon along however it ends itself, as by kill -9.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence

from gradd_server import cli


def _stop_at_end(stdin: int) -> None:
    while os.read(stdin, 1 << 10):
        continue
    os.kill(os.getpid(), signal.SIGTERM)


def main(arguments: Sequence[str]) -> int:
    """The exit code of the daemon; its data are gone with it."""
    with tempfile.TemporaryDirectory(prefix="gradd-demo-") as data:
        threading.Thread(target=_stop_at_end, args=(sys.stdin.fileno(),), daemon=True).start()
        return cli.main(["serve", *arguments, "--data-dir", data])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
