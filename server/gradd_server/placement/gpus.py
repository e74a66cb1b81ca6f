"""Several GPUs: an engine process for each, and which of them takes a session."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from gradd_protocol.names import is_device
from gradd_runtime.process import decode_figures

from gradd_server.placement.process import EngineProcess

logger = logging.getLogger("gradd.server")

P = TypeVar("P")

MOST_GPUS = 64
"""Of one machine."""

ABOUT = 256 << 20
"""Bytes of a GPU's memory that make no difference where sessions go."""

LOOK_SECONDS = 0.25
"""Longest wait for what engine processes say of their tenants: a process answers between two batches."""


class DeviceRooms(Generic[P]):
    """Engine processes with a device each, and how many sessions are in each.

    A session goes to the device where its tenant may take the most memory; where that is about the same,
    where most is left; then to the one with the fewest sessions. Both are what ``room(process, tenant)``
    says.
    """

    def __init__(self, processes: Iterable[P], room: Callable[[P, str], tuple[int, int]]) -> None:
        self._sessions = dict.fromkeys(processes, 0)
        self._room = room

    def wants_more(self, tenant: str) -> bool:
        """Whether another process is to be started for the tenant: no, there are no more devices."""
        return False

    def open_to(self, tenant: str, living: Callable[[P], bool]) -> list[P]:
        """The process that takes the tenant's next session, of those that are `living`."""

        def order(process: P) -> tuple[int, int, int]:
            allowed, left = self._room(process, tenant)
            return -(allowed // ABOUT), -(left // ABOUT), self._sessions[process]

        return sorted(filter(living, self._sessions), key=order)[:1]

    def enter(self, tenant: str, living: Callable[[P], bool]) -> P | None:
        """The process that a session of the tenant is in from now on; None while `open_to` has none."""
        for process in self.open_to(tenant, living):
            self._sessions[process] += 1
            return process
        return None

    def add(self, process: P) -> None:
        """There is another process."""
        self._sessions[process] = 0

    def drop(self, process: P) -> None:
        """A process is no more, and none takes its place."""
        self._sessions.pop(process, None)

    def replace(self, dead: P, fresh: P, tenants: Iterable[str]) -> None:
        """A process takes the place of another, with a session of each of the `tenants`."""
        count = sum(1 for _ in tenants)
        self._sessions = {
            fresh if process is dead else process: count if process is dead else there
            for process, there in self._sessions.items()
        }

    def leave(self, process: P, tenant: str) -> None:
        """A session that was there has ended. Nothing where the process was replaced."""
        if process in self._sessions:
            self._sessions[process] -= 1


def wanted_of(name: str, options: Mapping[str, Any], devices: Sequence[str]) -> str | None:
    """Which of the `devices` the session has to be on; None where any will do."""
    device = options.get("device")
    if device is None or is_device(device, devices):
        return device
    if re.fullmatch("cuda:[0-9]+", device):
        logger.warning("session %s was on %s, which is not here: it goes elsewhere", name, device)
    return None


def look_at_tenants(processes: Iterable[EngineProcess]) -> None:
    """Note what tenants hold in each process. One that does not answer soon is known as it was; all are on an
    event loop, which may be what answers come to.
    """
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        return
    asked = [(process, process.status().figures) for process in processes if process.alive]
    end = time.monotonic() + LOOK_SECONDS
    for process, telling in asked:
        with suppress(TimeoutError):
            figures = decode_figures(telling.result(max(0.0, end - time.monotonic())))
            if figures is not None:
                process.tenants = {name: tenant.bytes for name, tenant in figures.tenants.items()}
