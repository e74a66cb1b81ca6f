"""Start a daemon on a free loopback port and train examples/digits.py in it, from a process of its own.

Where GRADD_URL is set, that daemon (or `local:`) is used and none is started. Exits as the script does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("digits.py")


@contextmanager
def serving() -> Iterator[str]:
    """The address of a daemon that lives as long as this block."""
    with tempfile.TemporaryDirectory(prefix="gradd-demo-") as data:
        command = [sys.executable, "-m", "gradd_server", "serve", "--port", "0", "--data-dir", data]
        command += ["--log-level", "warning"]
        # In a process group of its own, so that Ctrl-C ends the script, and the daemon after it.
        daemon = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, process_group=0)
        try:
            assert daemon.stderr is not None
            start_line = daemon.stderr.readline()
            found = re.search(r"http://\S+:\d+", start_line)
            if found is None:
                said = start_line + daemon.stderr.read()
                raise SystemExit(f"the daemon did not start (exit code {daemon.wait()}): {said}")
            # What it says from now on is shown, and read, so that a full pipe never stops it.
            reader = threading.Thread(target=sys.stderr.writelines, args=(daemon.stderr,), daemon=True)
            reader.start()
            print(f"a daemon serves on {found.group()}")
            yield found.group()
            daemon.terminate()
            reader.join()
        finally:
            daemon.terminate()
            daemon.wait()
            if daemon.stderr is not None:
                daemon.stderr.close()


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
        return train(url)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
