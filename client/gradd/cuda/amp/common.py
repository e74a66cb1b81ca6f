"""Whether mixed precision on a GPU is out of the question (torch.cuda.amp.common)."""

from __future__ import annotations

from .._devices import is_available

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether the current session computes on a CPU."""
    return not is_available()
