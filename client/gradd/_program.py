"""A program under construction: steps in slots of their own, turned into the wire's program when it is
sent.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from gradd_engine.data import float32
from gradd_engine.data.state import state
from gradd_engine.tensor import Tensor
from gradd_protocol.program import UPLOAD, GradOf, Program, Step, Value, static_number

if TYPE_CHECKING:
    from gradd_engine.data import Mode
    from gradd_engine.schema import Op, Param

    from ._exceptions import Site


class Late(NamedTuple):
    """A run-time value of some kind in a recorded step."""

    kind: str


class Exact(NamedTuple):
    """A static number with its type and text, so that 1, 1.0, True, 0.0 and -0.0 are different programs."""

    type: str
    value: Any
    text: str


class Grad(NamedTuple):
    """The gradient of whatever is in a slot; the tag tells it from a list of one slot."""

    of: int
    tag: str = "g"


class Recorded(NamedTuple):
    """One step. Arguments are output slots (0, 1, ...), inputs (-1, -2, ...), None, Late, Grad, or tuples of
    them.
    """

    op: str
    args: tuple[Any, ...]
    attrs: tuple[tuple[str, Any], ...]
    outputs: int
    grad: Mode
    raises: bool

    def late(self) -> int:
        """How many run-time values it takes."""
        return sum(map(_late, self.args)) + sum(type(v) is Late for _, v in self.attrs)


def _late(a: Any) -> int:
    return int(type(a) is Late) or (sum(map(_late, a)) if type(a) is tuple else 0)


class Known:
    """A program that was sent before: its steps, and how it is named and spelled on the wire."""

    __slots__ = ("definition", "dtype", "id", "inputs", "steps")

    def __init__(self, built: Builder) -> None:
        self.steps = built.steps
        self.inputs = len(built.inputs)
        self.dtype = built.dtype
        self.definition = built.definition()
        self.id = self.definition.id()


class Builder:
    """Steps recorded since the last batch, with what will travel beside them."""

    __slots__ = (
        "dtype", "encoded", "inputs", "known", "outputs", "sites", "slots", "steps", "tensors", "uploads",
        "values",
    )  # fmt: skip

    def __init__(self) -> None:
        self.steps: list[Recorded] = []
        #: the default dtype that they were recorded under
        self.dtype = state.dtype
        self.sites: list[Site] = []
        #: id -> input number
        self.slots: dict[str, int] = {}
        self.inputs: list[str] = []
        #: inputs, kept alive until the batch is on its way; None for one that was released
        self.tensors: list[Tensor | None] = []
        #: weak references to the tensors of the output slots
        self.outputs: list[weakref.ref[Tensor] | None] = []
        #: run-time values, in the order of the steps; within one those of its arguments first
        self.values: list[Any] = []
        #: the same as they cross the wire, where that is known already
        self.encoded: list[Any] | None = None
        self.uploads: list[Any] = []
        #: the program that the steps are those of, as far as they go
        self.known: Known | None = None

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
        """Keep an input alive no longer: where it dies, the batch that takes the steps away frees it."""
        slot = self.slots.get(id) if id is not None else None
        if slot is not None:
            self.tensors[-slot - 1] = None

    def append(self, step: Recorded, site: Site) -> int:
        """Add a step, whose values and uploads are there already; returns its first output slot."""
        first = len(self.outputs)
        n = step[3]
        if n == 1:
            self.outputs.append(None)
        elif n:
            self.outputs.extend([None] * n)
        self.sites.append(site)
        known = self.known
        if known is not None:
            at = len(self.steps)
            if at < len(known.steps) and known.steps[at] == step:
                step = known.steps[at]
            else:
                self.known = None
        self.steps.append(step)
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
        """What the identity of the program is made of, hashable."""
        return (len(self.inputs), self.dtype, *self.steps)

    def definition(self) -> Program:
        """The program as it crosses the wire."""
        n = len(self.inputs)
        dtype: Any = msgspec.UNSET if self.dtype is float32 else self.dtype.name
        return Program(n, [_step(s, n) for s in self.steps], dtype)


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
    if isinstance(a, Late):
        return Value(a.kind)  # type: ignore[arg-type]
    if isinstance(a, Grad):
        return GradOf(_slot(a.of, n))
    return [_arg(e, n) for e in a]


def _attr(v: Any) -> Any:
    if isinstance(v, Late):
        return Value(v.kind)  # type: ignore[arg-type]
    if isinstance(v, Exact):
        v = v.value
    if isinstance(v, (float, complex)):
        return static_number(v)
    if isinstance(v, tuple):
        return [_attr(e) for e in v]
    return v


#: by the type of a run-time number
LATE = {bool: Late("bool"), int: Late("int"), float: Late("float"), complex: Late("complex")}


def kind_of(v: Any) -> str:
    """The kind of a run-time number."""
    if isinstance(v, bool):
        return "bool"
    if isinstance(v, int):
        return "int"
    return "float" if isinstance(v, float) else "complex"


#: op -> its attributes in order of names, each with its default
_ordered: dict[Op, list[tuple[str, Param, Any]]] = {}


def _attributes(op: Op) -> list[tuple[str, Param, Any]]:
    found = _ordered[op] = [
        (p.name, p, tuple(p.default) if isinstance(p.default, list) else p.default)
        for p in sorted(op.schema.attrs, key=lambda p: p.name)
    ]
    return found


def attrs_of(op: Op, attrs: dict[str, Any], values: list[Any]) -> tuple[tuple[str, Any], ...]:
    """An op's attributes that differ from their defaults; run-time ones go to `values` (in order of
    names).
    """
    out: list[tuple[str, Any]] = []
    for name, p, default in _ordered.get(op) or _attributes(op):
        v = attrs[name]
        if v.__class__ is default.__class__ and v == default:
            continue
        if p.value:
            late = LATE.get(v.__class__)
            if late is None:
                v = _plain(v)
                late = Late(kind_of(v))
            values.append(v)
            out.append((name, late))
        else:
            out.append((name, _static(p, v)))
    return tuple(out)


def _plain(v: Any) -> Any:
    """A Python number of a NumPy scalar."""
    return v.item() if hasattr(v, "item") else v


def _static(p: Param, v: Any) -> Any:
    kind = p.kind
    if v is None:
        return None
    if kind == "dtype":
        return v.name
    if kind == "int":
        return int(v)
    if kind in ("bool", "str"):
        return v
    if isinstance(v, (list, tuple)):
        if kind == "int[]":
            return tuple(int(e) for e in v)
        return tuple(_exact(e) for e in v)
    return _exact(v)


def _exact(v: Any) -> Any:
    v = _plain(v)
    if isinstance(v, (list, tuple)):
        return tuple(_exact(e) for e in v)
    return v if v is None or isinstance(v, str) else Exact(type(v).__name__, v, repr(v))
