"""Named places at which a test ends the process, as a power cut would: ``GRADD_FAILPOINT=name`` or
``name:count`` kills it where it comes there, the first or that time. For tests only.
"""

from __future__ import annotations

import os
import signal

_NAME, _, _times = os.environ.get("GRADD_FAILPOINT", "").partition(":")
_left = int(_times or 1)


def failpoint(name: str) -> None:
    """End the process here, if it is to end here."""
    if name == _NAME:
        _come()


def _come() -> None:
    global _left
    _left -= 1
    if not _left:
        os.kill(os.getpid(), signal.SIGKILL)
