"""Start a daemon on a free loopback port and train examples/digits.py in it, from a process of its own.

Where GRADD_URL is set, that daemon (or `local:`) is used and none is started. Exits as the script does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gradd_server.commands.exits import Unavailable
from gradd_server.commands.showing import INTERRUPTED, serving

SCRIPT = Path(__file__).with_name("digits.py")


def train(url: str) -> int:
    """Run the script against the daemon at `url`; its exit code."""
    return subprocess.run(
        [sys.executable, str(SCRIPT)], env={**os.environ, "GRADD_URL": url}, check=False
    ).returncode


def main() -> int:
    """The exit code of the script."""
    if url := os.environ.get("GRADD_URL"):
        return train(url)
    with serving() as url:
        print(f"a daemon serves on {url}", flush=True)
        return train(url)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unavailable as failed:
        sys.exit(str(failed))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
