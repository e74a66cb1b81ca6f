"""Compiles the JSON form of a batch: names become slots, parameters get their kinds (rest-by-hand.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from gradd_protocol import jsonform, names
from gradd_protocol.jsonform import BatchForm, NumberForm, StepForm
from gradd_protocol.jsonindex import InputRef, decode_index
from gradd_protocol.names import Ref
from gradd_protocol.problems import Problem, ProtocolError
from gradd_protocol.program import GradOf, Program, Step, Value, static_number, validate
from gradd_protocol.values import kind_of

from ..program import bind_program, invalid, lookup
from .work import Outcome, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.schema import Param

    from ..tensors import TensorTable

_encoder = msgspec.json.Encoder()


def json_tensor(text: bytes) -> tuple[Any, bool]:
    """The array in a JSON body, and whether it requires gradients."""
    form = jsonform.decode_tensor(text)
    return jsonform.decode_data(form), form.requires_grad


class Compiler:
    """The names in scope while steps are compiled: session tensors become inputs, outputs become slots.

    `given`: names (or None) of inputs from elsewhere, which precede the session's.
    """

    def __init__(
        self, table: TensorTable, steps: Sequence[StepForm], given: Sequence[str | None] = ()
    ) -> None:
        self.tensors: list[Any] = []
        self.inputs: dict[str, int] = {}
        self.scope: dict[str, int] = {n: i for i, n in enumerate(given) if n is not None}
        self.values: list[Any] = []
        self.binds: dict[int, list[str]] = {}
        made = set(self.scope)
        for i, step in enumerate(steps):
            for ref in _refs(step):
                if ref.name not in made and ref.name not in self.inputs:
                    try:
                        self.tensors.append(table.find(ref.name))
                    except ProtocolError as e:
                        raise ProtocolError(msgspec.structs.replace(e.problem, step=i)) from None
                    self.inputs[ref.name] = len(given) + len(self.inputs)
            made |= {n for n in step.outputs or () if n is not None}
        self.next = len(given) + len(self.inputs)
        self.steps = [self.step(s, i) for i, s in enumerate(steps)]
        self.program = Program(len(given) + len(self.inputs), self.steps)
        validate(self.program)

    def slot(self, name: str) -> int:
        """The slot of a name's tensor."""
        found = self.scope.get(name)
        return self.inputs[name] if found is None else found

    def arg(self, x: Any) -> Any:
        """An input as in a program; numbers are added to the values."""
        if isinstance(x, Ref):
            return GradOf(self.slot(x.name)) if x.grad else self.slot(x.name)
        if isinstance(x, NumberForm):
            self.values.append(_typed(x))
            return Value(kind_of(self.values[-1]))
        if isinstance(x, list):
            return [self.arg(e) for e in x]
        return None

    def step(self, form: StepForm, i: int) -> Step:
        """Compile a step."""
        op = lookup(form.op, i)
        given = _by_parameter(form, op, i)
        inputs = [self.arg(given.get(p.name)) for p in op.schema.tensors]
        attrs: dict[str, Any] = {}
        kinds = {p.name: p for p in op.schema.attrs}
        for name in sorted(form.attrs):
            p = kinds.get(name)
            if p is None:
                raise invalid(i, f"{op.name}() got an unexpected attribute {name!r}; it has {sorted(kinds)}")
            try:
                attrs[name] = self.attr(p, form.attrs[name], len(form.inputs))
            except ValueError as e:
                raise invalid(i, f"{op.name}(): {name}: {e}") from None
        outputs = form.outputs or []
        for out in outputs:
            if out is not None:
                self.scope[out] = self.next
                if not names.is_temporary(out):
                    self.binds[self.next] = [out]
            self.next += 1
        return Step(op.name, inputs, attrs, len(outputs), form.grad)

    def attr(self, p: Param, v: Any, inputs: int) -> Any:
        """An attr as in a program. ValueError says what is wrong."""
        if p.kind == "index":
            return [_entry(e) for e in decode_index(v, inputs)]
        if p.kind == "Number" and isinstance(v, (str, dict)):
            v = jsonform.decode_number(v)
        elif p.kind == "float" and isinstance(v, str):
            v = jsonform.decode_float(v)
        if p.value and v is not None:
            if not isinstance(v, (bool, int, float, complex)):
                raise ValueError(f"{p.kind} expected")
            self.values.append(v)
            return Value(kind_of(v))
        if isinstance(v, dict):
            raise ValueError("an object does not stand here")
        return static_number(v) if isinstance(v, (float, complex)) else v


def _typed(x: NumberForm) -> Any:
    if x.dtype is None or isinstance(x.value, complex):
        return x.value
    if x.dtype.startswith("complex"):
        return complex(x.value)
    if "float" in x.dtype:
        return float(x.value)
    return bool(x.value) if x.dtype == "bool" else int(x.value)


def _entry(e: Any) -> Any:
    if isinstance(e, slice):
        return ["slice", e.start, e.stop, e.step]
    if isinstance(e, InputRef):
        return ["input", e.k]
    return "..." if e is ... else e


def _refs(step: StepForm) -> list[Ref]:
    given = step.inputs.values() if isinstance(step.inputs, dict) else step.inputs
    out: list[Ref] = []
    for x in given:
        out.extend(e for e in (x if isinstance(x, list) else [x]) if isinstance(e, Ref))
    return out


def _by_parameter(form: StepForm, op: Any, i: int) -> dict[str, Any]:
    """Inputs by parameter, positional ones in order; a single tensor is accepted for a list."""
    slots = op.schema.tensors
    if isinstance(form.inputs, dict):
        unknown = sorted(set(form.inputs) - {p.name for p in slots})
        if unknown:
            raise invalid(i, f"{op.name}() has no input {unknown[0]!r}; it has {[p.name for p in slots]}")
        given: dict[str, Any] = dict(form.inputs)
    else:
        listed: list[Any] = list(form.inputs)
        if any(p.kind == "index" for p in op.schema.attrs):
            rest = len(slots) - 1
            listed = [*listed[:rest], list(listed[rest:])]
        if len(listed) > len(slots):
            raise invalid(i, f"{op.name}() takes {len(slots)} inputs, {len(listed)} were given")
        given = {p.name: x for p, x in zip(slots, listed, strict=False)}
    for p in slots:
        x = given.get(p.name)
        if "[" in p.kind and isinstance(x, Ref):
            given[p.name] = [x]
    return given


def compile_batch(text: bytes, table: TensorTable) -> Work:
    """The work in a JSON body; errors name the step."""
    return _compile(jsonform.decode_batch(text), table)


def compile_backward(name: str, text: bytes, table: TensorTable) -> Work:
    """The work of `POST .../tensors/{name}:backward`."""
    form = jsonform.decode_backward(text)
    inputs: dict[str, Any] = {"tensors": [names.reference(name)]}
    if form.gradient is not None:
        inputs["gradient"] = [form.gradient]
    if form.inputs is not None:
        inputs["inputs"] = list(form.inputs)
    attrs: dict[str, Any] = {"create_graph": form.create_graph}
    if form.retain_graph is not None:
        attrs["retain_graph"] = form.retain_graph
    return _compile(BatchForm([StepForm("backward", inputs, attrs, None)], [], []), table)


def _compile(form: BatchForm, table: TensorTable) -> Work:
    c = Compiler(table, form.steps)
    fetch: list[int | GradOf | str] = []
    logged = [point.value for point in form.log if isinstance(point.value, Ref)]
    for ref in (*form.fetch, *logged):
        slot = c.scope.get(ref.name)
        if slot is None:
            table.find(ref.name)
            fetch.append(str(ref))
        else:
            fetch.append(GradOf(slot) if ref.grad else slot)
    return Work(
        bind_program(c.program, c.program.id()),
        c.tensors,
        c.values,
        [],
        {},
        c.binds,
        [],
        fetch,
        list(form.free),
        [],
        [str(ref) for ref in form.fetch],
        [(p.name, None if isinstance(p.value, Ref) else p.value, p.step) for p in form.log],
    )


def json_answer(seq: int, position: int, work: Work, outcome: Outcome) -> tuple[bytes, int]:
    """The JSON answer to a batch, and its HTTP status."""
    if outcome.problem is not None:
        return _encoder.encode(outcome.problem), outcome.problem.status
    try:
        found = {label: array for label, (array, *_) in zip(work.labels, outcome.results, strict=False)}
        return jsonform.encode_results(seq, position, found), 200
    except ProtocolError as error:
        refused: Problem = error.problem
        return _encoder.encode(refused), refused.status
