"""Sessions of this process whose device is the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from gradd._transports import local
from gradd_engine.backends.cupy import CupyBackend
from gradd_engine.data import Doubts, told_late
from gradd_runtime.process import InlinePlacement

from . import installed


def device() -> CupyBackend:
    """The CuPy backend on the stand-in."""
    with installed():
        return CupyBackend()


class AtOnce(Doubts):
    """Checks whose device is waited for, so that errors come where they do on the host."""

    def add(self, check: Any, number: Any) -> None:
        """See Doubts.add."""
        super().add(check, number)
        self._tell(check)

    def used(self, check: Any) -> None:
        """See Doubts.used."""
        super().used(check)
        self._tell(check)

    def _tell(self, check: Any) -> None:
        try:
            self.settle()
        except Exception as error:
            text = str(error).removesuffix(told_late(check.op))
            raise type(error)(text) from None


@contextmanager
def sessions_on(placement: InlinePlacement) -> Iterator[InlinePlacement]:
    """`local:` sessions that begin within the block are this placement's, which ends with it."""
    try:
        with mock.patch.object(local, "_placement", placement):
            yield placement
    finally:
        placement.shutdown()


@contextmanager
def sessions_there() -> Iterator[InlinePlacement]:
    """`local:` sessions that begin within the block compute on the stand-in, as with ``--device cuda``."""
    with installed():
        placement = InlinePlacement("cuda")
    with sessions_on(placement):
        yield placement
