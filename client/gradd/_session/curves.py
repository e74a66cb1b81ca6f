"""`Session.log`: numbers of a script that others watch, as curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradd_engine.data import ambient
from gradd_protocol.limits import DEFAULT

from .._tensor import Tensor
from .agreement import Agreeing

if TYPE_CHECKING:
    from collections.abc import Mapping


class Curving(Agreeing):
    """A session whose scripts log numbers."""

    def log(self, values: Mapping[str, Tensor | float], step: int | None = None) -> None:
        """Add a point to the curve of each name: ``session.log({"loss": loss, "lr": 0.1})``. The daemon keeps
        the curves, and its dashboard draws them; `step` is the point's place, by default its number.

        Nothing is waited for, and nothing read here: a tensor of one element is logged as it is now, with the
        batch that is recorded or the next one. Raises TypeError or ValueError for what is no real number.
        """
        for name, value in values.items():
            if not 1 <= len(name) <= DEFAULT.name_chars:
                raise ValueError(f"a curve's name has 1 to {DEFAULT.name_chars} characters: {name!r}")
            if isinstance(value, Tensor):
                if math.prod(value.shape) != 1 or value.dtype.is_complex:
                    raise ValueError(f"{name!r} is no real number: {value.dtype} of shape {[*value.shape]}")
            elif not isinstance(value, (bool, int, float)) and not hasattr(value, "__float__"):
                raise TypeError(f"{name!r} is neither a number nor a tensor: {type(value).__name__}")
        with self.lock:
            recorder = self.ready()
            if recorder.tape is not None:
                recorder.tape.spoil("it logs a value")
            for name, value in values.items():
                if isinstance(value, Tensor):
                    if value._session is not self:
                        raise RuntimeError(f"the tensor of {name!r} belongs to another session")
                    with ambient(grad=False):
                        self.outbox.log(name, value.detach().clone(), step)
                else:
                    self.outbox.log(name, float(value), step)
