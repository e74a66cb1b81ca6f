"""How this was built (torch.__config__)."""

from __future__ import annotations

import platform

import numpy as np

from .version import __version__


def show() -> str:
    """A text for people: what the SDK runs on. The daemon's is told by ``gradd status``."""
    return (
        f"gradd {__version__}, with:\n  - Python {platform.python_version()}\n  - NumPy {np.__version__}\n"
        f"  - {platform.platform()}\n"
    )


def parallel_info() -> str:
    """A text for people: threads are the daemon's."""
    return "gradd's threads are those of its daemon (gradd serve --threads)\n"
