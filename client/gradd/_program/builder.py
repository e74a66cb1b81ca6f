"""A program under construction, in its own slots, converted to the wire's program when sent."""

from __future__ import annotations

import weakref
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec
from gradd_engine.data import float32
from gradd_engine.data.state import state
from gradd_engine.tensor import Tensor
from gradd_protocol.program import UPLOAD, GradOf, Program, Step, Value, static_number

from .places import sites_of
from .steps import Exact, Grad, Recorded, RuntimeSlot

if TYPE_CHECKING:
    from .._exceptions import Site


class CachedProgram:
    """A program that was sent before: its steps, its id, its definition, and where it was first recorded."""

    __slots__ = ("definition", "dtype", "hints", "id", "inputs", "sites", "steps", "tf32")

    def __init__(self, built: Builder) -> None:
        self.steps = built.steps
        self.inputs = len(built.inputs)
        self.dtype, self.tf32 = built.dtype, built.tf32
        self.definition = built.definition()
        self.id = self.definition.id()
        self.sites = sites_of(built.sites)
        #: how many frames deep each step's line was when it was last recorded again, and the line
        self.hints: list[tuple[int, Site] | None] = [None] * len(self.steps)


class Builder:
    """Steps recorded since the last batch, with their inputs, values and uploads."""

    __slots__ = (
        "began", "dtype", "encoded", "inputs", "known", "outputs", "settled", "sites", "slots", "steps",
        "tensors", "tf32", "uploads", "values",
    )  # fmt: skip

    def __init__(self) -> None:
        self.steps: list[Recorded] = []
        #: when the first was recorded (s of `perf_counter`), 0 while there is none
        self.began = 0.0
        #: the default dtype that they were recorded under
        self.dtype = state.dtype
        #: whether a device may round operands to TF32 in them
        self.tf32 = state.tf32
        self.sites: list[Site] = []
        #: id -> input number
        self.slots: dict[str, int] = {}
        self.inputs: list[str] = []
        #: inputs, kept alive until the batch is sent; None for released ones
        self.tensors: list[Tensor | None] = []
        #: weak references to the tensors of the output slots
        self.outputs: list[weakref.ref[Tensor] | None] = []
        #: run-time values in the order of steps, a step's arguments first
        self.values: list[Any] = []
        #: the same as on the wire, if already known
        self.encoded: list[Any] | None = None
        self.uploads: list[Any] = []
        #: the program that the steps match so far
        self.known: CachedProgram | None = None
        #: the number of steps when one last wrote to a tensor, or acted on more than its outputs
        self.settled = 0

    def __len__(self) -> int:
        return len(self.steps)

    def input(self, id: str, t: Tensor | None) -> int:
        """The (negative) slot of a session tensor."""
        slot = self.slots.get(id)
        if slot is None:
            self.inputs.append(id)
            self.tensors.append(t)
            slot = self.slots[id] = -len(self.inputs)
        return slot

    def release(self, id: str | None) -> None:
        """Stop keeping an input alive: if it dies, the batch with these steps frees it."""
        slot = self.slots.get(id) if id is not None else None
        if slot is not None:
            self.tensors[-slot - 1] = None

    def begin(self, known: CachedProgram | None) -> None:
        """The first step is about to be added; `known` is a program that begins with it."""
        self.began, self.dtype, self.tf32 = perf_counter(), state.dtype, state.tf32
        same = known is not None and known.dtype is self.dtype and known.tf32 is self.tf32
        self.known = known if same else None

    def append(self, step: Recorded, site: Site) -> int:
        """Add a step, whose values and uploads were already added; returns its first output slot."""
        steps, outputs, known = self.steps, self.outputs, self.known
        first = len(outputs)
        outputs += [None] * step[3]
        self.sites.append(site)
        if known is not None:
            at = len(steps)
            if at < len(known.steps) and known.steps[at] == step:
                step = known.steps[at]
            else:
                self.known = None
        steps.append(step)
        return first

    def first_output(self, step: int) -> int:
        """The first output slot of a step."""
        return sum(s.outputs for s in self.steps[:step])

    def mend(self) -> None:
        """Drop what an interrupted recording left behind."""
        del self.sites[len(self.steps) :]
        del self.outputs[self.first_output(len(self.steps)) :]
        del self.values[sum(s.late() for s in self.steps) :]
        del self.uploads[sum(s.op == UPLOAD for s in self.steps) :]

    def key(self) -> tuple[Any, ...]:
        """The identity of the program, hashable."""
        return (len(self.inputs), self.dtype, self.tf32, *self.steps)

    def definition(self) -> Program:
        """The program as on the wire."""
        n = len(self.inputs)
        dtype: Any = msgspec.UNSET if self.dtype is float32 else self.dtype.name
        tf32: Any = True if self.tf32 else msgspec.UNSET
        return Program(n, [_step(s, n) for s in self.steps], dtype, tf32)


def _step(s: Recorded, n: int) -> Step:
    return Step(
        s.op, [_arg(a, n) for a in s.args], {k: _attr(v) for k, v in s.attrs}, s.outputs, s.grad, s.raises
    )


def _slot(k: int, n: int) -> int:
    return n + k if k >= 0 else -k - 1


def _arg(a: Any, n: int) -> Any:
    if a is None:
        return None
    if isinstance(a, int):
        return _slot(a, n)
    if isinstance(a, RuntimeSlot):
        return Value(a.kind)  # type: ignore[arg-type]
    if isinstance(a, Grad):
        return GradOf(_slot(a.of, n))
    return [_arg(e, n) for e in a]


def _attr(v: Any) -> Any:
    if isinstance(v, RuntimeSlot):
        return Value(v.kind)  # type: ignore[arg-type]
    if isinstance(v, Exact):
        v = v.value
    if isinstance(v, (float, complex)):
        return static_number(v)
    if isinstance(v, tuple):
        return [_attr(e) for e in v]
    return v
