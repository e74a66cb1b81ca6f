"""Limits what hooks do in a batch."""

from __future__ import annotations

from gradd_protocol.limits import DEFAULT


class Ration:
    """The steps that hooks may still run in a batch; otherwise many hooks in many passes could make a small
    request take very long.
    """

    def __init__(self) -> None:
        self.left = DEFAULT.batch_hook_steps

    def take(self, steps: int) -> None:
        """Count the steps of a hook before it runs. RuntimeError if they are too many."""
        self.left -= steps
        if self.left < 0:
            raise RuntimeError(f"the hooks of one batch run at most {DEFAULT.batch_hook_steps} steps")
