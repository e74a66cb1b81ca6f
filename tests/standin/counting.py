"""What a program on the stand-in cost: waits of the host for the device by line, and launches by name."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from .machine import MACHINE

HERE = str(Path(__file__).parent)
ENGINE = "gradd_engine/"

#: how often the host waited, by what it asked for and the line that asked: ("item", "ops/index/nll.py:88")
WAITS: Counter[tuple[str, str]] = Counter()
#: calls that would start a kernel or a copy on the device, by name; views start none
LAUNCHES: Counter[str] = Counter()
_MEMORY = frozenset({"empty", "empty_like"})


def caller() -> str:
    """The innermost line outside of the stand-in and NumPy."""
    frame = sys._getframe(1)
    while frame.f_back and (
        frame.f_code.co_filename.startswith(HERE) or "/numpy/" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rpartition(ENGINE)[2]}:{frame.f_lineno}"


def wait(what: str) -> None:
    """The host waits for the device."""
    from .graphs import refuse

    refuse(what)
    MACHINE.wait()
    WAITS[what, caller()] += 1


def launch(name: str) -> None:
    """The device gets work, but where memory alone is made."""
    from .graphs import counts

    comes, alone = counts(name)
    if name not in _MEMORY and comes:
        MACHINE.launched(name)
        if alone:
            LAUNCHES[name] += 1


def reset() -> None:
    """Forget all counts."""
    WAITS.clear()
    LAUNCHES.clear()
