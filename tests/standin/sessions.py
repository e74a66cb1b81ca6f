"""Sessions of this process whose device is the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from gradd._transports import local
from gradd_engine.backends.cupy import CupyBackend
from gradd_runtime.process import InlinePlacement

from . import installed


def device() -> CupyBackend:
    """The CuPy backend on the stand-in."""
    with installed():
        return CupyBackend()


@contextmanager
def sessions_there() -> Iterator[InlinePlacement]:
    """`local:` sessions that begin within the block compute on the stand-in, as with ``--device cuda``."""
    with installed():
        placement = InlinePlacement("cuda")
    try:
        with mock.patch.object(local, "_placement", placement):
            yield placement
    finally:
        placement.shutdown()
