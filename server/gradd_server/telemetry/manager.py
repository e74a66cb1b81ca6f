"""What the service manager is told: systemd's protocol of datagrams, one assignment a line.

Source: sd_notify(3), https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import MutableMapping

logger = logging.getLogger("gradd.server")


class ServiceManager:
    """The one that started this process and wants to hear of it, if `environ` names any; nobody else does.

    What it said there is taken out, for it is meant for this process and not for its children.
    """

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        path = environ.pop("NOTIFY_SOCKET", "")
        self._address = "\0" + path[1:] if path.startswith("@") else path
        microseconds = environ.pop("WATCHDOG_USEC", "")
        pid = environ.pop("WATCHDOG_PID", str(os.getpid()))
        mine = microseconds.isdigit() and pid == str(os.getpid())
        self.watchdog_seconds: float | None = 1e-6 * int(microseconds) if mine else None
        """How long it may hear nothing before it ends this process; None where it does not watch."""

    def tell(self, **said: str | int) -> None:
        """Send assignments, as `READY=1`. Does nothing where nobody listens."""
        if not self._address:
            return
        lines = "\n".join(f"{name}={value}" for name, value in said.items())
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as ours:
                ours.connect(self._address)
                ours.send(lines.encode())
        except OSError as refused:
            logger.warning("the service manager cannot be told %s: %s", ", ".join(said), refused)
