"""Where a session's random stream is, as far as a client can tell by itself.

What a random step draws depends on the seed and on how many random steps came before. A client that is the
session's only writer counts them, and has no need to ask for the values of those that are the same on every
device: ``for i in torch.randint(n, (batch,))`` does not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import SEED
from gradd_engine.schema import StreamUse

if TYPE_CHECKING:
    from .._mirror import Machine, MirrorState


class Draws:
    """The position of one session's stream: its seed and the number of the next random step."""

    def __init__(self, knowledge: Machine[MirrorState], alone: bool) -> None:
        self._knowledge = knowledge
        #: whether no other writer can draw
        self._alone = alone
        self._place: tuple[int, int] | None = (SEED, 0)
        self._events = knowledge.events

    @property
    def place(self) -> tuple[int, int] | None:
        """The seed and the number of the next random step; None where it cannot be told."""
        if not self._alone or self._events != self._knowledge.events:
            self._place = None
        return self._place

    def share(self) -> None:
        """From now on there may be another writer."""
        self._alone = False

    def move(self, place: tuple[int, int] | None) -> None:
        """It is there now; None: nobody knows where."""
        self._place, self._events = place, self._knowledge.events

    def advance(self, steps: int) -> tuple[int, int] | None:
        """So many random steps were recorded. Where the first of them is, if that can be told."""
        place = self.place
        if place is not None:
            self._place = (place[0], place[1] + steps)
        return place

    def used(self, how: StreamUse, inputs: tuple[Any, ...], attrs: dict[str, Any], outs: Any) -> None:
        """A step was recorded that stores the position, or sets it."""
        if how is StreamUse.SEEDS:
            self.move((attrs["seed"] % (1 << 64), 0))
            return
        outs[0]._place = self.place
        if how is StreamUse.RESTORES:
            self.move(vars(inputs[0]).get("_place"))
