"""The context of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_engine.data import Doubts

if TYPE_CHECKING:
    from gradd_engine.data import Account, RandomStream
    from gradd_engine.tensor import Backend

    from .profiler import Profiler


class RunContext:
    """A backend, the account that memory is charged to, random numbers, open checks, and a profiler while
    one is on.
    """

    def __init__(self, backend: Backend, account: Account, generator: RandomStream) -> None:
        self.backend = backend
        self.account = account
        self.generator = generator
        #: checks of values that a device has not answered yet
        self.doubts = Doubts()
        self.profiler: Profiler | None = None
