"""How long the SDK waits for a daemon that says nothing, and for one that is away. Seconds."""

from __future__ import annotations

import os

#: what making a connection may take, and saying goodbye
OPEN, CLOSE = 5.0, 2.0


def silence() -> float:
    """Longest silence of a daemon that is waited for: half of it passes before it is asked whether it is
    there, half of it is for the answer. A daemon that computes does answer. $GRADD_SILENCE_SECONDS, else 20.
    """
    return _seconds("GRADD_SILENCE_SECONDS", 20.0)


def patience() -> float:
    """For how long a daemon that went away is tried again. $GRADD_PATIENCE_SECONDS, else 6.4."""
    return _seconds("GRADD_PATIENCE_SECONDS", 6.4)


def _seconds(variable: str, default: float) -> float:
    text = os.environ.get(variable)
    try:
        found = float(text) if text else default
    except ValueError:
        found = 0.0
    if not 0 < found < 1e6:
        raise ValueError(f"{variable} is a number of seconds over 0, not {text!r}")
    return found
