"""Random programs as bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradd

from tests.congruence import programs
from tests.congruence.programs import Script

#: what a program does not do here: what it breaks or names is not the body's alone
NOT_HERE = {programs.name, programs.reconnect, programs.amnesia, programs.elsewhere}
ACTIONS = {action: weight for action, weight in programs.TABLE.items() if action not in NOT_HERE}
LENGTH = 16


@dataclass(frozen=True)
class Program:
    """One random program: a body, as those of `forms` are."""

    number: int
    told = True
    writes = False

    def __str__(self) -> str:
        return f"program/{self.number}"

    def at(self, n: int) -> Program:
        """All repetitions are the same."""
        return self

    def inputs(self) -> list[Any]:
        """It makes its tensors itself."""
        return []

    def run(self, tensors: list[Any]) -> list[Any]:
        """Every tensor that the program holds in the end, and their gradients."""
        script = Script(self.number, gradd.current_session())
        try:
            for action in script.rng.choices(list(ACTIONS), list(ACTIONS.values()), k=LENGTH):
                script.do(action)
        finally:
            for handle in script.handles:
                handle.remove()
        return [*script.held, *(t.grad for t in script.held if t.is_leaf), *script.log]


def all_programs(count: int, place: int = 0, of: int = 1) -> Iterator[list[Program]]:
    """Every `of`-th of so many programs, in lists for one session each."""
    mine = [Program(n) for n in range(place, count, of)]
    yield from (mine[at : at + 8] for at in range(0, len(mine), 8))
