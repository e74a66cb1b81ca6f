"""A replay's state: registers that hold arrays, the memory that outlives it, its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from gradd_engine.tensor import Storage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradd_engine.data import Account
    from gradd_engine.tracing import Shape


class Registers(msgspec.Struct, eq=False):
    """One replay: registers, run-time values, uploads, and where windows begin. For its commit it is the
    `Memory`, counted in the session's account.
    """

    #: register -> array
    arrays: list[Any]
    values: Sequence[Any]
    uploads: Iterator[Any]
    generator: Any
    account: Account
    #: input block -> its memory as bytes
    flats: dict[int, Any] = {}
    #: input block at a variable offset -> where in its memory it begins
    begins: dict[int, int] = {}
    #: window block -> offset in the block it is in
    starts: dict[int, int] = {}
    #: whether the session's memory was written to, or is about to be
    wrote: bool = False
    #: remembers the memory that is written to before something that may raise
    keep: Callable[[], None] | None = None

    def start(self, window: int) -> int:
        """See Memory."""
        return self.starts[window]

    def storage(self, of: Shape) -> Storage:
        """See Memory."""
        array, account = self.arrays[of.home], self.account
        account.count(array.nbytes)  # `Plans.run` has checked that there is room
        made = Storage(array, array.nbytes, account)
        if not array.flags.c_contiguous:
            made.nbytes = made.flat.nbytes
        return made


class PlanStep(NamedTuple):
    """One step of a plan: the function, its name, and the registers that are not used after it."""

    run: Callable[[Registers], None]
    name: str
    dead: tuple[int, ...]
