"""How the front and an engine process are connected: on this machine, or see `cluster.links`."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gradd_runtime.process import Commons, PagingRules, Running, log_arguments

from gradd_server.placement.early import Early, started
from gradd_server.placement.watch import Watch


class Child(Protocol):
    """An engine process, here or elsewhere."""

    pid: int

    def kill(self) -> None:
        """End it at once."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises subprocess.TimeoutExpired."""
        raise NotImplementedError


class Pulse(Protocol):
    """Whether an engine process shows signs of life, as `Watch` tells."""

    def look(self) -> None:
        """Look once."""

    @property
    def doubtful(self) -> bool:
        """Whether it missed more looks than a busy machine explains."""
        raise NotImplementedError

    @property
    def over(self) -> bool:
        """Whether it counts as dead."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop watching."""


@dataclass
class EngineLink:
    """The front's ends of a connection to an engine process."""

    front: socket.socket
    """Of envelopes, both ways."""
    orders: socket.socket
    """Of what it is told while it runs a frame."""
    running: Running
    """Which request it runs."""
    child: Child
    pulse: Pulse
    near: bool = True
    """Whether files can be given to it."""
    release: Callable[[], None] = lambda: None
    """Called when the process has ended."""


@dataclass(frozen=True)
class EngineTask:
    """What an engine process is to be. `budgets`: bytes that its sessions, those of a tenant, and those of
    all processes of its machine may hold; 0 for no limit. `rules`: when sessions leave its memory. It beats
    every half `interval` (s).
    """

    device: str
    threads: int
    interval: float
    budgets: tuple[int, int, int]
    rules: PagingRules


def start(
    task: EngineTask, front: socket.socket, orders: socket.socket, running: Running, commons: Commons,
    number: int, early: Early | None = None,
) -> tuple[subprocess.Popen[bytes], int, int]:  # fmt: skip
    """Start an engine process with its ends of two sockets, the `number` in the `commons`. Returns it, with
    the pipe that it beats on, and one that it lives as long as.
    """
    pulse, beating = os.pipe()
    lifeline, ours = os.pipe()
    given = [front.fileno(), beating, lifeline, orders.fileno(), running.fd, commons.fd]
    arguments = [str(given[0]), task.device, log_arguments(), str(beating), str(lifeline)]
    arguments += [str(task.interval / 2), str(given[3]), str(running.fd)]
    arguments += map(str, (*task.budgets, commons.fd, len(commons.held), number))
    arguments += map(str, (task.rules.idle, task.rules.resident, task.rules.together))
    try:
        child = started(early, task.threads, arguments, given)
    except BaseException:
        os.close(pulse)
        os.close(ours)
        raise
    finally:
        os.close(beating)
        os.close(lifeline)
    return child, pulse, ours


def near_link(task: EngineTask, commons: Commons, number: int, early: Early | None = None) -> EngineLink:
    """A link to a child of this process, which begins now."""
    ours, theirs = socket.socketpair()
    orders, obeyed = socket.socketpair()
    running = Running()
    try:
        with theirs, obeyed:
            child, pulse, lifeline = start(task, theirs, obeyed, running, commons, number, early)
    except BaseException:
        ours.close()
        orders.close()
        raise
    return EngineLink(
        ours, orders, running, child, Watch(child.pid, pulse, task.interval),
        release=lambda: os.close(lifeline),
    )  # fmt: skip
