"""A Ray cluster on this machine, in a process of its own: a head that runs nothing, and nodes to be killed.

``python -m tests.faults.nodes COUNT`` prints the cluster's address and ends with its input; each line adds a
node.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
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

    def add(self) -> None:
        """Add a node."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("add\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "added\n"

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
        for _ in sys.stdin:
            made.add_node(**node)
            print("added", file=lines)
    finally:
        made.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
