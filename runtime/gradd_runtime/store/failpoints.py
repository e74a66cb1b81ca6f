"""Named places at which a test ends the process, as a power cut would: ``GRADD_FAILPOINT=name`` or
``name:count`` kills it where it comes there, the first or that time. For tests only.

In the order in which a request comes to them: executing, executed, appending, appended (and committed),
replying, replied; of a snapshot: writing, written, renamed, recorded, then compacting and compacted. A replay
comes to the first two as well.
"""

from __future__ import annotations

import os
import signal

_name = ""
_left = 0


def arm(where: str) -> None:
    """End the process at `where`, of the form of ``GRADD_FAILPOINT``; nowhere if that is empty."""
    global _name, _left
    _name, _, times = where.partition(":")
    _left = int(times or 1)


def failpoint(name: str) -> None:
    """End the process here, if it is to end here."""
    if name == _name:
        _come()


def _come() -> None:
    global _left
    _left -= 1
    if not _left:
        os.kill(os.getpid(), signal.SIGKILL)


arm(os.environ.get("GRADD_FAILPOINT", ""))
