"""A batch's work: a bound program with the rest of the batch, and its outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from gradd_protocol.program import GradOf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.tensor import Tensor
    from gradd_protocol.problems import Problem

    from ..program import Bound

#: an array, the name of its dtype, and the storage that it shares (None: its own memory)
Fetched = tuple[Any, str, Any]


class Work(msgspec.Struct, eq=False):
    """What to run, and what to do with the outputs. `keep`: slot -> id; `binds`: slot -> names; `late`:
    (name, id); `fetch`: slots, gradients of slots, ids and names. `labels`: the first of `fetch` in JSON; the
    others are for `log`, where a value of None is the next of them. `recording`: how long its writer recorded
    it, s.
    """

    bound: Bound
    tensors: list[Tensor]
    values: list[Any]
    uploads: list[Any]
    keep: dict[int, str]
    binds: dict[int, list[str]]
    late: list[tuple[str, str]]
    fetch: Sequence[int | GradOf | str]
    free: list[str]
    unbind: list[str]
    labels: list[str] = []
    log: list[tuple[str, float | None, int | None]] = []
    recording: float = 0.0

    def fetched_slots(self) -> list[int]:
        """The slots whose value or gradient is fetched."""
        return [f.of if isinstance(f, GradOf) else f for f in self.fetch if not isinstance(f, str)]


class Outcome(msgspec.Struct, eq=False):
    """The outcome: how many steps took effect, what was fetched, the problem that stopped it."""

    applied: int = 0
    problem: Problem | None = None
    results: list[Fetched] = []
    inline: list[Any] = []
    #: bytes of `results` that are copies, counted in the account until `settle`
    copied: int = 0
