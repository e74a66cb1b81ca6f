"""A replay's state: registers that hold arrays, the memory that outlives it, its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from gradd_engine.tensor import Storage

if TYPE_CHECKING:
    from gradd_engine.data import Account
    from gradd_engine.tracing import Shape


class Registers:
    """One replay: registers, run-time values, uploads, and where windows begin."""

    __slots__ = (
        "account", "arrays", "begins", "flats", "generator", "starts", "uploads", "values", "wrote"
    )  # fmt: skip

    def __init__(
        self, arrays: list[Any], values: Any, uploads: Any, generator: Any, account: Account
    ) -> None:
        #: register -> array
        self.arrays = arrays
        #: input block -> its memory as bytes
        self.flats: dict[int, Any] = {}
        #: input block at a variable offset -> where in its memory it begins
        self.begins: dict[int, int] = {}
        #: window block -> offset in the block it is in
        self.starts: dict[int, int] = {}
        self.values = values
        self.uploads = iter(uploads)
        self.generator = generator
        self.account = account
        #: whether the session's memory was written to, or is about to be
        self.wrote = False


class Arrays:
    """The memory of one replay for its commit, counted in the session's account."""

    def __init__(self, registers: Registers, account: Account | None) -> None:
        self._registers = registers
        self._account = account
        self.values = registers.values

    def start(self, window: int) -> int:
        """See Memory."""
        found: int = self._registers.starts[window]
        return found

    def storage(self, of: Shape) -> Storage:
        """See Memory."""
        array = self._registers.arrays[of.home]
        if self._account is not None:
            self._account.count(array.nbytes)  # `Plans.run` has checked that there is room
        made = Storage(array, array.nbytes, self._account)
        if not array.flags.c_contiguous:
            made.nbytes = made.flat.nbytes
        return made


class PlanStep(NamedTuple):
    """One step of a plan: the function, its name, and the registers that are not used after it."""

    run: Callable[[Registers], None]
    name: str
    dead: tuple[int, ...]
