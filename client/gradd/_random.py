"""A session's random stream, spelled as torch.Generator
(https://pytorch.org/docs/stable/generated/torch.Generator.html).
"""

from __future__ import annotations

import secrets
import weakref
from operator import index
from typing import TYPE_CHECKING, Any

from gradd_engine import seeding
from gradd_engine.rng import SEED
from gradd_engine.state import ambient

from ._connect import current

if TYPE_CHECKING:
    from gradd_engine.backends import Device

    from ._session import Session

#: what this client restarted each session's stream with
_seeds: weakref.WeakKeyDictionary[Session, int] = weakref.WeakKeyDictionary()


class Generator:
    """The random stream of the session that is current when this is made. A session has one: all its
    generators are the same stream.
    """

    def __init__(self, device: Any = None) -> None:
        self._session = current()

    @property
    def device(self) -> Device:
        """The session's device."""
        return self._session.backend.device

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream; negative seeds count from 2**64. Returns the generator."""
        with ambient(backend=self._session.backend):
            seeding.manual_seed(index(seed))
        _seeds[self._session] = index(seed) % (1 << 64)
        return self

    def seed(self) -> int:
        """Restart the stream with a seed by chance, and return that."""
        return self.manual_seed(secrets.randbits(64)).initial_seed()

    def initial_seed(self) -> int:
        """The seed that this client restarted the stream with, or that sessions begin with."""
        return _seeds.get(self._session, SEED)


def manual_seed(seed: Any) -> Generator:
    """Restart the current session's random stream, and return it (torch.manual_seed)."""
    return Generator().manual_seed(seed)


def initial_seed() -> int:
    """The seed of the current session's random stream (torch.initial_seed)."""
    return Generator().initial_seed()


def seed() -> int:
    """Restart the current session's random stream with a seed by chance, and return that (torch.seed)."""
    return Generator().seed()
