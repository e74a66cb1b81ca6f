"""The collector of garbage, out of the way."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def uncollected() -> Iterator[None]:
    """Make much that stays without looking through all of it for garbage again and again: that takes several
    times as long as making it.
    """
    ran = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ran:
            gc.enable()
