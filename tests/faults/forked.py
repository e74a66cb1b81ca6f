"""`python -m tests.faults.forked serve ...`: a daemon whose engine processes are forks of one that has
everything imported, as starting one takes a second. Each that starts takes the first line of the file
``$FAILPOINTS``, which is where it ends (`gradd_runtime.store.failpoints`), and takes a snapshot after every
`OFTEN` entries.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from gradd_engine.backends.array import NUMPY
from gradd_runtime.process import Hosted, worker
from gradd_runtime.store import arm
from gradd_server.cli import main
from gradd_server.commands import serving
from gradd_server.placement import process

OFTEN = 5
_SUBREAPER = 36
_ABOVE = 100


def take(places: Path) -> str:
    """The first line of a file, which loses it."""
    first, *rest = [*places.read_text().splitlines(), ""]
    new = places.with_suffix(".new")
    new.write_text("\n".join(rest))
    new.rename(places)
    return first


def template(requests: socket.socket, places: Path) -> None:
    """Fork an engine process for each request, until there is nobody to ask for any."""
    while (came := socket.recv_fds(requests, 1 << 16, 8))[0]:
        data, given, _, _ = came
        told = json.loads(data)
        where = take(places)
        ours, theirs = os.pipe()
        between = os.fork()
        if not between:
            # The one in the middle ends, so that the daemon is the parent, who is told how its child ended.
            if pid := os.fork():
                os.write(theirs, str(pid).encode())
                os._exit(0)
            requests.close()
            run(told, given, where)
        os.waitpid(between, 0)
        requests.send(os.read(ours, 100))
        for descriptor in (ours, theirs, *given):
            os.close(descriptor)


def run(told: dict[str, Any], given: list[int], where: str) -> None:
    """Be an engine process. Never returns."""
    os.setsid()
    os.environ.update(told["environment"])
    arm(where)
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _ABOVE) for descriptor in given]
    os.closerange(3, _ABOVE)
    for descriptor, number in zip(moved, told["descriptors"], strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    Hosted.due = property(_due)  # type: ignore[assignment, method-assign]
    code = 70
    try:
        code = worker.main(told["arguments"])
    finally:
        os._exit(code)


def _due(hosted: Hosted) -> bool:
    session = hosted.session
    return session is not None and session.entries % OFTEN == 0


class Forked:
    """A fork of the template, in place of what `subprocess.Popen` makes."""

    requests: socket.socket

    def __init__(self, command: list[str], pass_fds: list[int], env: dict[str, str], **_: Any) -> None:
        told = {"arguments": command[command.index("-m") + 2 :], "descriptors": pass_fds, "environment": env}
        socket.send_fds(self.requests, [json.dumps(told).encode()], pass_fds)
        self.pid = int(self.requests.recv(100))
        self._code: int | None = None

    def kill(self) -> None:
        """As of Popen."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """As of Popen."""
        descriptor = os.pidfd_open(self.pid)
        try:
            if not select.select([descriptor], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        finally:
            os.close(descriptor)
        self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code


if __name__ == "__main__":
    NUMPY.kernels.load()
    Forked.requests, _theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    if not os.fork():
        Forked.requests.close()
        template(_theirs, Path(os.environ["FAILPOINTS"]))
        os._exit(0)
    _theirs.close()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    process.subprocess.Popen = Forked  # type: ignore[misc, assignment]
    serving.begun = lambda settings: None
    sys.exit(main())
