"""The package opt_einsum, which einsum here does not ask for its order. As
https://docs.pytorch.org/docs/stable/backends.html#torch-backends-opt-einsum.
"""

from __future__ import annotations

from typing import Any

enabled = False
strategy: str | None = None


def is_available() -> bool:
    """False: it is not used."""
    return False


def get_opt_einsum() -> Any:
    """None: it is not used."""
    return None
