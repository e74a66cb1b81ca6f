"""Random streams. As https://docs.pytorch.org/docs/stable/random.html."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ._surface import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
]  # fmt: skip


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, _caller: str = "fork_rng",
    _devices_kw: str = "devices", device_type: str = "cuda",
) -> Iterator[None]:  # fmt: skip
    """Within the block numbers are drawn as without it; after it, as if it had drawn none. A session has one
    stream, so `devices` choose nothing.
    """
    if not enabled:
        yield
        return
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)
