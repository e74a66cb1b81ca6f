"""`gradd demo`: a daemon that lives as long as a training in it, by another process and over the network."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradd_server.commands.exits import Unavailable

SCRIPT = "gradd._demo"
"""The SDK's module that trains."""

TIED = "gradd_server.commands.tied"
"""The daemon's."""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def add(commands: Any) -> None:
    """Add it to the commands of a parser."""
    demo = commands.add_parser(
        "demo", help="train something in a daemon that is started for it; the exit code is the training's"
    )
    demo.add_argument(
        "--url",
        metavar="URL",
        help="train in the daemon at this address, or in local:, and start none [env: GRADD_URL]",
    )
    demo.set_defaults(run=_demo)


def _demo(arguments: argparse.Namespace) -> int:
    said = arguments.url or os.environ.get("GRADD_URL")
    try:
        if said:
            return _train(said)
        with serving() as url:
            print(f"a daemon serves on {url}", flush=True)
            return _train(url, GRADD_RECONNECT="5")  # it does not come back
    except KeyboardInterrupt:
        return INTERRUPTED


def _train(url: str, **more: str) -> int:
    command = [sys.executable, "-m", SCRIPT]
    return subprocess.run(command, env={**os.environ, "GRADD_URL": url, **more}, check=False).returncode


@contextmanager
def serving() -> Iterator[str]:
    """The address of a daemon that lives as long as this block, and no longer than this process, however that
    ends. Raises Unavailable where none starts.
    """
    command = [sys.executable, "-m", TIED, "--port", "0", "--log-level", "warning", "--log-format", "text"]
    # In a process group of its own, so that Ctrl-C ends the script, and the daemon after it.
    daemon = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    assert daemon.stdin is not None
    assert daemon.stderr is not None
    try:
        line = daemon.stderr.readline()
        found = re.search(r"http://\S+:\d+", line)
        if found is None:
            said = (line + daemon.stderr.read()).strip()
            raise Unavailable(f"the daemon did not start (exit code {daemon.wait()}): {said}")
        # What it says from now on is shown, and read, so that a full pipe never stops it.
        reader = threading.Thread(target=sys.stderr.writelines, args=(daemon.stderr,), daemon=True)
        reader.start()
        yield found.group()
        daemon.stdin.close()
        reader.join()
    finally:
        daemon.stdin.close()
        daemon.wait()
        daemon.stderr.close()
