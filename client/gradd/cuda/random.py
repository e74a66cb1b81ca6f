"""The random stream of a session on a GPU (torch.cuda.random); without a GPU nothing is seeded.

Source: https://docs.pytorch.org/docs/stable/cuda.html#random-number-generator
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _surface as surface
from ._devices import is_available, want

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


def manual_seed(seed: int) -> None:
    """Seed the session's random stream if it is on a GPU: it has one."""
    if is_available():
        surface.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """As `manual_seed`."""
    manual_seed(seed)


def seed() -> None:
    """Seed the session's random stream with a random number if it is on a GPU."""
    if is_available():
        surface.seed()


def seed_all() -> None:
    """As `seed`."""
    seed()


def initial_seed() -> int:
    """The seed of the session's random stream. AssertionError without a GPU."""
    want()
    return surface.initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """A token of the position of the session's random stream. AssertionError without a GPU."""
    want(device)
    return surface.get_rng_state()


def get_rng_state_all() -> list[Any]:
    """`get_rng_state` of each GPU: of one or none."""
    return [surface.get_rng_state()] if is_available() else []


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Reset the session's random stream to a token's position, if it is on a GPU."""
    if is_available():
        surface.set_rng_state(new_state)


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """`set_rng_state` of each GPU."""
    for state in new_states:
        set_rng_state(state)
