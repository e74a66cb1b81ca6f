"""A Ray cluster on this machine, in a process of its own: a head that runs nothing, and nodes to be killed.

``python -m tests.faults.nodes COUNT`` prints the cluster's address and ends with its input. A line ``add``
adds a node, with more in its environment as JSON behind it; ``head`` kills the head's server and starts
another, which knows what that one knew where there is a Redis (``redis-server`` is installed).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.processes import children
from tests.waiting import PATIENCE

#: of each node's object store, which gradd does not use
STORE_BYTES = 80 << 20
#: what an engine process's host asks for, and the head does not have
SHARE = "gradd=0.01"


class RayNodes:
    """The cluster, with so many nodes beside the head. As a context it ends with all its processes."""

    def __init__(self, count: int, log: Path) -> None:
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.nodes", str(count)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
            )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address, log.read_text()

    def add(self, **environ: str) -> None:
        """Add a node, with that in its environment."""
        self._say(f"add {json.dumps(environ)}")

    def kill_head(self) -> None:
        """End the head's server without a word, and start another."""
        self._say("head")

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"

    def __enter__(self) -> RayNodes:
        return self

    def __exit__(self, *_: object) -> None:
        under = family(self._process.pid)
        try:
            self._process.communicate("", PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pid in under:  # what a killed node left
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def family(pid: int) -> list[int]:
    """The processes that it started, those that they did, and so on, the youngest first."""
    found: list[int] = []
    with suppress(FileNotFoundError):
        for child in children(pid):
            found += [*family(child), child]
    return found


def parent(pid: int) -> int:
    """Who started it."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def whole_node(engine: int) -> list[int]:
    """The processes of the node that has this engine process: Ray's daemon first, then what it started."""
    daemon = parent(parent(engine))
    return [daemon, *family(daemon)]


def signalled(pids: Sequence[int], number: int) -> None:
    """Send a signal to all of them that are there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def keeps_head() -> bool:
    """Whether a head that is started again knows what the one before it knew."""
    return shutil.which("redis-server") is not None


@contextmanager
def redis() -> Iterator[None]:
    """A Redis for what Ray's head knows, if there can be one."""
    if not keeps_head():
        yield
        return
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
        os.environ["RAY_REDIS_ADDRESS"] = f"127.0.0.1:{port}"
        yield
    finally:
        server.kill()
        server.wait()


def main(count: int) -> None:
    """See the module."""
    from ray.cluster_utils import Cluster

    common: dict[str, Any] = {"object_store_memory": STORE_BYTES, "include_dashboard": False}
    node = {**common, "num_cpus": 1, "resources": {"gradd": 1}}
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what Ray prints is no line
    made = Cluster(initialize_head=True, head_node_args={**common, "num_cpus": 0})
    try:
        for _ in range(count):
            made.add_node(**node)
        print(made.address, file=lines)
        for line in sys.stdin:
            word, _, environ = line.partition(" ")
            if word == "add":
                made.add_node(**node, env_vars=json.loads(environ))
            else:
                made.head_node.kill_gcs_server(check_alive=False)
                made.head_node.start_gcs_server()
            print("done", file=lines)
    finally:
        made.shutdown()


if __name__ == "__main__":
    with redis():
        main(int(sys.argv[1]))
