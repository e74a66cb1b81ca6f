"""What steps that never ran leave on the mirror, which ran them when they were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.schema import REGISTRY, Histories, Pass

from .._mirror import Extent
from .._program import Grad

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradd_engine.schema import Op

    from .._program import Builder, Recorded

#: ids that are remembered
_REMEMBERED = 1024


class Lost:
    """Steps of this writer that the server did not run, since the mirror last agreed with it."""

    def __init__(self) -> None:
        #: how often steps were lost, ever
        self.times = 0
        self.forget()

    def forget(self) -> None:
        """The mirror was put right."""
        #: how far what they did to graphs is known
        self.extent = Extent.NONE
        #: what prevented the first of them
        self.error: Exception | None = None
        #: ids of tensors whose history they changed without a change of version
        self.touched: set[str] = set()
        #: they ran passes
        self.passed = False
        #: ids of passes under way that they resumed, which the mirror has run too far
        self.passes: set[str] = set()

    def add(self, built: Builder, applied: int, error: Exception) -> None:
        """The steps from number `applied` on did not run, because of `error`."""
        self.error = self.error or error
        if applied >= len(built):
            return
        self.times += 1
        made = built.first_output(applied)
        for step in built.steps[applied:]:
            op = REGISTRY.get(step.op)
            if op is not None:  # else it makes a tensor of bytes
                self._add(op, step, built, made)
        if len(self.touched) + len(self.passes) > _REMEMBERED:
            self.extent = Extent.ALL

    def refuse(self, op: Op) -> None:
        """The mirror ran a step that cannot be recorded: an input of it never came to be."""
        if op.effects.backward_pass is not None:
            self.extent = Extent.ALL
        elif op.stateful and not op.view:
            self._shown()
            if op.effects.histories is not Histories.NONE:
                self.extent = Extent.ALL
        elif op.writes or op.base is not None:
            self._shown()

    def _add(self, op: Op, step: Recorded, built: Builder, made: int) -> None:
        """One step; slots from `made` on are of tensors that never came to be."""
        effects = op.effects
        if effects.backward_pass is Pass.NODE:
            self.extent = Extent.ALL
        elif effects.backward_pass is not None:
            # What it freed shows, and gradients are asked for.
            self._shown()
            self.passed = True
            if effects.backward_pass is Pass.RESUME:
                self.passes.update(i for i in _ids(step.args[0], built, made) if i is not None)
        elif op.writes or op.base is not None:
            self._shown()
            if op.stateful:
                self._written(op, step, built, made)
        elif op.stateful and not op.view:
            self._shown()
            if effects.histories is Histories.ANY:
                self.extent = Extent.ALL

    def _shown(self) -> None:
        if self.extent is Extent.NONE:
            self.extent = Extent.SHOWN

    def _written(self, op: Op, step: Recorded, built: Builder, made: int) -> None:
        """A step changed the autograd state of what it writes."""
        histories = op.effects.histories
        if histories is Histories.NONE:
            return
        for arg, yes in zip(step.args, op.written, strict=True):
            for i in _ids(arg, built, made) if yes else ():
                if i is None or histories is Histories.ANY:
                    self.extent = Extent.ALL
                else:
                    self.touched.add(i)


def _ids(arg: Any, built: Builder, made: int) -> Iterator[str | None]:
    """The ids of the tensors in an argument that came to be; None for one that has none."""
    if isinstance(arg, Grad):
        yield None
    elif isinstance(arg, tuple):
        for each in arg:
            yield from _ids(each, built, made)
    elif isinstance(arg, int) and arg < 0:
        yield built.inputs[-arg - 1]
    elif isinstance(arg, int) and arg < made:
        ref = built.outputs[arg]
        t: Any = None if ref is None else ref()
        yield None if t is None else t._id
