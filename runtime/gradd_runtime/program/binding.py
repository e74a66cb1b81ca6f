"""Binds a program to ops, once: looks them up, converts attributes, checks arity and kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import gradd_engine.assembly  # noqa: F401 - declares every op
from gradd_engine.data import dtypes
from gradd_engine.declare import REGISTRY
from gradd_engine.schema import REQUIRED, Op, Param, check_attr
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import UPLOAD, Complex, GradOf, Program, Sites, Special, Step, Value
from msgspec import UNSET

from .problems import invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gradd_engine.data import Mode


@dataclass(slots=True, eq=False)
class BoundStep:
    """One step, ready to run: `inputs` as in the program, `attrs` converted, None for `late` ones, which come
    from the values.
    """

    op: Op | None
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    late: tuple[tuple[str, str], ...]
    outputs: int
    grad: Mode
    raises: bool
    first: int

    def attributes(self, values: Iterator[Any]) -> dict[str, Any]:
        """All attributes, the late ones from `values`."""
        found = self.attrs.copy()
        for name, _ in self.late:
            found[name] = next(values)
        return found


@dataclass(frozen=True)
class Bound:
    """A program, ready to run on any backend."""

    id: str
    inputs: int
    steps: tuple[BoundStep, ...]
    slots: int
    uploads: int
    values: tuple[Any, ...]
    definition: Program
    #: the default dtype
    dtype: dtypes.DType
    #: whether a device may round operands to TF32
    tf32: bool
    #: the lines of its steps as a writer told them, if one did, and file and line of each
    sites: Sites | None = None
    places: Sequence[tuple[str, int]] = ()
    #: the inputs whose graphs a trace of it needed
    deep: set[int] = field(default_factory=set)

    @cached_property
    def ends(self) -> tuple[tuple[int, ...], ...]:
        """For each step, the slots that no later step reads."""
        last = dict.fromkeys(range(self.inputs if self.steps else 0), 0)
        for i, step in enumerate(self.steps):
            last |= dict.fromkeys(read(step.inputs), i)
            last |= dict.fromkeys(range(step.first, step.first + step.outputs), i)
        found: list[list[int]] = [[] for _ in self.steps]
        for slot, i in last.items():
            found[i].append(slot)
        return tuple(map(tuple, found))

    @cached_property
    def unplannable(self) -> str:
        """Why it cannot be planned: a step depends on values, reseeds, or moves memory. Empty if it can."""
        for i, c in enumerate(self.steps):
            if c.raises:
                return f"step {i} raises"
            if c.op is not None and (c.op.effects.dynamic or not c.op.effects.traced):
                return f"step {i} is {c.op.name}"
        return ""


def read(inputs: Iterable[Any]) -> Iterator[int]:
    """The slots among the (nested) inputs of a step."""
    for x in inputs:
        if x.__class__ is int:
            yield x
        elif isinstance(x, GradOf):
            yield x.of
        elif isinstance(x, list):
            yield from read(x)


def lookup(name: str, step: int) -> Op:
    """The op of that name; op-not-found (404), or op-not-callable (422) if only the engine calls it."""
    found = REGISTRY.get(name)
    if found is None:
        raise ProtocolError.of("op-not-found", f"there is no op {name!r}", step=step)
    if not found.surface.outside:
        raise ProtocolError.of(
            "op-not-callable", f"{name}() is no step: the engine alone calls it", step=step
        )
    return found


def static(p: Param, v: Any) -> Any:
    """A static attribute for the engine: dtypes from names, non-finite floats, tuples for lists."""
    if isinstance(v, (Special, Complex)):
        return v.number()
    if p.kind == "dtype" and v is not None:
        try:
            return dtypes.by_name(v)
        except KeyError as e:
            raise TypeError(f"argument '{p.name}': there is no dtype {v!r}") from e
    if isinstance(v, list):
        return tuple(static(p, e) if isinstance(e, (list, Special, Complex)) else e for e in v)
    return v


def bind_program(program: Program, program_id: str, sites: Sites | None = None) -> Bound:
    """Bind every step to the catalogue. op-not-found (404), op-not-callable or invalid-op (422), with the
    step; malformed-frame if `sites` are not those of its steps.
    """
    bound: list[BoundStep] = []
    slot = program.inputs
    for i, step in enumerate(program.steps):
        bound.append(_bind(step, i, slot))
        slot += step.outputs
    return Bound(
        program_id,
        program.inputs,
        tuple(bound),
        slot,
        program.uploads(),
        tuple(v.kind for v in program.values()),
        program,
        dtypes.float32 if program.dtype is UNSET else dtypes.by_name(program.dtype),
        program.tf32 is True,
        sites,
        () if sites is None else sites.places(len(program.steps)),
    )


def _bind(step: Step, i: int, first: int) -> BoundStep:
    if step.op == UPLOAD:
        return _bind_upload(step, i, first)
    op = lookup(step.op, i)
    slots = op.schema.tensors
    # An optional one at the end may be newer than the program, which a session's record has kept.
    given = (*step.inputs, *(None for p in slots[len(step.inputs) :] if p.default is None))
    if len(given) != len(slots):
        raise invalid(i, f"{op.name}() takes {len(slots)} inputs, {len(step.inputs)} were given")
    for p, x, listed in zip(slots, given, op.listed, strict=True):
        if x.__class__ is not int or listed:
            _check_input(op, p, x, i)
    if step.attrs:
        known = {p.name: p for p in op.schema.attrs}
        unknown = sorted(set(step.attrs) - set(known))
        if unknown:
            raise invalid(
                i, f"{op.name}() got an unexpected attribute {unknown[0]!r}; it has {sorted(known)}"
            )
    attrs: dict[str, Any] = {}
    late: list[tuple[str, str]] = []
    for p in op.schema.attrs:
        if p.name not in step.attrs:
            if p.default is REQUIRED:
                raise invalid(i, f"{op.name}() is missing attribute {p.name!r}")
            attrs[p.name] = tuple(p.default) if isinstance(p.default, list) else p.default
            continue
        v = step.attrs[p.name]
        if isinstance(v, Value):
            if not p.value:
                raise invalid(i, f"{op.name}(): {p.name!r} is static, not a run-time value")
            late.append((p.name, v.kind))
            attrs[p.name] = None
            continue
        try:
            converted = static(p, v)
            check_attr(p, converted)
        except TypeError as e:
            raise invalid(i, f"{op.name}(): {e}", exception="TypeError") from None
        attrs[p.name] = converted
    return BoundStep(
        op,
        given,
        attrs,
        tuple(sorted(late)),
        step.outputs,
        step.grad,
        step.raises,
        first,
    )


def _check_input(op: Op, p: Param, x: Any, i: int) -> None:
    kind = p.kind
    if isinstance(x, list) != ("[" in kind) and x is not None:
        raise invalid(
            i, f"{op.name}(): {p.name!r} takes {'a list of tensors' if '[' in kind else 'one tensor'}"
        )
    if x is None and not (kind.endswith("?") or p.default is None):
        raise invalid(i, f"{op.name}(): {p.name!r} must be given")
    if isinstance(x, Value) and "Number" not in kind:
        raise invalid(i, f"{op.name}(): {p.name!r} takes a tensor, not a number", exception="TypeError")
    if isinstance(x, list):
        for e in x:
            if isinstance(e, Value) or (e is None and kind != "Tensor?[]"):
                raise invalid(i, f"{op.name}(): {p.name!r} takes tensors only", exception="TypeError")


def _bind_upload(step: Step, i: int, first: int) -> BoundStep:
    attrs = dict(step.attrs)
    dtype, shape, flag = attrs.pop("dtype", None), attrs.pop("shape", None), attrs.pop("requires_grad", False)
    if (
        attrs
        or step.inputs
        or step.outputs != 1
        or not isinstance(flag, bool)
        or not isinstance(shape, list)
        or not all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in shape)
        or not isinstance(dtype, str)
    ):
        raise invalid(
            i, "upload takes no inputs, the attributes dtype, shape and requires_grad, and has one output"
        )
    try:
        found = dtypes.by_name(dtype)
    except KeyError:
        raise invalid(i, f"there is no dtype {dtype!r}") from None
    if flag and not found.differentiable:
        raise invalid(
            i,
            "Only Tensors of floating point and complex dtype can require gradients",
            exception="RuntimeError",
        )
    return BoundStep(
        None,
        (),
        {"dtype": found, "shape": tuple(shape), "requires_grad": flag},
        (),
        1,
        step.grad,
        False,
        first,
    )


def check_uploads(bound: Bound, arrays: Sequence[Any]) -> None:
    """invalid-data (422) if an array is not what its step says."""
    given = iter(arrays)
    for i, step in enumerate(bound.steps):
        if step.op is not None:
            continue
        a = next(given)
        dtype, shape = step.attrs["dtype"], step.attrs["shape"]
        if a.shape != shape or a.dtype != dtype.np:
            raise ProtocolError.of(
                "invalid-data",
                f"the step says {dtype.name} of shape {list(shape)}, "
                f"the upload is {a.dtype} of shape {list(a.shape)}",
                step=i,
            )
