"""How much hooks may do in a batch."""

from __future__ import annotations

from gradd_protocol.limits import DEFAULT


class Ration:
    """The steps that hooks may still run in a batch: many hooks, run by many passes, would make a small
    request a long one.
    """

    def __init__(self) -> None:
        self.left = DEFAULT.batch_hook_steps

    def take(self, steps: int) -> None:
        """A hook of so many steps is about to run. RuntimeError where they are too many."""
        self.left -= steps
        if self.left < 0:
            raise RuntimeError(f"the hooks of one batch run at most {DEFAULT.batch_hook_steps} steps")
