"""Programs: the recorded steps, in local slot numbers.

A program's identity is its steps: ops, slots, static parameters, kinds of run-time values, grad flags. What
may change from one iteration of a training loop to the next is in the batch, beside the program.

Slots 0..inputs-1 are the program's inputs; each step's outputs take the next numbers. A batch lists run-time
values step by step: a step's inputs first, left to right, then its attrs in order of their names.
"""

import hashlib
import math
import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from .fields import Count, Name
from .limits import DEFAULT
from .problems import Malformed

ValueKind: TypeAlias = Literal["bool", "int", "float", "complex"]


class Value(msgspec.Struct, frozen=True, tag="v", tag_field="t", forbid_unknown_fields=True):
    """The next run-time value of the batch. Its kind is part of the program's identity, its value is not."""

    kind: ValueKind


class GradOf(msgspec.Struct, frozen=True, tag="g", tag_field="t", forbid_unknown_fields=True):
    """The `.grad` of the tensor in slot `of` when the step runs."""

    of: int


class Special(msgspec.Struct, frozen=True, tag="f", tag_field="t", forbid_unknown_fields=True):
    """A static float that JSON cannot express."""

    text: Literal["inf", "-inf", "nan"]

    def number(self) -> float:
        """The float it stands for."""
        return float(self.text)


class Complex(msgspec.Struct, frozen=True, tag="c", tag_field="t", forbid_unknown_fields=True):
    """A static complex number."""

    re: float | Special
    im: float | Special

    def number(self) -> complex:
        """The number it stands for."""
        re, im = (p.number() if isinstance(p, Special) else p for p in (self.re, self.im))
        return complex(re, im)


SimpleArg: TypeAlias = int | Value | GradOf | None
Arg: TypeAlias = int | Value | GradOf | list[SimpleArg] | None
"""One input of a step: a slot, an absent optional, a run-time value, a gradient, or a list of these."""

_Leaf: TypeAlias = bool | int | float | str | Special | Complex | None
_Static1: TypeAlias = bool | int | float | str | Special | Complex | list[_Leaf] | None
_Static2: TypeAlias = bool | int | float | str | Special | Complex | list[_Static1] | None
_Static3: TypeAlias = bool | int | float | str | Special | Complex | list[_Static2] | None
Static: TypeAlias = bool | int | float | str | Special | Complex | list[_Static3] | None
"""A static parameter: a JSON scalar or lists of them, up to `limits.static_depth` levels deep."""
Attr: TypeAlias = bool | int | float | str | Special | Complex | Value | list[_Static3] | None
"""A parameter of a step: static, or one run-time value."""

UPLOAD: Final = "upload"
"""The op of a step whose data are in the batch (`Batch.uploads`, one entry per step)."""

_NAME: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_.]{{0,{DEFAULT.op_name_chars - 1}}}")
_INT_MIN, _INT_MAX = -(1 << 63), (1 << 64) - 1


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One op call with `outputs` results. `grad`: recorded for backward or not, or run in inference mode.

    `raises`: this backward raised midway in the client's mirror; the server runs it for its partial effect.
    """

    op: str
    inputs: list[Arg]
    attrs: dict[str, Attr] = {}
    outputs: int = 1
    grad: bool | Literal["inference"] = True
    raises: bool = False

    def values(self) -> Iterator[Value]:
        """Its run-time values in the order in which the batch gives them."""
        for arg in self.inputs:
            if isinstance(arg, Value):
                yield arg
            elif isinstance(arg, list):
                yield from (item for item in arg if isinstance(item, Value))
        for name in sorted(self.attrs):
            attr = self.attrs[name]
            if isinstance(attr, Value):
                yield attr


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Steps over `inputs` input slots. `dtype`: the default dtype, if not float32. `tf32`: a device may round
    the operands of its products of float32 to TF32.
    """

    inputs: int
    steps: list[Step]
    dtype: Literal["float64", "float16", "bfloat16"] | msgspec.UnsetType = msgspec.UNSET
    tf32: Literal[True] | msgspec.UnsetType = msgspec.UNSET

    def canonical(self) -> bytes:
        """The bytes of its identity: JSON with every field, sorted keys, no spaces."""
        text = _canonical.encode(self)
        # The encoder writes non-finite floats as null, so two programs could share an identity.
        if b"null" in text:
            for step in self.steps:
                for attr in step.attrs.values():
                    _check_finite(attr)
        return text

    def id(self) -> str:
        """32 hex digits: a 128-bit BLAKE2b digest of the canonical bytes."""
        return hashlib.blake2b(self.canonical(), digest_size=16).hexdigest()

    def values(self) -> Iterator[Value]:
        """Its run-time values in the order in which the batch gives them."""
        for step in self.steps:
            yield from step.values()

    def slots(self) -> int:
        """Number of slots, inputs and outputs."""
        return self.inputs + sum(step.outputs for step in self.steps)

    def uploads(self) -> int:
        """Number of its `upload` steps."""
        return sum(step.op == UPLOAD for step in self.steps)


class Sites(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the steps of a program stand in the code that first recorded it: of each the number of its file
    in `files`, and its line. No part of the program's identity: recorded elsewhere it is the same program.
    """

    files: list[Name]
    steps: list[tuple[Count, Count]]

    def places(self, steps: int) -> list[tuple[str, int]]:
        """File and line of each of so many steps. Raises Malformed where they are not told of each."""
        if len(self.steps) != steps:
            raise Malformed(f"the program has {steps} steps, the lines of {len(self.steps)} are told")
        if any(file >= len(self.files) for file, _ in self.steps):
            raise Malformed("a line is in a file that has no name")
        places = {at: (self.files[at[0]], at[1]) for at in self.steps}
        return [places[at] for at in self.steps]


_canonical: Final = msgspec.json.Encoder(order="sorted")


def static_float(value: float) -> float | Special:
    """A float as a static parameter: itself, or `Special` if JSON cannot express it."""
    if math.isfinite(value):
        return value
    return Special("nan" if math.isnan(value) else "inf" if value > 0 else "-inf")


def static_number(value: complex) -> float | Special | Complex:
    """A float or a complex number as a static parameter."""
    if isinstance(value, complex):
        return Complex(static_float(value.real), static_float(value.imag))
    return static_float(value)


def _check_finite(attr: object) -> None:
    if isinstance(attr, Complex):
        _check_finite([attr.re, attr.im])
    elif isinstance(attr, float):
        if not math.isfinite(attr):
            raise Malformed(f"a static float cannot be {attr}: use Special")
    elif isinstance(attr, list):
        for item in attr:
            _check_finite(item)


def validate(program: Program) -> None:
    """Raise Malformed unless the program follows the wire's rules.

    Slots refer backwards only; names are valid; at most `limits.batch_steps` steps and `limits.batch_ids`
    slots, inputs per step and items per list; static integers fit 64 bits. The runtime checks ops and their
    parameters.
    """
    cap = DEFAULT.batch_ids
    if not 0 <= program.inputs <= cap:
        raise Malformed(f"a program has 0 to {cap} inputs, not {program.inputs}")
    if len(program.steps) > DEFAULT.batch_steps:
        raise Malformed(f"a program has at most {DEFAULT.batch_steps} steps, not {len(program.steps)}")
    known = program.inputs
    for index, step in enumerate(program.steps):
        where = f"step {index}"
        if not _NAME.fullmatch(step.op):
            raise Malformed(f"{where}: {step.op[:80]!r} is not the name of an op")
        _check_inputs(step.inputs, known, where)
        for name, attr in step.attrs.items():
            if not _NAME.fullmatch(name):
                raise Malformed(f"{where}: {name[:80]!r} is not the name of an attribute")
            _check_static(attr, 0, f"{where}, {name}")
        if step.outputs < 0:
            raise Malformed(f"{where}: {step.outputs} outputs")
        known += step.outputs
        if known > cap:
            raise Malformed(f"{where}: a program has at most {cap} slots")


def _check_inputs(args: list[Arg], known: int, where: str) -> None:
    if len(args) > DEFAULT.batch_ids:
        raise Malformed(f"{where}: too many inputs")
    for arg in args:
        if isinstance(arg, list):
            if len(arg) > DEFAULT.batch_ids:
                raise Malformed(f"{where}: too many inputs in a list")
            for item in arg:
                _check_arg(item, known, where)
        else:
            _check_arg(arg, known, where)


def _check_arg(arg: SimpleArg, known: int, where: str) -> None:
    slot = arg.of if isinstance(arg, GradOf) else arg
    if isinstance(slot, int) and not 0 <= slot < known:
        raise Malformed(f"{where}: slot {slot} has no value yet ({known} slots have)")


def _check_static(attr: object, depth: int, where: str) -> None:
    if isinstance(attr, list):
        if depth >= DEFAULT.static_depth:
            raise Malformed(f"{where}: lists nest at most {DEFAULT.static_depth} deep")
        if len(attr) > DEFAULT.batch_ids:
            raise Malformed(f"{where}: too many items in a list")
        for item in attr:
            _check_static(item, depth + 1, where)
    elif isinstance(attr, int):
        if not _INT_MIN <= attr <= _INT_MAX:
            raise Malformed(f"{where}: an integer does not fit 64 bits")
    else:
        _check_finite(attr)
