"""Hosts of engine processes in this process, as nodes of a cluster that the test makes up; and what is left
of them in the end.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gradd_runtime.process import NEVER
from gradd_runtime.store import Folder
from gradd_server.placement.cluster import placement as module
from gradd_server.placement.cluster.host import EngineHost
from gradd_server.placement.cluster.nodes import ClusterSeen, NodeSeen
from gradd_server.placement.cluster.placement import ClusterPlacement
from gradd_server.placement.link import EngineTask

from tests.processes import children
from tests.waiting import PATIENCE

TASK = EngineTask("cpu", 1, PATIENCE, (0, 0, 0), NEVER)


def until(true: Callable[[], Any], why: Callable[[], Any] = lambda: "") -> None:
    """Wait until it is so."""
    end = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not true():
        if time.monotonic() > end:
            break
        pause.wait(0.01)
    else:
        return
    raise AssertionError(f"it does not come to that: {why()}")


def threads() -> set[str]:
    """The threads that links and hosts have, by name."""
    ours = ("gradd-host", "gradd-link", "gradd-beats", "gradd-replies", "gradd-frames", "gradd-node")
    return {thread.name for thread in threading.enumerate() if thread.name.startswith(ours)}


def descriptors(memory: bool = False) -> set[str]:
    """What this process has open, but for what it opens to look. With `memory` files in memory, too, which go
    with the last who knows of them: perhaps a fixture.
    """
    gc.collect()
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")
        except OSError:
            continue
    return {one for one in found if "/proc/" not in one and (memory or "memfd" not in one)}


@contextmanager
def nothing_left() -> Iterator[None]:
    """In the end all is as it was: processes, threads, descriptors."""
    before, engines, files = threads(), set(children(os.getpid())), descriptors()
    yield
    until(lambda: threads() <= before, lambda: threads() - before)
    until(lambda: set(children(os.getpid())) <= engines)
    until(lambda: not (descriptors() - files), lambda: descriptors() - files)


class FakeOverseer:
    """Tells a placement of the nodes that a test has."""

    def first(self, seconds: float) -> ClusterSeen:
        return ClusterSeen(NODES.seen())

    def tell(self, listener: Callable[[ClusterSeen], None] | None) -> None:
        if listener is not None:
            listener(self.first(0))


class Nodes:
    """The nodes of the cluster, by name, with a host each."""

    def __init__(self) -> None:
        self.hosts: dict[str, EngineHost] = {}
        self.devices: dict[str, str] = {}
        self.placement: ClusterPlacement | None = None

    def seen(self) -> list[NodeSeen]:
        return [
            NodeSeen(
                f"host-{name}", name, "127.0.0.1", host.address, os.getpid(), self.devices.get(name, "cpu")
            )
            for name, host in sorted(self.hosts.items())
        ]

    def start(self, *names: str, device: str = "cpu") -> None:
        for name in names:
            self.hosts[name] = EngineHost("127.0.0.1")
            self.devices[name] = device

    def stop(self, name: str) -> None:
        """Its host takes no more connections; what it runs goes on."""
        self.hosts.pop(name).close()

    def tell(self) -> None:
        """The agent has looked."""
        assert self.placement is not None
        self.placement._see(ClusterSeen(self.seen()))

    def pids(self, name: str) -> list[int]:
        assert self.placement is not None
        return [status.pid for status in self.placement.nodes() if status.node == name]

    def close(self) -> None:
        for name in list(self.hosts):
            self.stop(name)


NODES = Nodes()


@contextmanager
def cluster(
    folder: Path, patch: pytest.MonkeyPatch, *names: str, lead: int = 1, gpus: Sequence[str] = (), **more: Any
) -> Iterator[ClusterPlacement]:
    """A placement over nodes of these names, and over the `gpus`, which have such."""
    patch.setattr(module, "MEND_SECONDS", 0.0)
    overseer: Any = FakeOverseer()
    with nothing_left():
        NODES.start(*names)
        NODES.start(*gpus, device="cuda")
        try:
            each = dict.fromkeys((NODES.devices[name] for name in NODES.hosts), 1)
            made = NODES.placement = ClusterPlacement(
                overseer, each, TASK, lead, Folder(folder), silence=0.0, **more
            )
            try:
                until(lambda: {status.node for status in made.nodes()} == set(NODES.hosts))
                until(lambda: all(status.well for status in made.nodes()))
                yield made
            finally:
                made.shutdown()
        finally:
            NODES.close()
            NODES.placement = None
