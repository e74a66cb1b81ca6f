"""Files, and which classes of the program `load` may make of them (torch.serialization).

Source: https://docs.pytorch.org/docs/stable/notes/serialization.html
"""

from __future__ import annotations

from typing import Any

from ._files import add_safe_globals, clear_safe_globals, get_safe_globals, load, save

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save",
]  # fmt: skip


class safe_globals:
    """Within it `load` with weights alone also makes instances of these classes (see `add_safe_globals`)."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *_: object) -> None:
        clear_safe_globals()
        add_safe_globals(self._before)
