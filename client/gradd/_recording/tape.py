"""What a recorder notes in addition to steps while a function is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import mode

if TYPE_CHECKING:
    from gradd_engine.data import Mode
    from gradd_engine.schema import Op


class Tape:
    """The steps with their inputs and attributes, for running them again."""

    def __init__(self) -> None:
        self.entries: list[tuple[Op | str, tuple[Any, ...], Any, Any, Mode]] = []
        #: why the function cannot be replayed
        self.spoiled: str | None = None
        #: how often it drew from the random stream
        self.drawn = 0

    def add(self, op: Op | str, args: tuple[Any, ...], inputs: Any, attrs: Any) -> None:
        """A step was recorded; `args` are its inputs as slots."""
        self.entries.append((op, args, inputs, attrs, mode()))

    def spoil(self, why: str) -> None:
        """The function did something that a replay cannot do."""
        self.spoiled = self.spoiled or why
